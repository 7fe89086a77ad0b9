# Two targets do all the set-up: `make demo` (the main job, no server, no root) and `make test`
# (everything the tests need, then all tests). `make test LONG=1` adds the long mode.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test lint golden bench clean

demo: $(VENV)/.product
	PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh

test: $(VENV)/.tests
	$(BIN)/python -m tests.slurm_site install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
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

$(VENV)/.product: $(VENV)/bin/python pyproject.toml $(shell find compiler schemas templates -type f -not -name '*.pyc')
	$(BIN)/python -m pip install --quiet --disable-pip-version-check .
	@touch $@

# Editable, so that the tests see the checkout; pulumi comes with the extra.
$(VENV)/.tests: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[pulumi]" --group test
	@touch $@ $(VENV)/.product

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache
