# Two commands are enough: `make demo` and `make test`. `make help` lists the others.
# All they need is Python 3.10 or newer (with venv), git and make: Node and the CDK command line are installed here.

.DEFAULT_GOAL := help
SHELL := /bin/sh
MAKEFLAGS += --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOG := $(VENV)/install.log
STACKS ?= TrainingStack InferenceStack

# The first of these that is new enough. Another one: make PYTHON=/path/to/python3.12 demo
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11 python3.10 python
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 10))
PYTHON ?= $(firstword $(foreach name,$(CANDIDATES),$(shell $(name) -c '$(NEW_ENOUGH)' 2>/dev/null && echo $(name))))

# The virtual environment's programs first: its Node is the one that jsii and the CDK command line use.
export PATH := $(CURDIR)/$(BIN):$(PATH)
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

# The machine's certificates, as pip and browsers use them: behind a company's proxy those of uv and Node would not do.
export UV_SYSTEM_CERTS ?= true
export NODE_USE_SYSTEM_CA ?= 1

.PHONY: help
help: ## List the commands
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | \
	while IFS='|' read -r name what; do printf '%-24s%s\n' "$$name" "$$what"; done

.PHONY: demo
demo: $(READY) ## Deploy both stacks into a local AWS, boot their nodes, remove them (no AWS account needed)
	@gpu-constructs local demo $(STACKS)

.PHONY: test
test: lint ## Check style and types, run every test
	@python -m tests.suite

# What needs neither the CDK command line nor the local AWS. One room of it: make check PATHS=tests/storage
PATHS ?= tests --ignore tests/bench --ignore tests/bundle --ignore tests/docs --ignore tests/examples --ignore tests/local
.PHONY: check
check: lint ## Check style and types, run the tests of rules and constructs, in a minute; of one room: PATHS=tests/storage
	@CDK_VALIDATION=false pytest $(PATHS) -q -n auto

.PHONY: lint
lint: $(READY) ## Check style and types
	@ruff check .
	@ruff format --check --quiet . || { echo "ruff format . would change files"; exit 1; }
	@mypy

.PHONY: synth
synth: $(READY) ## Write the templates of the examples to cdk.out
	@node_modules/.bin/cdk synth --quiet --no-notices $(STACKS) && echo "The templates are in cdk.out."

.PHONY: snapshot-update
snapshot-update: $(READY) ## Accept changed templates as the new snapshots; look at the diff before you commit it
	@pytest tests/examples -q --snapshot-update

.PHONY: bench
bench: $(READY) ## Time what users wait for: imports, rules, synthesis
	@CDK_VALIDATION=false pytest tests/bench --benchmark-only --benchmark-columns=min,median,max,rounds
	@CDK_VALIDATION=false python -m tests.bench.beside

.PHONY: lock
lock: $(READY) ## Take the newest versions that work together into the lock files
	@for group in dev uv; do \
	  uv pip compile pyproject.toml --group $$group $$(test $$group = dev && echo "--extra local") --output-file requirements/$$group.txt \
	    --universal --python-version 3.10 --generate-hashes --upgrade --quiet --custom-compile-command "make lock"; done
	@uv pip compile requirements/node.in --output-file requirements/node.txt \
	  --universal --python-version 3.10 --generate-hashes --upgrade --quiet --custom-compile-command "make lock"
	@npm update --save --package-lock-only

.PHONY: clean
clean: ## Remove everything that the other commands made
	@rm -rf $(VENV) node_modules cdk.out dist .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One line that says what is being done; the details go to a log; when it fails, one line that says what to do.
define step
@echo "$(1)"; { $(2); } >>$(LOG) 2>&1 || { echo "error: $(3) (details: $(LOG))" >&2; exit 1; }
endef

NO_PACKAGES := packages could not be installed; check the network, or name another package index in pip's configuration

$(READY): requirements/uv.txt requirements/dev.txt requirements/node.txt package-lock.json pyproject.toml
	@test -n "$(PYTHON)" || { echo "error: Python 3.10 or newer is needed and none is on PATH; install one, or name it: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	@$(PYTHON) -c '$(NEW_ENOUGH)' 2>/dev/null || { echo "error: $(PYTHON) is not Python 3.10 or newer; name another: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "error: $(PYTHON) lacks its venv module; install it (on Debian and Ubuntu: apt install python3-venv)" >&2; exit 1; }
	@mkdir -p $(VENV) && : >$(LOG)
	$(call step,Setting up 1/4: a virtual environment in $(VENV),$(PYTHON) -m venv $(VENV) && python -m pip install --require-hashes --requirement requirements/uv.txt,$(NO_PACKAGES))
	$(call step,Setting up 2/4: the locked Python packages and Node,index=$$(pip config list | sed -n "s/^[^ ]*\.index-url='\(.*\)'/\1/p" | tail -n 1) && UV_DEFAULT_INDEX=$${UV_DEFAULT_INDEX:-$$index} && export UV_DEFAULT_INDEX && { test -n "$$UV_DEFAULT_INDEX" || unset UV_DEFAULT_INDEX; } && uv pip sync --require-hashes requirements/dev.txt requirements/uv.txt && uv pip install --no-deps --no-build-isolation --editable .,$(NO_PACKAGES))
	$(call step,Setting up 3/4: the CDK command line,npm ci,the CDK command line could not be installed by npm; check the network, or name another registry in .npmrc)
	$(call step,Setting up 4/4: what nodes fetch when they boot,python -m gpu_constructs.bundle,$(NO_PACKAGES))
	@touch $(READY)
