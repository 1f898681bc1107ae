# The two commands of the README are `make demo` and `make test`; both set everything up by themselves.
.DEFAULT_GOAL := help
SHELL := /bin/bash

# The first Python that is new enough; `make PYTHON=/path/to/python ...` overrides.
new_enough := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach python,python3 python3.11 python3.12 python3.13 python3.14,\
            $(shell $(python) -c '$(new_enough)' >/dev/null 2>&1 && echo $(python))))
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
BIN := .venv/bin

# Larger real data, where it is at hand; tests that need it skip otherwise.
ifneq ($(wildcard ../shared/data),)
export MADALINE_DATA ?= $(abspath ../shared/data)
endif

native_sources := $(wildcard native/kernels/*.h native/bind/*.h native/bind/*.cpp)
native_files := $(native_sources) $(wildcard native/tests/*.cpp)

.PHONY: help setup demo test test-times test-native test-oracles record-oracles sanitize lint format types bench clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/installed ## Create .venv, build the native core, install madaline into it

# Tools first, and what building needs, so that rebuilding the core later downloads nothing.
.venv/tools: pyproject.toml
	@test -n "$(PYTHON)" || { echo "madaline needs Python 3.11 or newer, and none was found. Install it, or give one: make PYTHON=/path/to/python setup"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

.venv/installed: .venv/tools CMakeLists.txt $(native_sources)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable .
	@touch $@

demo: setup ## From a table to a model, its report and a scored file, by the command line
	@mkdir -p demo
	$(BIN)/madaline train penguins --out demo/penguins --force
	$(BIN)/madaline predict demo/penguins penguins --proba -o demo/penguins-scored.csv --force
	$(BIN)/madaline evaluate demo/penguins penguins
	$(BIN)/madaline export demo/penguins --to python -o demo/penguins.py --force
	@echo
	@echo "Open demo/penguins/report.html in a browser: how good the net is, and why."
	@echo "demo/penguins-scored.csv has its answers beside the rows, demo/penguins.py gives them without madaline."
	@echo "Your own table: $(BIN)/madaline train FILE.csv --target COLUMN"

# Tests start about a hundred interpreters: compiled modules are kept for them, whatever the environment says. NumPy's
# own products take one thread: with two processes on two cores, more would wait for each other. Ours are not affected.
run-tests := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal --doctest-modules \
  --doctest-glob=README.md tests src/madaline README.md

test: setup test-native ## Run all tests: Python, doctests, native
	$(run-tests)

test-times: setup ## Run the Python tests; print CPU seconds by folder beside tests/budget.toml
	PYTHONPATH=tests $(run-tests) -p cpu_times

# build-native <folder> <CMake options>: the native tests, for the instruction sets this CPU can run.
define build-native
	@isas="$$($(BIN)/python -c 'from madaline.kernels import core; print(*core.cpu_isas(), sep=";")')" && \
	  PATH="$(CURDIR)/$(BIN):$$PATH" cmake -G Ninja -S . -B build/$(1) -DMADALINE_NATIVE_TESTS=ON \
	    -DMADALINE_ISAS="$$isas" $(2) --log-level=WARNING >/dev/null && \
	  PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/$(1) --parallel $(JOBS)
endef

# run-native <folder>: every program of it, several at a time; all run even if one fails.
define run-native
	@for program in build/$(1)/bin/*/*; do \
	  test -f "native/tests/$${program##*/}.cpp" && echo "$$program"; \
	done | xargs -P $(JOBS) -I PROGRAM bash -c \
	  'printed="$$(PROGRAM 2>&1)"; code=$$?; echo "PROGRAM"; echo "$$printed"; test $$code = 0 || { echo "PROGRAM failed"; exit 1; }'
endef

test-native: setup ## Build and run native/tests for each instruction set of this CPU
	$(call build-native,native,)
	$(call run-native,native)

sanitize: setup ## Run native/tests under the address, undefined-behaviour and thread sanitizers
	$(call build-native,sanitize-address,-DCMAKE_BUILD_TYPE=Sanitize -DCMAKE_CXX_FLAGS_SANITIZE=-O1 -DMADALINE_SANITIZE=address$(comma)undefined)
	$(call run-native,sanitize-address)
	$(call build-native,sanitize-thread,-DCMAKE_BUILD_TYPE=Sanitize -DCMAKE_CXX_FLAGS_SANITIZE=-O1 -DMADALINE_SANITIZE=thread)
	$(call run-native,sanitize-thread)

comma := ,
# The thread pool starts new threads after a fork on purpose, which the thread sanitizer refuses unless told.
sanitize: export TSAN_OPTIONS := die_after_fork=0

# torch and jax have an environment of their own; the package and the tools come from .venv.
site_packages := import sysconfig; print(sysconfig.get_path("purelib"))
.venv-oracles/installed: .venv/tools
	@test -x .venv-oracles/bin/python || $(BIN)/python -m venv .venv-oracles
	.venv-oracles/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-oracles/bin/python -m pip install --quiet --group oracles
	@echo "import site; site.addsitedir('$$($(BIN)/python -c '$(site_packages)')')" \
	  > "$$(.venv-oracles/bin/python -c '$(site_packages)')/borrowed.pth"
	@touch $@

test-oracles: setup .venv-oracles/installed ## Compare with PyTorch, JAX and others (installs them first)
	.venv-oracles/bin/python -m pytest -n 2 tests/oracles

record-oracles: setup .venv-oracles/installed ## Record what they answer, for `make test`
	.venv-oracles/bin/python tests/oracles/record.py

lint: .venv/tools ## Check style: ruff, clang-format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(native_files)

format: .venv/tools ## Apply the style that lint checks
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(native_files)

types: setup ## Check types: mypy, strict
	$(BIN)/mypy

# The peers of the benchmark join the oracles' environment: torch and jax are large, and once is enough.
.venv-oracles/peers: .venv-oracles/installed
	.venv-oracles/bin/python -m pip install --quiet --group peers
	@touch $@

bench: setup .venv-oracles/peers ## Run the benchmarks against the peers (installs them first)
	.venv-oracles/bin/python benchmarks/heart.py --threads 1
	.venv-oracles/bin/python benchmarks/heart.py --threads 2
	.venv-oracles/bin/python benchmarks/train.py
	.venv-oracles/bin/python benchmarks/inference.py
	.venv-oracles/bin/python benchmarks/startup.py
	.venv-oracles/bin/python benchmarks/growth.py
	.venv-oracles/bin/python benchmarks/custom.py
	.venv-oracles/bin/python benchmarks/probes.py
	.venv-oracles/bin/python benchmarks/anatomy.py
	.venv-oracles/bin/python benchmarks/report.py

clean: ## Remove what the targets made, but not .venv
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -f .venv/installed
