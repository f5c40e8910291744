# docker build --tag pushout . && docker run --rm pushout
#
# The first image builds the wheel; the second has Python, the wheel and what it depends on, and no compiler.

FROM rust:1-slim-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends make python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /pushout
COPY . .
RUN make wheel PGO=no

FROM python:3.13-slim-bookworm
COPY --from=build /pushout/dist/*.whl /tmp/
RUN pip install --no-cache-dir /tmp/*.whl && rm /tmp/*.whl \
    && useradd --create-home pushout
USER pushout
WORKDIR /home/pushout
CMD ["pushout", "run", "lan"]
