# `make demo` and `make test` set up everything that they need.
.DEFAULT_GOAL := help
SHELL := /bin/bash

# The first Python that is new enough; `make PYTHON=/path/to/python ...` overrides.
new_enough := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach python,python3 python3.11 python3.12 python3.13 python3.14,\
            $(shell $(python) -c '$(new_enough)' >/dev/null 2>&1 && echo $(python))))
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
BIN := .venv/bin

# Larger real data, if available; tests that need it are skipped otherwise.
ifneq ($(wildcard ../shared/data),)
export MADALINE_DATA ?= $(abspath ../shared/data)
endif

native_sources := $(wildcard native/kernels/*.h native/bind/*.h native/bind/*.cpp)
native_files := $(native_sources) $(wildcard native/tests/*.h native/tests/*.cpp native/wasm/*.h native/wasm/*.cpp)

.PHONY: help setup demo test test-times test-native test-oracles test-web test-scale test-neighbours test-clinic test-gallery playground wasm docs test-docs record-oracles sanitize lint format types bench bench-tables wheel fuzz soak clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/installed .venv/tools ## Create .venv, build the native core, install madaline and all tools into it

# Build requirements are installed first, so that rebuilding the core later needs no downloads.
.venv/build: pyproject.toml
	@test -n "$(PYTHON)" || { echo "madaline needs Python 3.11 or newer, and none was found. Install it, or give one: make PYTHON=/path/to/python setup"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group build
	@touch $@

.venv/installed: .venv/build CMakeLists.txt $(native_sources)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[tables]"
	@touch $@

.venv/tools: .venv/build
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

demo: .venv/installed ## Train a model on a table, write its report, predictions and an export
	@mkdir -p demo
	$(BIN)/madaline train penguins --preset best --out demo/penguins --force
	$(BIN)/madaline predict demo/penguins penguins --proba -o demo/penguins-scored.csv --force
	$(BIN)/madaline evaluate demo/penguins penguins
	$(BIN)/madaline export demo/penguins --to python -o demo/penguins.py --force
	@echo
	@echo "Open demo/penguins/report.html in a browser to see the quality of the model and its explanation."
	@echo "demo/penguins-scored.csv contains the predictions; demo/penguins.py predicts without madaline."
	@echo "To train on another table: $(BIN)/madaline train FILE.csv --target COLUMN"

# Tests start about a hundred interpreters: compiled modules are kept for them, whatever the environment says. NumPy's
# own products take one thread: with two processes on two cores, more would wait for each other. Ours are not affected.
run-tests := PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal -m 'not page and not clinic' \
  --doctest-modules --doctest-glob=README.md --ignore=tests/gallery --ignore=src/madaline/gallery/examples tests src/madaline README.md

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

# run-native <folder>: run all test programs in the folder, several at a time, even if one fails.
define run-native
	@for program in build/$(1)/bin/*/*; do \
	  test -f "native/tests/$${program##*/}.cpp" && echo "$$program"; \
	done | xargs -P $(JOBS) -I PROGRAM bash -c \
	  'printed="$$(PROGRAM 2>&1)"; code=$$?; echo "PROGRAM"; echo "$$printed"; test $$code = 0 || { echo "PROGRAM failed"; exit 1; }'
endef

test-native: setup ## Build and run native/tests for each instruction set of this CPU
	$(call build-native,native,)
	$(call run-native,native)

# build-sanitized <folder> <sanitizers>: the extension module for the best instruction set of this CPU.
define build-sanitized
	@isa="$$($(BIN)/python -c 'from madaline.kernels import core; print(core.cpu_isas()[-1])')" && \
	  PATH="$(CURDIR)/$(BIN):$$PATH" cmake -G Ninja -S . -B build/$(1) -DMADALINE_ISAS="$$isa" $(sanitized) -DMADALINE_SANITIZE=$(2) \
	    -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)" -DPython_EXECUTABLE="$(CURDIR)/$(BIN)/python" \
	    --log-level=WARNING >/dev/null && \
	  PATH="$(CURDIR)/$(BIN):$$PATH" cmake --build build/$(1) --parallel $(JOBS)
endef

# run-corpus <folder> <library> <options>: the fuzzers' programs on this module; the runtime of its sanitizer must be loaded first.
# Leaks are those of Python itself.
define run-corpus
	cd tests && LD_PRELOAD="$$($(CXX) -print-file-name=$(2)) $$($(CXX) -print-file-name=libstdc++.so.6)" OPENBLAS_NUM_THREADS=1 \
	  ASAN_OPTIONS=detect_leaks=0 ../$(BIN)/python -m attack.sanitized ../build/$(1) --seconds $(or $(SECONDS),40) $(3)
