PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help

help:  ## Show what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

install: $(STAMP)  ## Set up the virtual environment

demo: $(STAMP)  ## Ask what broke the bottle, then learn causes from recordings and film them
	$(BIN)/actcause demo

# Two test processes on two cores: torch's own threads would only wait for each other.
test test-slow test-browser: export OMP_NUM_THREADS = 1

test: $(STAMP) lint types docs  ## Lint, type-check, build the docs, run the tests
	$(BIN)/python -m pytest -n 2 -m "not slow and not browser"

chromium:  ## Install Debian's chromium if there is none
	@command -v chromium >/dev/null || { apt-get update && apt-get install --yes --no-install-recommends chromium; }

test-browser: $(STAMP) chromium  ## The explorer in a real browser
	$(BIN)/python -m pytest -m browser tests/browser

test-slow: $(STAMP)  ## The long fuzzing and agreement runs
	$(BIN)/python -m pytest -n 2 -m slow
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n 2 -m "not slow" tests/core

lint: $(STAMP)  ## ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)  ## mypy, strict
	$(BIN)/mypy

docs: $(STAMP)  ## Build the docs site, strictly
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir $(VENV)/site

bench: $(STAMP)  ## Every benchmark of benchmarks/README.md
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt actualcauses
	$(BIN)/python benchmarks/run.py

clean:  ## Remove the virtual environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis site dist

.PHONY: help install demo test chromium test-browser test-slow lint types docs bench clean
