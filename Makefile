# Everything CI runs, and everything a newcomer needs. Works with make, Python >= 3.11 and a package index.
VENV := .venv
RUN := $(VENV)/bin/python
SOURCES := models connectors optimizer reports sql tests benchmarks

.DEFAULT_GOAL := help
.PHONY: help setup demo test check reference bars lock clean
.SUFFIXES:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / {sub("%", "NAME", $$1); printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.dev ## make .venv with everything a developer needs, and the command .venv/bin/earnkeep

demo: $(VENV)/.core ## simulate a fleet, run on it, print where the report is (core dependencies only)
	$(RUN) -m optimizer demo $(ARGS)

test: $(VENV)/.dev ## run all tests; ARGS="-k idle" narrows them
	$(RUN) -m pytest -n 2 --dist worksteal $(ARGS)

check: $(VENV)/.dev ## lint code and SQL, check formats, types, import contracts and names
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-logo
	$(VENV)/bin/sqlfluff lint --processes 0 --disable-progress-bar sql
	$(RUN) -m pytest -q tests/test_names.py tests/test_sql_lint.py tests/test_packaging.py

reference: $(VENV)/.dev ## rewrite docs/tables.md and the generated part of docs/configuration.md
	$(RUN) -m optimizer.settings_reference docs/configuration.md
	$(RUN) -m optimizer.tables_reference docs/tables.md

bench-%: $(VENV)/.core ## run benchmarks/bench_NAME.py; its last lines are BAR <name> <value> <target> <met|missed|skipped>
	PYTHONPATH=. $(RUN) benchmarks/bench_$(subst -,_,$*).py $(ARGS)

bars: $(VENV)/.core ## run the benchmarks that end within a minute each
	PYTHONPATH=. $(RUN) benchmarks/bars.py

lock: $(VENV)/.dev ## write requirements*.lock anew from pyproject.toml (needs uv)
	sh .ci/lock.sh

clean: ## remove the virtual environment and all caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis build dist

$(VENV)/.core: requirements.lock .ci/venv.sh
	sh .ci/venv.sh $(VENV) requirements.lock
	@touch $@

$(VENV)/.dev: $(VENV)/.core requirements-dev.lock pyproject.toml
	sh .ci/venv.sh $(VENV) requirements-dev.lock
	sh .ci/venv.sh $(VENV) --editable
	@touch $@
