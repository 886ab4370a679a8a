# Every target makes its own environment from a bare python3 (with venv) and keeps it until
# pyproject.toml or constraints.txt changes.

PYTHON ?= python3
# More options for pytest, as in: make test PYTEST_ARGS="-x -k lattice"
PYTEST_ARGS ?=
# Tests run side by side, one process per core; one that has no test left takes some of another's.
JOBS ?= auto
# Options for the damaged files, see benchmarks/fuzz.py
FUZZ_ARGS ?=
# Options for the resolver, as in: make lock LOCK_ARGS=--upgrade
LOCK_ARGS ?=

BIN   := .venv/bin
READY := .venv/.ready
WARM  := .venv/.warm

.PHONY: help demo test test-all bench fuzz lint docs lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

demo: $(WARM) ## simulate a scene through an R12 camera, estimate its depth, compare with the truth
	@echo "==> plenodepth camera show r12-e"
	@mkdir -p demo
	@$(BIN)/plenodepth camera show r12-e --figure demo/r12-e.png
	@echo "==> plenodepth demo: a simulated scene and its depth (about a minute)"
	@$(BIN)/plenodepth demo --out demo

test: style $(WARM) ## lint, and every test that is not slow (what CI runs)
	@$(call beside-types,"every test that is not slow",-m "not slow")

test-all: style $(WARM) ## lint, and every test
	@$(call beside-types,"every test")

bench: $(WARM) ## run the benchmarks and print their ratios
	@echo "==> pytest: benchmarks/bench_*.py"
	@$(BIN)/pytest benchmarks -s -o python_files="bench_*.py" $(PYTEST_ARGS)

fuzz: $(WARM) ## try every reader with 100,000 damaged files (hours); FUZZ_ARGS="--count 1000 --readers png" for less
	@echo "==> benchmarks/fuzz.py: each file is read or refused within 5 s and 1 GB"
	@$(BIN)/python benchmarks/fuzz.py $(FUZZ_ARGS)

lint: style types ## check style (ruff), types (mypy --strict) and the direction of imports (import-linter)

.PHONY: style types
style: $(READY)
	@echo "==> ruff: style"
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet

types: $(READY)
	@echo "==> mypy --strict: types in src/"
	@$(BIN)/mypy
	@echo "==> import-linter: imports go one way"
	@$(BIN)/lint-imports --no-logo

# Runs pytest while `make types` runs beside it; what that prints comes after the tests. Either one fails the target.
define beside-types
	echo "==> pytest: "$(1); log=$$(mktemp); \
	$(MAKE) --no-print-directory types > $$log 2>&1 & types=$$!; \
	$(BIN)/pytest -n $(JOBS) --dist worksteal --durations=20 $(2) $(PYTEST_ARGS); tests=$$?; \
	wait $$types; linted=$$?; cat $$log; rm -f $$log; \
	[ $$linted = 0 ] || echo "==> types or imports: failed"; \
	[ $$tests = 0 ] || echo "==> tests: failed"; \
	[ $$tests = 0 ] && [ $$linted = 0 ]
endef

# The variable keeps the theme from advertising on stderr: what `make docs` prints there is a warning of ours.
docs: $(READY) ## build the documentation into site/; a warning is an error
	@echo "==> mkdocs: docs/ and docstrings to site/"
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "==> open site/index.html"

# One version of each package for every Python and platform, so that a result does not depend on who computes it.
# uv reads no settings of pip: the user's index is handed on, and --system-certs trusts whom pip trusts.
lock: ## pin in constraints.txt what pyproject.toml asks for
	@echo "==> uv (in .venv-lock): pyproject.toml to constraints.txt"
	@$(PYTHON) -m venv .venv-lock
	@.venv-lock/bin/python -m pip install -qq uv
	@index=$$(.venv-lock/bin/python -m pip config get global.index-url 2>/dev/null); \
	UV_DEFAULT_INDEX=$${UV_DEFAULT_INDEX:-$${PIP_INDEX_URL:-$$index}} \
	.venv-lock/bin/uv pip compile pyproject.toml --extra dev --output-file constraints.txt --quiet --system-certs \
		--universal --python-version 3.11 --fork-strategy fewest --only-binary :all: --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-annotate --custom-compile-command "make lock" $(LOCK_ARGS)

clean: ## remove everything that was made here, .venv too
	@echo "==> removing environments, caches and outputs"
	@rm -rf .venv .venv-lock build dist site demo fuzz-failures .cache .benchmarks .hypothesis .import_linter_cache .*_cache
	@find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

# The stamp comes last: an install that fails half-way is tried again by the next make.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("plenodepth needs Python 3.11 or newer: make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	@echo "==> making .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv
	@echo "==> installing what constraints.txt pins (up to a minute the first time)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes --only-binary :all: -r constraints.txt
	@echo "==> installing plenodepth, editable"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# What computes depth starts with compiled kernels, and is not measured while it compiles them.
$(WARM): $(READY) $(shell find src -path '*/kernels/*.py')
	@echo "==> compiling the kernels of plenodepth depth, kept until one changes (up to a minute the first time)"
	@$(BIN)/plenodepth warm-up
	@touch $@
