# Everything lives in .venv, made on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DEV_READY := $(VENV)/.dev-ready
CORE := $(wildcard engine/core/*)
PIP := $(BIN)/pip --disable-pip-version-check --quiet

.PHONY: tournament test check proto spec-schema fuzz fuzz-wire simulate bench faults constraints clean

tournament: $(READY)  ## Sets all up and plays a tournament of the example bots.
	$(BIN)/arena run-tournament

test: $(DEV_READY)  ## Sets all up and runs the tests; TESTS=tests/engine: only those.
	$(BIN)/python -m pytest -n auto --dist worksteal $(TESTS)

check: $(DEV_READY)  ## Linters, types, layers, protocol.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/buf lint proto
	$(BIN)/buf format --diff --exit-code proto

proto: $(DEV_READY)  ## Generates sdk/arena/v1 from proto/, and copies it to bots that read it.
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m grpc_tools.protoc -Iproto --python_out=sdk --grpc_python_out=sdk \
	  --mypy_out=sdk --mypy_grpc_out=sdk proto/arena/v1/*.proto
	cp proto/arena/v1/referee.proto example_bots/languages/node/

spec-schema: $(DEV_READY)  ## Generates the JSON schema of the spec file.
	$(BIN)/python -m arena_server.coordinator.spec_schema

fuzz: $(DEV_READY)  ## Fuzzes parsers and both cores for an hour; FUZZ=600 for ten minutes.
	$(BIN)/python tests/engine/fuzz/targets.py -max_total_time=$(or $(FUZZ),3600)

fuzz-wire: $(DEV_READY)  ## Asks a standing server nonsense made from the protocol, a minute of each kind; SECONDS=600 for ten.
	ARENA_FUZZ_SECONDS=$(or $(SECONDS),60) $(BIN)/python -m pytest -q -s --timeout 0 tests/security/test_fuzz.py

simulate: $(DEV_READY)  ## Plays simulated tournaments under scripted faults, an hour or so; SEEDS=5000 for less.
	@PYTHONPATH=tests/support $(BIN)/python -m simulated $(or $(SEEDS),50000)

bench: $(DEV_READY)  ## Measures against floors of the same run; writes bench.json. PARTS=engine: only that.
	@$(PIP) install -c constraints.txt -e '.[dev,postgres,bench]'
	$(BIN)/python benchmarks/run.py $(PARTS)

faults: $(DEV_READY)  ## Measures what must hold under faults; writes faults.json. PARTS=kills KILLS=50: one part, fewer kills.
	$(BIN)/python benchmarks/run_faults.py $(PARTS)

constraints:  ## Writes the exact set of a fresh installation.
	rm -rf $(VENV) && $(PYTHON) -m venv $(VENV) && $(PIP) install -e '.[dev,postgres]'
	(head -n 1 constraints.txt && $(BIN)/pip freeze --exclude-editable) > constraints.new && mv constraints.new constraints.txt
	touch $(READY) $(DEV_READY)

clean:
	rm -rf $(VENV) build dist *.egg-info

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or \
	  sys.exit("arena: Python %d.%d is too old - install 3.11 or later, or name it: make PYTHON=python3.12" % sys.version_info[:2])'
	@echo "Setting up $(VENV), a minute or so ..."
	@$(PYTHON) -m venv $(VENV)

$(READY): pyproject.toml constraints.txt $(CORE) | $(VENV)/bin/python
	@$(PIP) install -c constraints.txt -e .
	@touch $@

$(DEV_READY): pyproject.toml constraints.txt $(CORE) | $(VENV)/bin/python
	@$(PIP) install -c constraints.txt -e '.[dev,postgres]'
	@touch $@ $(READY)
