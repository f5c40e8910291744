# `make reproduce` and `make test` do all set-up themselves on a machine with cargo, Python >= 3.11 and a C compiler.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$each -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$each && break; done)
SOURCES := $(shell find crates/core/src crates/net/src crates/python crates/worst -type f) crates/core/Cargo.toml Cargo.toml Cargo.lock pyproject.toml
RUST_FILES = $(shell git ls-files --cached --others --exclude-standard '*.rs')
ARGS ?=
CORES := $(shell getconf _NPROCESSORS_ONLN)
MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
# The toolchain by which instructions are counted: `stable` where that is the pinned release, so that nothing is compiled twice.
PINNED := 1.95.0
COUNTED_BY = $(if $(findstring rustc $(PINNED) ,$(shell rustc --version)),$(firstword $(shell rustup show active-toolchain)),$(PINNED))
# Where the repository is. Nothing in it names an address until `make urls REPOSITORY=https://…` has written one.
REPOSITORY ?=
# With the word yes the simulator is compiled twice, the second time with a profile of its runs, which then take up to a sixth
# less time; else once, in a fifth of the processor time. The goals named here take the
# profile, the others keep what has been built. What has been built with the other word is built again.
ifndef PGO
PGO := $(if $(filter fast bench wheel tour,$(MAKECMDGOALS)),yes,$(or $(shell cat $(VENV)/.built 2>/dev/null),no))
endif
# The simulator for browsers, and the page of the lab that contains it.
WASM := target/wasm32-unknown-unknown/web/pushout_web.wasm
LAB := target/lab/lab.html
# With the word no a wheel has no page of the lab, and needs no Node.js.
LAB_PAGE := yes
# How long each target of `make fuzz` runs.
FUZZ_SECONDS ?= 60

# One interpreter for every build, so that nothing is built twice.
export PYO3_PYTHON := $(abspath $(BIN)/python)
export CARGO_TERM_PROGRESS_WHEN := never

.DELETE_ON_ERROR:
.PHONY: help setup fast reproduce test lint lint-rust lint-python rust-tests test-rust test-python test-nightly fresh fmt generate answers notebooks notebooks-again lock equivalence laws hostile wasm lab lab-again test-web fuzz bench instructions performance findings full picture docs site wheel tour msrv msrv-version net-alone deny crates urls simulator plain trained no-lab need need-lint need-web clean

help: ## What can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.built ## Set up .venv with the tool in it, .venv/bin/pushout, and the page of the lab where Node.js is
	@$(NODE) || { echo "no Node.js >= 20: without the page of the lab (make lab)"; exit 0; }; \
	$(MAKE) --no-print-directory lab || echo "the page of the lab is not built (make lab says why)" >&2

fast: $(VENV)/.built ## Set up .venv with the tool compiled with a profile of its runs: they take up to a sixth less time

reproduce: $(VENV)/.built ## Run the published studies; the report is reports/index.html (ARGS="--reps 30 …")
	$(BIN)/pushout reproduce $(ARGS)

# One core installs packages and optimises the simulator for Python while others compile the tests. Tests have the machine for
# themselves, because some of them measure time.
test: need-lint $(VENV)/pyvenv.cfg ## Everything that is checked
	@$(MAKE) --no-print-directory --jobs $(CORES) $(VENV)/.built rust-tests lint-python fresh
	@$(MAKE) --no-print-directory test-rust
	@$(MAKE) --no-print-directory test-python

lint: lint-rust lint-python ## Formats, lints and types

lint-rust: need-lint $(VENV)/pyvenv.cfg
	rustfmt --check --edition 2024 $(RUST_FILES)
	cargo clippy --locked --workspace --all-targets --features pushout-core/bench -- --deny warnings
	cargo clippy --locked --package pushout-net --no-default-features -- --deny warnings

lint-python: $(VENV)/.built
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	MYPYPATH=python $(BIN)/stubtest pushout._core

# The core is compiled with its tests, where every check is on, and for Python; all else is tested with the latter.
TEST_CORE = cargo test --locked --package pushout-core --lib
TEST_OTHERS = cargo test --locked --release --package pushout-worst --package pushout-web --package pushout-net --package pushout-net-examples
TEST_PAGES = cargo test --locked --release --package pushout-core --doc

# After clippy, for both write to one folder.
rust-tests: lint-rust
	$(TEST_CORE) --no-run
	$(TEST_OTHERS) --no-run

test-rust: $(VENV)/pyvenv.cfg ## Tests of the simulator
	$(TEST_CORE)
	$(TEST_OTHERS)
	$(TEST_PAGES)

