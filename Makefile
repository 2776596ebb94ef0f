# Eleven words: run, install, test, check, fix, bench, quality, trust, cluster, audit, supply. Each installs what it needs and shows what it installs.
PORT ?= 8501
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3 python; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
# Compiled modules are kept, whatever the environment says: otherwise each start compiles all it imports.
export PYTHONDONTWRITEBYTECODE :=

# Installs the requirements file $(1) and shows each package: uv where there is one, else pip. LOCKED=1 installs the versions
# of its lock file, checked by their hashes; without it the ranges, so that any index with a build for this machine will do.
# The stamp says which file was installed last: another one, or a changed one, is installed anew.
KIND := $(if $(LOCKED),lock,txt)
RUN := .venv/run$(if $(LOCKED),.lock).stamp
DEV := .venv/dev$(if $(LOCKED),.lock).stamp
define install
	@echo "Installing into .venv ($(1)): $$(sed -n 's/^\([A-Za-z0-9_-]*\)[<>=].*/\1/p' $(1) | paste -s -d' ' -)"
	@if command -v uv >/dev/null 2>&1; then uv pip install --python $(BIN)/python $(if $(LOCKED),--require-hashes) -r $(1); \
		else $(BIN)/python -m pip install --disable-pip-version-check --no-compile $(if $(LOCKED),--require-hashes) -r $(1); fi
endef

# One process more than there are cores: tests wait for servers and browsers.
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder
# Runs $(1) and beside it $(2), whose output is told afterwards: both must pass.
define both
	@trap 'kill 0' INT; { $(2); } >.venv/beside.log 2>&1 & beside=$$!; \
		{ $(1); }; first=$$?; wait $$beside; beside=$$?; cat .venv/beside.log; exit $$((first || beside))
endef

.PHONY: run install test check fix bench quality trust cluster audit supply clean
.DELETE_ON_ERROR:

run: install                    ## serve the workbench on http://localhost:$(PORT)
	@echo "Touchstone: http://localhost:$(PORT)"
	@exec $(BIN)/streamlit run app.py --server.port $(PORT)

install: $(RUN)                 ## what run needs, without a start

test: $(DEV)                    ## lint, types, shape, all tests, the browser's too (gets a Chromium where there is none)
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check .
	$(call both,$(BIN)/python -m pytest --collect-only -qq tests >.venv/collected.log || cat .venv/collected.log,$(BIN)/mypy)
	$(call both,$(PYTEST) --ignore tests/browser,$(BIN)/python -m tests.browser.chromium)
	@$(PYTEST) tests/browser || { echo "What failed once more, by itself: a click between two drawings of a page can be lost."; \
		$(PYTEST) -n 1 --lf --lfnf none tests/browser; }

check: $(DEV)                   ## lint, types, shape and the fast tests
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check .
	$(call both,$(PYTEST) --ignore tests/browser -m "not slow",$(BIN)/mypy)

fix: $(DEV)                     ## let ruff mend and format what it can, and write the reference pages anew
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(BIN)/python docs/make_reference.py

BENCHES := faults recordings house collect extraction kills library quotes report rounds schedules sessions steps worlds
bench: $(DEV)                   ## every bench that needs no data from outside, one after the other (hours)
	@for name in $(BENCHES); do echo "== bench.$$name"; $(BIN)/python -m bench.$$name || exit 1; done

quality: $(DEV)                 ## docs/quality.md, its quick rows measured anew; ROWS="quotes kills" others, DATA=… for those that need it
	@$(BIN)/python -m bench.quality $(ROWS) $(if $(DATA),--data "$(DATA)")

trust: $(DEV)                   ## the scorecard of docs/trust.md, all cases anew (hours); CASES="S1.1 S1.2" for some
	@$(BIN)/python -m bench.trust $(CASES)

cluster: $(DEV)                 ## two web servers, three workers and PostgreSQL on this machine, until Ctrl+C; behind Caddy where it is installed
	@exec $(BIN)/python -m bench.local_cluster --port $(PORT)

audit:                          ## known vulnerabilities of the pinned packages (asks the vulnerability service of PyPI)
	@test -x .supply/tools/bin/pip-audit || { $(PYTHON) -m venv .supply/tools && .supply/tools/bin/pip install -q -r requirements-supply.txt; }
	@.supply/tools/bin/pip-audit --require-hashes --disable-pip -r requirements.lock

supply: .venv/bin/python        ## the lock files with hashes, docs/licences.md and docs/sbom.json, anew
	@$(BIN)/python docs/make_supply.py

.venv/bin/python:
	@echo "Making the virtual environment .venv with $(PYTHON) ..."
	@test -n "$(PYTHON)" || { echo "Touchstone needs Python 3.11 or newer: install it, or name it with PYTHON=/path/to/python3"; exit 1; }
	@if command -v uv >/dev/null 2>&1; then uv venv --quiet --seed --python "$$(command -v $(PYTHON))" .venv; else $(PYTHON) -m venv .venv; fi

$(RUN): requirements.$(KIND) | .venv/bin/python
	@echo "Installing what Touchstone runs on: at the first start, and when $< has changed; a minute or two."
	$(call install,$<)
	@rm -f .venv/*.stamp && touch $@

$(DEV): requirements-dev.$(KIND) requirements.$(KIND) | .venv/bin/python
	$(call install,$<)
	@rm -f .venv/*.stamp && touch $(RUN) $@

clean:                          ## remove what was installed and cached (never data/)
	rm -rf .venv .supply .pytest_cache .mypy_cache .ruff_cache .hypothesis
