# docker build --tag pushout . && docker run --rm pushout
#
# The first image has Node.js; the second builds the page of the lab and the wheel, which contains it; the third has Python, the
# wheel and what it depends on, and no compiler.

FROM node:22-bookworm-slim AS node

FROM rust:1-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends make python3-venv \
    && rm -rf /var/lib/apt/lists/*
COPY --from=node /usr/local/bin/node /usr/local/bin/
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
WORKDIR /pushout
COPY . .
RUN make lab && make wheel PGO=no

FROM python:3.13-slim-bookworm
COPY --from=build /pushout/dist/*.whl /tmp/
RUN pip install --no-cache-dir /tmp/*.whl && rm /tmp/*.whl \
    && useradd --create-home pushout
USER pushout
WORKDIR /home/pushout
CMD ["pushout", "run", "lan"]