test-python: $(VENV)/.built ## Tests of the package and the command line, on up to four cores
	$(BIN)/pytest --numprocesses auto --maxprocesses 4 --dist worksteal

test-nightly: $(VENV)/.built ## Tests that take too long for every push
	$(BIN)/pytest -m nightly

fresh: $(VENV)/.built ## Generated files are those that the program writes
	@$(BIN)/python -m pushout.generate --check

fmt: need-lint $(VENV)/.installed ## Format all code
	rustfmt --edition 2024 $(RUST_FILES)
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

generate: $(VENV)/.built ## Write the generated files anew
	$(BIN)/python -m pushout.generate

answers: $(VENV)/.built ## Measure the numbers of README and docs again and write them into the pages (ARGS="ID …": only these of docs/answers.toml)
	$(BIN)/python -m pushout.generate --answers $(ARGS)

notebooks: $(VENV)/.docs $(VENV)/.built ## Run the notebooks of the course and store their outputs (ARGS="7-home …": only these)
	$(BIN)/python -m pushout.generate.notebooks $(ARGS)

notebooks-again: $(VENV)/.docs $(VENV)/.built ## Run the notebooks of the course and compare with their outputs
	PUSHOUT_NOTEBOOKS=all $(BIN)/pytest tests/test_notebooks.py

equivalence: need ## Both engines on ten thousand random scenarios (PUSHOUT_EQUIVALENCE=…)
	export PUSHOUT_EQUIVALENCE=$${PUSHOUT_EQUIVALENCE:-10000} && \
		cargo test --locked --release --package pushout-core --lib -- \
			equivalence:: textbook:: behaviour::deliveries:: behaviour::memories:: behaviour::pauses:: && \
		cargo test --locked --release --package pushout-net --test path

laws: need ## The profile `linux` beside this kernel with every loss of ten segments (root, cc and ip; ARGS=--record: into vectors/recovery.json)
	$$(test $$(id -u) = 0 || echo sudo) python3 benchmarks/kernel/laws.py $(ARGS)
	PUSHOUT_KERNEL=$(CURDIR)/target/kernel.json cargo test --locked --package pushout-core --lib behaviour::tcp::kernel::

msrv: need ## The simulator and its bindings compile with the oldest Rust that is promised (rustup toolchain install $(MSRV))
	env -u PYO3_PYTHON PYO3_NO_PYTHON=1 PYO3_BUILD_EXTENSION_MODULE=1 cargo +$(MSRV) check --locked --workspace --target-dir target/msrv

msrv-version: ## Print the oldest Rust that is promised
	@echo $(MSRV)

deny: need ## Licences, sources and known faults of the crates (needs cargo-deny)
	cargo deny --locked --workspace check

net-alone: need ## The network for tests without the scenario language: its crates, and how long a debug build takes from nothing
	cargo tree --locked --package pushout-net --no-default-features --edges normal --prefix none
	cargo fetch --locked
	rm -rf target/net-alone
	cargo build --locked --package pushout-net --no-default-features --target-dir target/net-alone

crates: need ## Pack the crates for the registry without sending them; what the packages need must be in them
	cargo publish --locked --workspace --dry-run --no-verify --allow-dirty

urls: ## Write the address of the repository into all metadata (REPOSITORY=https://…)
	$(PYTHON) packaging/urls.py $(REPOSITORY)

hostile: $(VENV)/.built ## 1500 hostile inputs and 500 policies (PUSHOUT_HOSTILE=…, PUSHOUT_HOSTILE_SEED=…), 200 flipped bits in each store, 100 kills, 100 lines with headroom
	PUSHOUT_HOSTILE=$${PUSHOUT_HOSTILE:-1500} PUSHOUT_FLIPS=200 PUSHOUT_KILLS=100 PUSHOUT_LINES=100 PUSHOUT_CHIPS=200 \
		$(BIN)/pytest tests/test_hostile.py tests/test_damage.py tests/test_interrupt.py tests/test_streams.py tests/test_headroom.py tests/test_shards.py tests/test_chip_explain.py

wasm: $(WASM) ## The simulator gives the same bytes in WebAssembly (needs Node.js and the Rust target wasm32-unknown-unknown)
	cargo build --locked --release --package pushout-web --example answer
	ENGINE=$(abspath $(WASM)) ANSWER=$(abspath target/release/examples/answer) node --test web/test/equality.test.mjs

lab: $(LAB) ## Build the page of the lab, target/lab/lab.html (needs Node.js, npm and the Rust target wasm32-unknown-unknown)

