# Five words: run, test, check, fix, bench. Everything they need is installed into .venv by themselves.
PORT ?= 8501
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
# Compiled once and kept, whatever the surroundings say: without it every start and every test process compiles all it imports.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run test check fix bench clean
.DELETE_ON_ERROR:

run: .venv/run.stamp            ## serve the workbench on http://localhost:$(PORT)
	@echo "Touchstone: http://localhost:$(PORT)"
	@exec $(BIN)/streamlit run app.py --server.port $(PORT)

test: .venv/dev.stamp           ## lint, types, shape, all tests, the browser's too
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m "not browser"
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m browser

check: .venv/dev.stamp          ## lint, types, shape and the fast tests
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m "not browser and not slow"

fix: .venv/dev.stamp            ## let ruff mend and format what it can
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: .venv/dev.stamp          ## the measurements behind the figures in DECISIONS.md
	@for script in tests/bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Touchstone needs Python 3.11 or newer: install it, or name it with PYTHON=/path/to/python3"; exit 1; }
	@if command -v uv >/dev/null 2>&1; then uv venv --quiet --python "$$(command -v $(PYTHON))" .venv; else $(PYTHON) -m venv .venv; fi

.venv/run.stamp: requirements.txt | .venv/bin/python
	@echo "Installing what Touchstone runs on (once, a minute or two) ..."
	@if command -v uv >/dev/null 2>&1; then uv pip install --quiet --python $(BIN)/python -r $<; \
		else $(BIN)/python -m pip install --quiet --disable-pip-version-check -r $<; fi
	@touch $@

.venv/dev.stamp: requirements-dev.txt .venv/run.stamp
	@echo "Installing what the tests need ..."
	@if command -v uv >/dev/null 2>&1; then uv pip install --quiet --python $(BIN)/python -r $<; \
		else $(BIN)/python -m pip install --quiet --disable-pip-version-check -r $<; fi
	@touch $@

clean:                          ## remove what was installed and cached (never data/)
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
