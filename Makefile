# `make help` lists every target. Nothing but Python 3.11 or newer and make is needed: the tools come into .venv.

SHELL := /bin/sh
PYTHON ?= python3
BIN := .venv/bin
UV := $(shell command -v uv 2>/dev/null || echo $(BIN)/uv)
SYNC := .venv/.synced
WHEEL_ENV := .venv-wheel

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-wheel check lint types imports bench serve clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(SYNC) ## install vlk2 and its tools into .venv

$(SYNC): pyproject.toml uv.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv 2>/dev/null || $(UV) venv --quiet .venv
	@command -v uv >/dev/null 2>&1 || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(UV) sync --quiet --frozen --all-extras --inexact
	@touch $(SYNC)

demo: $(SYNC) ## the main job in ten seconds: three repeats, one constraint, one revocation
	@$(BIN)/python -m vlk2.demo $(BIN)/vlk2

# Unit tests share the cores; what starts processes, servers and clients has the machine to itself.
test: $(SYNC) ## run the tests
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/unit
	$(BIN)/python -m pytest tests/contract tests/e2e
	$(BIN)/python -m pytest tests/containers tests/clients

# The wheel alone plays the demo in an empty home; then the suite runs on it with its extras. What needs an engine,
# npm or the reference data, and what takes minutes, is the same code and runs in `make test` only.
test-wheel: $(SYNC) ## build the wheel, install it alone, play the demo and run the suite on it
	rm -rf $(WHEEL_ENV) dist
	$(UV) build --quiet --wheel --out-dir dist
	$(UV) venv --quiet --python $(BIN)/python $(WHEEL_ENV)
	$(UV) pip install --quiet --python $(WHEEL_ENV)/bin/python dist/vlk2-*.whl
	env -i HOME="$$(mktemp -d)" PATH="$$PATH" $(WHEEL_ENV)/bin/python -m vlk2.demo $(WHEEL_ENV)/bin/vlk2 > /dev/null
	$(UV) export --quiet --frozen --all-extras --no-emit-project --no-hashes -o dist/requirements.txt
	$(UV) pip install --quiet --python $(WHEEL_ENV)/bin/python -r dist/requirements.txt
	$(WHEEL_ENV)/bin/python -m pytest -n 2 --dist loadfile -m "not reference" tests/unit
	$(WHEEL_ENV)/bin/python -m pytest tests/e2e/test_main_job.py tests/e2e/test_bad_input.py tests/e2e/test_sdk.py

check: lint types imports test test-wheel ## everything that CI runs

lint: $(SYNC) ## ruff, check and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(SYNC) ## basedpyright, strict
	$(BIN)/basedpyright

imports: $(SYNC) ## who may import whom
	$(BIN)/lint-imports

bench: $(SYNC) ## measure the figures; prints a table and writes bench-results.json
	$(BIN)/python tests/bench/run.py

serve: $(SYNC) ## speak MCP on stdio
	@$(BIN)/vlk2 serve

clean: ## remove what the targets made
	rm -rf .venv $(WHEEL_ENV) dist .pytest_cache .ruff_cache .hypothesis
