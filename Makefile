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

test: $(SYNC) ## run the tests
	$(BIN)/python -m pytest $(PYTEST)

test-wheel: $(SYNC) ## run the tests against the built wheel, installed alone
	rm -rf $(WHEEL_ENV) dist
	$(UV) build --quiet --wheel --out-dir dist
	$(UV) venv --quiet --python $(BIN)/python $(WHEEL_ENV)
	$(UV) export --quiet --frozen --all-extras --no-emit-project --no-hashes -o dist/requirements.txt
	$(UV) pip install --quiet --python $(WHEEL_ENV)/bin/python -r dist/requirements.txt dist/vlk2-*.whl
	$(WHEEL_ENV)/bin/python -m pytest $(PYTEST)

check: lint types imports test-wheel test ## everything that CI runs

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
