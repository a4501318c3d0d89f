PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
BROWSERS ?= 2
QUIETLY := --quiet --disable-pip-version-check --constraint constraints.txt

# What of the libraries no test imports: nearly half of their code.
UNUSED := /(tests?|OpenGL|pip|setuptools|mypyc?)/|torch/(_inductor|testing)/|ray/(llm|rllib|serve|train|tune)/|sympy/(physics|stats)/

# Tests start hundreds of processes: what these import is compiled once.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help

help:  ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(QUIETLY) --no-compile --editable '.[dev]'
	$(BIN)/python -m compileall -q -j 0 -x '$(UNUSED)' $(VENV)/lib >/dev/null || true  # on all cores; pip compiles on one
	touch $@

install: $(STAMP)  ## Set up the virtual environment

demo: $(STAMP)  ## Ask what broke the bottle, then learn causes from recordings and film them
	$(BIN)/actcause demo

# Two test processes on two cores: torch's own threads would only wait for each other.
unit test-slow test-browser wheel-check: export OMP_NUM_THREADS = 1

test: lint types docs unit  ## Lint, type-check, build the docs, run the tests

# What PATIENTLY says stands before the command: .ci/run lets the browser, which ends last, have its turn first.
# worksteal keeps the tests of a file together as long as it can: what they share is made once.
unit: $(STAMP)  ## The tests alone, without slow ones and those of the browser
	$(PATIENTLY) $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not browser"

chromium:  ## Install Debian's chromium if there is none
	@command -v chromium >/dev/null || { apt-get update && apt-get install --yes --no-install-recommends chromium; }

test-browser: $(STAMP) chromium  ## The explorer in a real browser
	$(BIN)/python -m pytest -n $(BROWSERS) --dist loadfile -m browser tests/browser

test-slow: $(STAMP)  ## The long fuzzing and agreement runs
	$(BIN)/python -m pytest -n 2 -m slow
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n 2 -m "not slow and not browser" tests/core tests/data tests/envs tests/formats

lint: $(STAMP)  ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(STAMP)  ## Mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP)  ## mypy, strict
	nice $(BIN)/mypy

docs: $(STAMP)  ## Build the docs site, strictly
	NO_MKDOCS_2_WARNING=1 nice $(BIN)/mkdocs build --strict --quiet --site-dir $(VENV)/site

wheel-check:  ## Build a wheel, install it in an empty environment, run its demo there
	rm -rf $(VENV)-wheel
	$(PYTHON) -m venv $(VENV)-wheel
	$(VENV)-wheel/bin/python -m pip wheel $(QUIETLY) --no-deps --wheel-dir $(VENV)-wheel/dist .
	$(VENV)-wheel/bin/python -m pip install $(QUIETLY) "$$(ls $(CURDIR)/$(VENV)-wheel/dist/*.whl)[all]"
	cd $(VENV)-wheel && bin/python -c "$$HELD" && bin/actcause demo

export define HELD
from importlib.resources import files
for name in ("page/static/index.html", "page/guide/pages/glossary.md", "reproduction/published.json", "py.typed"):
    assert files("actcause").joinpath(name).is_file(), name
endef

bench: $(STAMP)  ## Every benchmark of benchmarks/README.md
	$(BIN)/python -m pip install $(QUIETLY) actualcauses
	$(BIN)/python benchmarks/run.py

clean:  ## Remove the virtual environment and caches
	rm -rf $(VENV) $(VENV)-wheel .mypy_cache .ruff_cache .pytest_cache .hypothesis site dist

.PHONY: help install demo test unit chromium test-browser test-slow lint format types docs wheel-check bench clean
