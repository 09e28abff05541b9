PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)

.PHONY: venv demo test test-slow test-soak test-gpu test-browser lint docs bench clean

venv: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

demo: venv
	$(BIN)/jointclust demo --out build/demo --force

test: venv
	SCIPY_ARRAY_API=1 $(BIN)/pytest -m "not slow" -n 2

test-slow: venv
	SCIPY_ARRAY_API=1 $(BIN)/pytest -m slow

# Random fits for ten minutes; prints the seeds that fail.
test-soak: venv
	SCIPY_ARRAY_API=1 $(BIN)/python tests/soak.py

# On a machine with CUDA, torch and perhaps CuPy.
test-gpu: venv
	SCIPY_ARRAY_API=1 $(BIN)/pytest tests/rows/test_gpu.py

test-browser: venv
	@test -n "$(CHROMIUM)" || { echo "Chromium is missing: apt-get install chromium, or CHROMIUM=path"; exit 1; }
	JOINTCLUST_BROWSER=$(CHROMIUM) $(BIN)/pytest tests/browser

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: venv
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

bench: venv
	$(BIN)/python benchmarks/discriminative.py
	$(BIN)/python benchmarks/robust.py
	$(BIN)/python benchmarks/scoring.py
	$(BIN)/python benchmarks/soft.py
	$(BIN)/python benchmarks/consensus.py
	$(BIN)/python benchmarks/search.py cost
	$(BIN)/python benchmarks/scale.py growth --quick
	$(BIN)/python benchmarks/many_clusters.py

clean:
	rm -rf .venv build dist docs/_build docs/api docs/gallery
