# Two targets do all the set-up: `make demo` (the main job, no server, no root) and `make test`
# (everything the tests need, then all tests). `make test LONG=1` adds the long mode.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --quiet --disable-pip-version-check

# A checkout that was moved or copied has an environment of its old place: it is made anew.
MADE_FOR := $(shell cat "$(VENV)/.made-for" 2>/dev/null)
ifneq ($(MADE_FOR),)
ifneq ($(MADE_FOR),$(CURDIR))
$(shell rm -rf "$(VENV)")
endif
endif

.PHONY: demo test lint golden bench clean
.DELETE_ON_ERROR:

demo: $(VENV)/.product
	PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

# Only root can run Slurm's daemons and a node of Kubernetes; for others those tests are skipped.
test: lint
	[ "$$(id -u)" != 0 ] || $(BIN)/python -m tests.slurm_site install
# Ten minutes once; what it builds outlives the checkout.
	[ "$$(id -u)" != 0 ] || $(BIN)/python -m tests.kubernetes_site install
	[ "$$(id -u)" != 0 ] || $(BIN)/python -m tests.browser install
	$(BIN)/python -m pytest $(if $(LONG),--long) $(PYTEST)

# Rewrites every golden file; read the difference before you commit it.
golden: $(VENV)/.tests
	$(BIN)/python -m pytest tests/golden --update-golden

lint: $(VENV)/.tests
	$(BIN)/ruff check . && $(BIN)/ruff format --check .

bench: $(VENV)/.tests
	$(BIN)/python -m bench

$(VENV)/bin/python:
	sh tests/make_venv.sh "$(PYTHON)" "$(VENV)"
	@echo "$(CURDIR)" >"$(VENV)/.made-for"

# Editable, so that neither the demo nor the tests ever run an older copy of the checkout.
$(VENV)/.product: $(VENV)/bin/python pyproject.toml
	$(PIP) install --editable .
	@touch $@

# pulumi comes with the extra.
$(VENV)/.tests: $(VENV)/bin/python pyproject.toml
	$(PIP) install --upgrade "pip>=25.1"
	$(PIP) install --editable ".[pulumi]" --group test
	@touch $@ $(VENV)/.product

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache
