# Every target makes what it needs from a bare python3: a virtual environment in .venv and, in it, this package with
# the extras that the target uses.  A stamp per extra is renewed when pyproject.toml changes.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
ARGS ?=

# One BLAS or OpenMP thread per process: the test runner already uses every core, and the library itself splits rows
# over threads.  Two layers of threads on the same cores are slower than one.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: help kernels wheel release demo test nightly mutation lint format bench bench-quick map map-quick docs clean
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' Makefile

kernels: $(VENV)/.kernels.stamp ## compile the C kernels in place (other targets do so by themselves)

wheel: $(PY) ## a wheel in dist/, with compiled kernels where there is a C compiler
	$(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@ls dist

release: $(PY) ## source distribution and wheel in dist/, tried in an empty environment of every Python here
	.ci/release $(abspath $(PY))

demo: $(VENV)/.base.stamp ## fit a real data set, compare the methods, write demo-output/report.html
	$(PY) examples/demo.py $(ARGS)

test: $(VENV)/.test.stamp ## the whole test suite, on all cores (ARGS="-k fisher" to choose)
	$(ONE_THREAD) $(PY) -m pytest -n auto --dist worksteal $(ARGS)

nightly: $(VENV)/.test.stamp ## ten thousand drawn configurations (ARGS="--seed 7 --count 500"); the seed is printed
	$(ONE_THREAD) $(PY) tests/contracts/draw.py $(ARGS)

mutation: $(VENV)/.test.stamp ## small wrong changes that some test must notice (ARGS="geometry --sample 50"); an hour
	$(ONE_THREAD) nice -n 19 $(PY) tests/mutation/run.py $(ARGS)

lint: $(VENV)/.dev.stamp ## style, types and the direction of imports
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/pyright tests/typing
	$(VENV)/bin/lint-imports

format: $(VENV)/.dev.stamp ## rewrite the files in the project's style
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

bench: $(VENV)/.bench.stamp ## every speed task against its peers (minutes to an hour; wants an idle machine)
	$(PY) -m benchmarks $(ARGS)

bench-quick: $(VENV)/.bench.stamp ## the same tasks on small data, to see that they run
	$(PY) -m benchmarks --quick $(ARGS)

map: $(VENV)/.bench.stamp ## the map of speed: measure every place, renew its picture and tables in docs/ (ARGS="--minutes 8")
	$(PY) -m benchmarks.map $(ARGS)

map-quick: $(VENV)/.bench.stamp ## a small place of every problem, to see that the map runs
	$(PY) -m benchmarks.map --quick --results $(VENV)/map.json $(ARGS)

docs: $(VENV)/.docs.stamp ## the documentation as static pages in site/
	$(ONE_THREAD) MPLBACKEND=Agg $(PY) -m sphinx -W --keep-going -q -j 2 -d $(VENV)/doctrees docs site
	@echo "site/index.html"

clean: ## remove what the targets made, the environment included
	rm -f src/discriminant/kernels/*.so docs/reference/*.rst docs/reference/*/*.rst
	rm -rf $(VENV) site docs/gallery demo-output build dist .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "discriminant needs Python 3.11 or newer; give one with: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# A changed C file is compiled before anything runs, since every other stamp waits for this one.  Without a compiler it
# says so, and the NumPy bodies run.
$(VENV)/.kernels.stamp: hatch_build.py $(wildcard src/discriminant/kernels/c/*) | $(PY)
	$(PY) hatch_build.py
	@touch $@

# An editable install compiles no Python beforehand, as others do: a first command should not be slower than the next.
$(VENV)/.base.stamp: pyproject.toml | $(PY) $(VENV)/.kernels.stamp
	$(PY) -m pip install --quiet --disable-pip-version-check -e .
	@$(PY) -m compileall -q src
	@touch $@

$(VENV)/.%.stamp: pyproject.toml | $(PY) $(VENV)/.kernels.stamp
	$(PY) -m pip install --quiet --disable-pip-version-check -e ".[$*]"
	@$(PY) -m compileall -q src
	@touch $@