endef

sanitized := -DCMAKE_BUILD_TYPE=Sanitize -DCMAKE_CXX_FLAGS_SANITIZE=-O1
comma := ,
# The thread pool starts new threads after a fork, which the thread sanitizer forbids by default.
sanitize: export TSAN_OPTIONS := die_after_fork=0
sanitize: setup ## Native tests and the fuzzers' programs under the address, undefined-behaviour and thread sanitizers
	$(call build-native,sanitize-address,$(sanitized) -DMADALINE_SANITIZE=address$(comma)undefined)
	$(call run-native,sanitize-address)
	$(call build-native,sanitize-thread,$(sanitized) -DMADALINE_SANITIZE=thread)
	$(call run-native,sanitize-thread)
	$(call build-sanitized,sanitize-module-address,address$(comma)undefined)
	$(call run-corpus,sanitize-module-address,libasan.so)
	$(call build-sanitized,sanitize-module-thread,thread)
	$(call run-corpus,sanitize-module-thread,libtsan.so,--without-files)

# torch and jax are in a separate environment; the package and the tools come from .venv.
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

# MLflow and the driver of the browser are in a separate environment, too. The browser is Debian's.
.venv-web/installed: .venv/tools
	@command -v chromium >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends chromium; }
	@test -x .venv-web/bin/python || $(BIN)/python -m venv .venv-web
	.venv-web/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-web/bin/python -m pip install --quiet --group web
	@echo "import site; site.addsitedir('$$($(BIN)/python -c '$(site_packages)')')" \
	  > "$$(.venv-web/bin/python -c '$(site_packages)')/borrowed.pth"
	@touch $@

test-web: setup playground .venv-web/installed ## Try the server and exported pages: browser, load, attacks, MLflow (installs them first)
	OPENBLAS_NUM_THREADS=1 .venv-web/bin/python -m pytest -n 2 tests/web/live

# Ray, which is large, is in a separate environment, too.
.venv-scale/installed: .venv/tools
	@test -x .venv-scale/bin/python || $(BIN)/python -m venv .venv-scale
	.venv-scale/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-scale/bin/python -m pip install --quiet --group scale
	@echo "import site; site.addsitedir('$$($(BIN)/python -c '$(site_packages)')')" \
	  > "$$(.venv-scale/bin/python -c '$(site_packages)')/borrowed.pth"
	@touch $@

test-scale: setup .venv-scale/installed ## Train and search on local Ray clusters, and lose their nodes (installs Ray first)
	OPENBLAS_NUM_THREADS=1 .venv-scale/bin/python -m pytest -q tests/scale/live

# Packages that people use beside madaline, in a separate environment, too.
.venv-neighbours/installed: .venv/tools
	@test -x .venv-neighbours/bin/python || $(BIN)/python -m venv .venv-neighbours
	.venv-neighbours/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-neighbours/bin/python -m pip install --quiet --group neighbours
	@echo "import site; site.addsitedir('$$($(BIN)/python -c '$(site_packages)')')" \
	  > "$$(.venv-neighbours/bin/python -c '$(site_packages)')/borrowed.pth"
	@touch $@

test-neighbours: setup .venv-neighbours/installed ## Use the estimators from some thirty other packages (installs them first)
	OPENBLAS_NUM_THREADS=1 .venv-neighbours/bin/python -m pytest -n 2 -q tests/neighbours/live

test-clinic: setup ## Sick and healthy runs through the doctor: a sample of the clinic, tables from the wild, slow cases
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -q -m clinic tests/cli tests/doctor
	$(BIN)/python tests/doctor/clinic/clinic.py --half tune --sick 30 --healthy 21 --recall 0.75 --false-alarms 0.1

test-gallery: setup ## Run every example of the gallery and of the pages; each checks its claims
	$(BIN)/python -m pytest -n 2 -q tests/gallery
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -q -m page tests

playground: setup ## Write build/playground/playground.html, the playground without a server
	$(BIN)/python -m madaline.web.play.offline build/playground/playground.html

# The core of that page is in the repository, so that only a change of native/ needs this compiler. Always this version:
# a test compares the bytes.
wasm: ## Compile the native core to WebAssembly for that page (installs Debian's clang 19 first)
	@command -v clang++-19 >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends \
	  clang-19 lld-19 wasi-libc libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32; }
	clang++-19 @native/wasm/flags.txt -o $(or $(WASM),src/madaline/web/play/page/core.wasm) native/wasm/module.cpp