lab-again: $(LAB) ## Build the page of the lab once more, in another folder, and compare the bytes
	@copy=$$(mktemp -d); trap 'rm -rf "$$copy"' EXIT; \
	git ls-files -z | xargs -0 cp --parents --target-directory="$$copy" && $(MAKE) -C "$$copy" lab && cmp $(LAB) "$$copy/$(LAB)" && \
	echo "the page is the same, byte by byte"

test-web: wasm lab ## The page of the lab: types, the same bytes as the simulator, a tour in Chromium if there is one (BROWSER=needed: it must be there)
	cd web && npm run --silent check
	PUSHOUT=$(wildcard $(abspath $(BIN)/pushout)) ENGINE=$(abspath $(WASM)) node --test web/test/units.test.mjs web/test/presets.test.mjs
	LAB=$(abspath $(LAB)) ENGINE=$(abspath $(WASM)) node --test web/test/page/*.test.mjs

fuzz: need ## Fuzz the reader and both engines with random input, a minute each (FUZZ_SECONDS=…; needs cargo-fuzz and a nightly Rust)
	mkdir -p fuzz/corpus/scenario fuzz/corpus/engines
	cargo +nightly fuzz run scenario fuzz/corpus/scenario scenarios -- -max_total_time=$(FUZZ_SECONDS) -timeout=20
	cargo +nightly fuzz run engines fuzz/corpus/engines fuzz/seeds/engines -- -max_total_time=$(FUZZ_SECONDS) -timeout=20

bench: $(VENV)/.built ## How fast: each part, the workloads beside the peers (ARGS="--reps 9 …"), each feature, instructions; keep the machine idle
	cargo bench --locked --package pushout-core --features bench
	$(BIN)/pushout bench $(ARGS)
	$(BIN)/python benchmarks/features.py --json reports/bench/features.json
	$(MAKE) instructions ARGS=--check

# The counts belong to one compiler; the core has been compiled for Python already where that is the present one.
instructions: $(VENV)/.built ## Count the simulator's instructions and append them to benchmarks/history.jsonl (ARGS=--check: compare; needs valgrind)
	cargo +$(COUNTED_BY) build --locked --release --package pushout-web --example answer
	RUSTUP_TOOLCHAIN=$(COUNTED_BY) $(BIN)/python benchmarks/instructions.py target/release/examples/answer $(ARGS)

performance: ## Copy the latest benchmark results into docs/performance.md
	cp reports/bench/bench.json docs/performance.json
	cp reports/bench/bench.svg docs/performance.svg
	cp reports/bench/features.json docs/features.json
	$(MAKE) generate

full: $(VENV)/.built ## Run the studies of a fabric with many replications (an hour); their pages print the verdicts
	$(BIN)/pushout reproduce 106 110 --full
	$(BIN)/python -m pushout.generate --pictures reports

findings: $(VENV)/.built ## Run the findings, their controls and ranges; draw their figures and those of the studies' pages; take docs/score.md
	$(BIN)/pushout reproduce
	$(BIN)/pushout reproduce --findings
	$(BIN)/python -m pushout.generate --pictures reports
	$(BIN)/python -m pushout.generate --check

picture: $(VENV)/.built ## Draw the figures of the README
	$(BIN)/pushout plot tomahawk --what memory --out docs/static/tomahawk.svg
	$(BIN)/pushout compare home-uplink --policies tail-drop,codel,fq-codel --figures flows.call.delivery_time_p99_s --out target/home-uplink
	cp target/home-uplink/compare.svg docs/static/home-uplink.svg

docs: $(VENV)/.docs $(VENV)/.built ## The site in target/site and the simulator's documentation in target/doc, warnings denied
	$(BIN)/sphinx-build --quiet --jobs auto --fail-on-warning --keep-going --builder html docs target/site
	RUSTDOCFLAGS='--deny warnings' cargo doc --locked --no-deps --package pushout-core --package pushout-net
	@echo "the site: target/site/index.html"

site: lab ## The site with gallery and lab as one folder, target/site, and a walk along all its links
	@$(MAKE) --no-print-directory docs
	touch target/site/.nojekyll
	$(BIN)/python packaging/walk.py target/site

wheel: $(VENV)/.built $(VENV)/.wheel $(if $(filter no,$(LAB_PAGE)),no-lab,lab) ## Build the wheel for this system from a source archive and check both: dist/ (PGO=no: without a profile, LIBC=musl: for Alpine, LAB_PAGE=no: without the lab)
	rm -rf dist $(WHEEL)/pushout
	mkdir -p dist $(WHEEL)/pushout
	$(PROGRESS) "packing the source" - 0 $(BIN)/maturin sdist --out dist
	tar -xzmf dist/pushout-*.tar.gz -C $(WHEEL)/pushout --strip-components 1
	$(if $(filter no,$(LAB_PAGE)),rm -f $(WHEEL)/pushout/$(LAB))
	$(if $(filter yes,$(PGO)),$(WHOLE)) RUSTFLAGS="$$RUSTFLAGS $(REMAP) $(if $(filter yes,$(PGO)),$(USE_PROFILE))" CARGO_TARGET_DIR=$(WHEEL)/target \
		MATURIN_PEP517_ARGS="--strip --target $(HOST:%-linux-gnu=%-linux-$(LIBC)) $(PORTABLE)" PATH="$(abspath $(BIN)):$$PATH" \
		$(PROGRESS) "building the wheel" Compiling $(CRATES) $(BIN)/pip wheel --verbose --disable-pip-version-check \
		--no-cache-dir --no-deps --no-build-isolation --wheel-dir dist $(WHEEL)/pushout
	$(BIN)/python packaging/check.py dist/pushout-*.whl $(if $(filter no,$(LAB_PAGE)),--without-lab)

no-lab:
	@echo "LAB_PAGE=no: a wheel in which pushout lab says that it has no page"

tour: wheel ## Install the wheel in a clean environment away from the clone, and take the tour there
	$(PYTHON) packaging/tour.py dist/pushout-*.whl

lock: ## Choose the versions in requirements.lock anew (needs uv)
	uv pip compile --quiet pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --upgrade \
		--custom-compile-command 'make lock' --output-file requirements.lock
	uv pip compile --quiet --group docs --universal --python-version 3.11 --generate-hashes --upgrade \
		--constraints requirements.lock --custom-compile-command 'make lock' --output-file docs/requirements.lock
	uv pip compile --quiet --group wheel --universal --python-version 3.11 --generate-hashes --upgrade \
		--constraints requirements.lock --custom-compile-command 'make lock' --output-file packaging/requirements.lock

clean: ## Remove all that was made
	rm -rf web/node_modules $(VENV) target dist reports docs/schemes .pytest_cache .mypy_cache .ruff_cache python/pushout/_core*.so
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +

# The build script of PyO3 asks the interpreter of the environment, so Rust waits for this and not for the packages.
$(VENV)/pyvenv.cfg: | need
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.lock | $(VENV)/pyvenv.cfg
	$(PYTHON) packaging/progress.py "installing Python packages" "^(Collecting|Requirement already satisfied)" $$(grep -c == requirements.lock) \
		$(BIN)/pip install --disable-pip-version-check --require-hashes --requirement requirements.lock
	@touch $@

$(VENV)/.docs: docs/requirements.lock $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement docs/requirements.lock
	@touch $@

$(VENV)/.wheel: packaging/requirements.lock $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement packaging/requirements.lock
	@touch $@

# The folder in which the wheel is built, and how: for Linux since 2014 (glibc 2.17) by zig's linker, and without the names
# of this machine's folders.
WHEEL := $(abspath target/wheel)
# A wheel for Linux is for glibc, or with LIBC=musl for musl, as Alpine has it (rustup target add …-linux-musl).
LIBC := gnu
PORTABLE := $(if $(filter Linux,$(shell uname -s)),--zig --compatibility $(if $(filter musl,$(LIBC)),musllinux_1_2,manylinux_2_17))
REMAP = --remap-path-prefix=$(WHEEL)/pushout=pushout --remap-path-prefix=$(or $(CARGO_HOME),$(HOME)/.cargo)=cargo

# Python files are used where they are; only a change of the simulator or of the package's description builds again.
#
# The compiler uses a profile of the simulator: see benchmarks/train.py. What merges profiles, llvm-profdata, comes with
# Rust's component llvm-tools; without it the program is the same, only slower. The target is named because functions have
# other names with a named target than without one, and a profile knows functions by their names. With a profile, one unit and
# optimisation across crates pay.
WHOLE = CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1
# LLVM 22 (Rust 1.95) ends with SIGSEGV where it vectorises loops with counters in them; counts do not depend on it.
NO_CRASH = -C no-vectorize-loops
PROGRESS = $(BIN)/python packaging/progress.py
CRATES = $$(cargo tree --locked --package pushout-python --edges normal,build --prefix none | sed 's/ (.*//' | sort -u | wc -l)
INSTALL = PATH="$(abspath $(BIN)):$$PATH" $(PROGRESS) "building the simulator" Compiling $(CRATES) \
	$(BIN)/pip install --verbose --disable-pip-version-check --no-deps --no-build-isolation --editable .
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
PROFILE := $(abspath target/profile)
USE_PROFILE = $(if $(PROFDATA),-C profile-use=$(PROFILE)/merged.profdata)
PROFDATA = $(firstword $(wildcard $(shell rustc --print sysroot 2>/dev/null)/lib/rustlib/*/bin/llvm-profdata))

$(VENV)/.built: $(VENV)/.installed $(SOURCES) benchmarks/train.py
ifeq ($(PGO),yes)
	@test -n "$(PROFDATA)" || { echo "adding llvm-tools to the Rust toolchain"; rustup component add llvm-tools; } || \
		echo "no llvm-profdata (rustup component add llvm-tools): building without a profile, up to a sixth slower" >&2
endif
	@$(MAKE) --no-print-directory simulator PGO=$(PGO)
	@echo $(PGO) > $@
ifneq ($(shell cat $(VENV)/.built 2>/dev/null),$(PGO))
.PHONY: $(VENV)/.built
endif

simulator: $(if $(and $(filter yes,$(PGO)),$(PROFDATA)),trained,plain)

plain:
	@$(INSTALL)

trained:
	@echo "step 1 of 3: building an instrumented simulator to collect a profile" >&2
	@$(WHOLE) RUSTFLAGS="$$RUSTFLAGS -C profile-generate=$(PROFILE)/raw $(NO_CRASH)" CARGO_BUILD_TARGET=$(HOST) \
		CARGO_TARGET_DIR=$(PROFILE)/target $(INSTALL)
	@rm -rf $(PROFILE)/raw
	@echo "step 2 of 3: collecting the profile" >&2
	@$(PROGRESS) "running benchmarks and studies" - 0 $(BIN)/python benchmarks/train.py
	@$(PROFDATA) merge --output $(PROFILE)/merged.profdata $(PROFILE)/raw
	@echo "step 3 of 3: building the simulator with the profile" >&2
	@$(WHOLE) RUSTFLAGS="$$RUSTFLAGS $(USE_PROFILE)" CARGO_BUILD_TARGET=$(HOST) CARGO_TARGET_DIR=target/trained $(INSTALL)

# The page of the lab: the simulator for browsers, and a script for it, in one file. The same tree gives the same bytes in any
# folder, for any user: nothing is incremental, and no path of the machine is in it.

$(WASM): $(SOURCES) $(shell find crates/web -name '*.rs' -o -name Cargo.toml) | need-web
	CARGO_INCREMENTAL=0 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=cargo" \
		cargo build --locked --package pushout-web --target wasm32-unknown-unknown --profile web
	@touch $@

web/node_modules/.installed: web/package-lock.json | need-web
	npm ci --prefix web --ignore-scripts --no-audit --no-fund --silent
	@touch $@

$(LAB): $(WASM) web/node_modules/.installed $(shell find web/src web/build.mjs web/presets.mjs web/presets.json) $(wildcard scenarios/*.toml)
	@mkdir -p $(@D)
	node web/build.mjs $(WASM) $@
	@echo "the page: $@"

# Whether there is a Node.js that the page can be built with.
NODE = node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null

need-web: need
	@missing=; say() { echo "missing for the page of the lab: $$1" >&2; missing=1; }; \
	$(NODE) || say "Node.js >= 20 (https://nodejs.org)"; \
	npm --version >/dev/null 2>&1 || say "npm (comes with Node.js; Debian: apt install npm)"; \
	rustc --print target-libdir --target wasm32-unknown-unknown 2>/dev/null | xargs test -d || \
		{ echo "adding wasm32-unknown-unknown to the Rust toolchain"; rustup target add wasm32-unknown-unknown; } || \
		say "the Rust target wasm32-unknown-unknown (rustup target add wasm32-unknown-unknown)"; \
	test -z "$$missing"

need:
	@missing=; say() { echo "missing: $$1" >&2; missing=1; }; \
	cargo --version >/dev/null 2>&1 || say "cargo, Rust >= 1.88 (https://rustup.rs)"; \
	cc --version >/dev/null 2>&1 || say "a C compiler called cc (Debian: apt install gcc; macOS: xcode-select --install)"; \
	test -n "$(PYTHON)" || say "Python >= 3.11 with venv (Debian: apt install python3-venv; https://www.python.org)"; \
	test -z "$$missing"

need-lint: need
	@missing=; say() { echo "missing: $$1" >&2; missing=1; }; \
	rustfmt --version >/dev/null 2>&1 || say "rustfmt (rustup component add rustfmt)"; \
	cargo clippy --version >/dev/null 2>&1 || say "clippy (rustup component add clippy)"; \
	test -z "$$missing"
