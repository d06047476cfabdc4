# Everything a contributor runs. `make help` lists it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
REPO ?=
AGENT ?=
JSON ?=
SCENARIOS ?=
UNIT ?= CreatePlan
WITH ?= HEAD work-tree
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Container images often forbid compiled files; without them each process that a test starts compiles what it loads.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help

.PHONY: help
help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one with PYTHON=python3.12."; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || \
	  { echo "The venv could not be made. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }
	@echo "Installing what requirements.lock lists into $(VENV): a minute or two, once."
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps -e .
	@touch $@

.PHONY: venv
venv: $(VENV)/.installed ## create .venv from the lock file

.PHONY: demo
demo: venv ## three issues from label to merge, on this machine alone (REPO=path|pypi:NAME==VERSION, AGENT=claude, SERVE=1)
	$(BIN)/python -m tests.demo $(if $(REPO),--repo '$(REPO)') $(if $(AGENT),--agent '$(AGENT)') $(if $(filter-out 0,$(SERVE)),--serve)

.PHONY: test
test: venv ## the fast suite
	$(BIN)/python -m pytest -n logical --dist loadfile --no-loadscope-reorder -m 'not drill and not agents'

.PHONY: test-all
test-all: test drills ## everything but the real agents: the fast suite, then the drills

.PHONY: drills
drills: venv ## long fault and load drills, one after the other: each wants the machine for itself
	$(BIN)/python -m pytest -m 'drill and not agents'

AGENTS := tests/agents/node_modules
# Two packages need their install script, and no other runs; `npm ci` refuses a lock without every platform's binaries.
$(AGENTS)/.installed: tests/agents/package-lock.json
	@command -v npm > /dev/null || { echo "Node.js with npm is needed, version 20 or newer."; exit 1; }
	@echo "Installing five agents into $(AGENTS): 1.5 GB, half a minute or more, once."
	cd tests/agents && npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	cd $(AGENTS)/@anthropic-ai/claude-code && node install.cjs
	cd $(AGENTS)/opencode-ai && node postinstall.mjs
	COPILOT_PKG_CACHE_HOME=$(CURDIR)/$(AGENTS)/.copilot $(AGENTS)/.bin/copilot --help > /dev/null
	@touch $@

.PHONY: test-agents
test-agents: venv ## the real agents against a scripted model (SCENARIOS='edits or resumes'); what is not installed is not tested
	-@$(MAKE) --no-print-directory $(AGENTS)/.installed
	$(BIN)/python -m pytest tests/agents -m agents -n 3 --dist worksteal $(if $(SCENARIOS),-k '$(SCENARIOS)')

.PHONY: lint
lint: venv ## style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

.PHONY: types
types: venv ## strict types
	$(BIN)/mypy

.PHONY: format
format: venv ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix --select I .

.PHONY: screenshots
screenshots: venv ## pictures of typical threads for the docs (needs Chromium, or TWOGATE_CHROMIUM=program)
	$(BIN)/python -m tests.screenshots

.PHONY: bench
bench: venv ## measure; JSON=file writes the same as a list
	$(BIN)/python -m bench $(if $(JSON),--json '$(JSON)')

.PHONY: eval
eval: venv ## measure a unit's instructions on a scripted model, which is free (UNIT=ExecutePlan WITH='main work-tree')
	$(BIN)/python -m tests.evals --unit $(UNIT) --program $(WITH) --jobs 2

.PHONY: lock
lock: ## resolve the dependencies anew (needs uv)
	uv pip compile --universal --generate-hashes --no-strip-extras --python-version 3.11 --no-header \
	  pyproject.toml --group dev --extra postgresql --extra tracing -o requirements.lock