# The documentation has a separate environment, too. MathJax is copied into the site, so that formulas need no network.
.venv-docs/installed: .venv/tools
	@command -v npm >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends npm; }
	@test -x .venv-docs/bin/python || $(BIN)/python -m venv .venv-docs
	.venv-docs/bin/python -m pip install --quiet --upgrade "pip>=25.1"
	.venv-docs/bin/python -m pip install --quiet --group docs
	@echo "import site; site.addsitedir('$$($(BIN)/python -c '$(site_packages)')')" \
	  > "$$(.venv-docs/bin/python -c '$(site_packages)')/borrowed.pth"
	npm install --silent --no-audit --no-fund --prefix .venv-docs/npm mathjax@3.2.2
	@mkdir -p .venv-docs/static/mathjax
	@cp .venv-docs/npm/node_modules/mathjax/es5/tex-svg.js .venv-docs/static/mathjax/
	@touch $@

docs: export MADALINE_QUICK := $(if $(FULL),,1)
docs: export MADALINE_MATHJAX := $(CURDIR)/.venv-docs/static
docs: setup playground .venv-docs/installed ## Build the site in build/docs; examples of the gallery run quickly (FULL=1: completely)
	OPENBLAS_NUM_THREADS=1 PYTHONPATH=docs/site:docs .venv-docs/bin/python docs/site/stage.py build/docs-source
	OPENBLAS_NUM_THREADS=1 .venv-docs/bin/python -m sphinx --quiet --fail-on-warning --keep-going --jobs 2 --conf-dir docs/site \
	  --doctree-dir build/docs-doctrees build/docs-source build/docs
	.venv-docs/bin/python docs/site/links.py build/docs
	@echo "Open build/docs/index.html in a browser."

.venv-docs/browser: .venv-docs/installed
	@command -v chromium >/dev/null || { apt-get update -q && apt-get install -y -q --no-install-recommends chromium; }
	@touch $@

test-docs: docs .venv-docs/browser ## Build the site, and open every page in Chromium at two widths
	.venv-docs/bin/python docs/site/browser.py build/docs

record-oracles: setup .venv-oracles/installed ## Record the results of other libraries for `make test`
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

# The benchmarks use the environment of the oracles, so that torch and jax, which are large, are installed once.
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
	.venv-oracles/bin/python benchmarks/derivatives.py
	.venv-oracles/bin/python benchmarks/probes.py
	.venv-oracles/bin/python benchmarks/population.py --jax
	.venv-oracles/bin/python benchmarks/anatomy.py
	.venv-oracles/bin/python benchmarks/report.py

.venv-oracles/table-peers: .venv-oracles/installed
	.venv-oracles/bin/python -m pip install --quiet --group table-peers
	@touch $@

bench-tables: setup .venv-oracles/table-peers ## Compare preset="best" with other models for tables (needs MADALINE_DATA)
	.venv-oracles/bin/python benchmarks/recipe.py --half "large report" --rows 10000 --run "with kernel" LightGBM CatBoost \
	  HistGradientBoosting "scikit-learn MLP" linear RealMLP-TD
	.venv-oracles/bin/python benchmarks/recipe.py --page

.venv/wheel: .venv/build
	$(BIN)/python -m pip install --quiet --group wheel
	@touch $@

# The wheel is for the glibc of this machine or newer; wheels for all platforms are built by cibuildwheel.
wheel: .venv/wheel ## Build a manylinux wheel and a source distribution in dist/, install both elsewhere and try them
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist/built .
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist dist/built/*.whl
	mv dist/built/*.tar.gz dist && rm -r dist/built
	$(BIN)/python benchmarks/install.py --smoke dist/*.whl dist/*.tar.gz

fuzz: setup ## Attack readers of files and both executors for ten minutes (SECONDS=600, SEED=0)
	cd tests && OPENBLAS_NUM_THREADS=1 ../$(BIN)/python -m attack.fuzz --seconds $(or $(SECONDS),600) --seed $(or $(SEED),0)

soak: setup ## Random runs, kills, interrupts, forks and loads for an hour; nothing may grow (MINUTES=60, SEED=0, SAVE=1 keeps the summary)
	cd tests && OPENBLAS_NUM_THREADS=1 ../$(BIN)/python -m attack.soak --minutes $(or $(MINUTES),60) --seed $(or $(SEED),0) $(if $(SAVE),--save)

clean: ## Remove generated files, except .venv
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -f .venv/installed .venv/build
