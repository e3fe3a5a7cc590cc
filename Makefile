# One entry point a job. Everything runs in a virtual environment of its own, made on first use.

PYTHON ?= python3
VENV ?= .venv
GAME ?= card
RAY_VENV ?= .venv-ray
BIN = $(VENV)/bin

.PHONY: help setup demo test compiled soak mutants attack examples data-check dist-check check format lint types tables site docs notebooks bench clean
.PHONY: wasm web web-test rllib-setup rllib-test rllib-demo rllib-throughput wasm-check web-engine-test

help:
	@echo "make demo        train an opponent for three minutes, measure it, keep everything in runs/demo-$(GAME)"
	@echo "make test        all tests"
	@echo "make soak        10^9 random decisions of both games, each checked in compiled code"
	@echo "make mutants     break every rule on purpose and show which changes no test notices (most of an hour)"
	@echo "make attack      damage files and caches, play agents that mean harm, close streams: some minutes"
	@echo "make examples    train with stable-baselines3, PyTorch and TorchRL: each must beat an agent (some minutes)"
	@echo "make data-check  read tables with pandas, Polars and datasets, and learn from one until it beats greedy"
	@echo "make dist-check  build wheel and source archive into dist/, and test both in an empty environment"
	@echo "make rllib-demo  train both games with RLlib on a local Ray cluster of two machines, and kill a worker on the way"
	@echo "make check       tests, format, lint, strict types, docs in step with the code"
	@echo "make bench       the speed table, beside other libraries"
	@echo "make docs        write the generated tables and pictures of the docs anew, and build the site in site/"
	@echo "make wasm        build the WebAssembly modules of both games, and what a page is told of them"
	@echo "make web         build the page that the package serves (needs node 20 or newer)"
	@echo "make web-test    play on the page with Chromium, on a small and a large window (some minutes)"
	@echo "make wasm-check  build them again: the same bytes; and play 400 games of each beside Python (most of an hour)"
	@echo "make web-engine-test  play in TypeScript under node what Python has played: the same games, choices and records"
	@echo "make notebooks   run the notebooks and keep their outputs"
	@echo "make format      format the code"
	@echo "make clean       remove the virtual environments"
	@echo "make demo and make bench are about the card game; with GAME=board about the board game"

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: setup
	$(BIN)/siberia demo $(GAME)

# What many tests need is compiled before they start, once and not by each of them.
compiled: setup
	$(BIN)/python -m tests.compiling

# A worker a processor, so torch takes one thread for each. Bytecode is kept whatever the environment says: the tests
# start some hundred programs.
compiled test: export PYTHONDONTWRITEBYTECODE =
test: export OMP_NUM_THREADS ?= 1
test: setup compiled
	$(BIN)/python -m pytest -n logical --maxprocesses 8 --dist worksteal --nbmake --nbmake-timeout 60 notebooks tests

soak: setup
	$(BIN)/python -m tests.soak

mutants: setup
	$(BIN)/python -m tests.mutation

# Without atheris, which is not there for every Python, files are damaged at random alone.
attack: setup
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[fuzz]'
	$(BIN)/python -m tests.attack

data-check: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[readers]'
	$(BIN)/python -m tests.data_check

# TESTS chooses other tests than all.
dist-check: setup
	$(BIN)/python -m tests.dist_check $(TESTS)

examples: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[trainers]'
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.examples

# What needs one processor runs beside the compilers.
check: setup
	$(MAKE) -j2 compiled lint types site
	$(MAKE) test

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/python docs/write_tables.py --check

types: setup
	$(BIN)/mypy

format: setup
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

tables: setup
	$(BIN)/python docs/write_tables.py
	$(BIN)/python docs/write_pictures.py

# With --quiet, --strict would not see the warnings that it is to refuse.
site: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

docs: tables site

notebooks: setup
	$(BIN)/python docs/run_notebooks.py

# Modules are built anew only if one of their sources has changed.
wasm: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[web]'
	$(BIN)/python -m siberia_experiments.web.build

# Needs node. Records of games that TypeScript has played are replayed by Python.
web-engine-test: setup
	cd web && npm ci --no-audit --no-fund
	@mkdir -p .cache
	$(BIN)/python -m tests.web_cases .cache/web_cases.json
	node web/tests/engine.mjs .cache/web_cases.json .cache/web_games.jsonl
	$(BIN)/siberia replay .cache/web_games.jsonl --quiet

# The modules built again are the same bytes, and play the same games as Python.
wasm-check: wasm
	$(BIN)/python -m siberia_experiments.web.build --check
	$(BIN)/python -m tests.wasm_games --games 400

bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	$(BIN)/siberia bench $(GAME)

rllib-setup: $(RAY_VENV)/.ready

$(RAY_VENV)/.ready: pyproject.toml constraints-ray.txt
	$(PYTHON) -m venv $(RAY_VENV)
	$(RAY_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints-ray.txt --editable '.[ray]' pytest hypothesis
	@touch $@

# Ray runs its workers with the lowest priority of all unless it is told otherwise: where something else runs too, they
# would hardly get on.
rllib-test rllib-demo rllib-throughput: export RAY_worker_niceness ?= 0

rllib-test: rllib-setup
	$(RAY_VENV)/bin/python -m pytest tests/on_ray.py

rllib-demo: rllib-test
	$(RAY_VENV)/bin/python -m siberia_experiments.rllib.demo

rllib-throughput: rllib-setup
	$(RAY_VENV)/bin/python -m siberia_experiments.rllib.throughput $(GAME) --workers 1,2

# The page goes into the package, so nobody who plays needs node.
web: setup
	$(BIN)/python -m siberia_experiments.web.words web/src/data
	cd web && npm ci --no-audit --no-fund && npm run check && npm run build
	$(BIN)/python -m siberia_experiments.web.built

web-test: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[browser]'
	$(BIN)/python -m pytest tests/in_browser.py

clean:
	rm -rf $(VENV) $(RAY_VENV)
