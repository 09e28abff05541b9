PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)

.PHONY: venv demo test test-slow test-soak test-fuzz test-gpu test-browser test-lowest test-bertopic package lint evidence-check docs bench judge clean

venv: $(STAMP)

$(STAMP): pyproject.toml papers/pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[dev]' --editable papers
	touch $@

demo: venv
	$(BIN)/jointclust demo --out build/demo --force

test: venv
	SCIPY_ARRAY_API=1 $(BIN)/pytest -m "not slow" -n 2

test-slow: venv
	SCIPY_ARRAY_API=1 $(BIN)/pytest -m slow

# Damaged files, ten minutes for each part; prints the seeds that fail.
test-fuzz: venv
	$(BIN)/python tests/fuzz.py

# Random fits for ten minutes; prints the seeds that fail.
test-soak: venv
	SCIPY_ARRAY_API=1 $(BIN)/python tests/soak.py

# On a machine with CUDA, torch and perhaps CuPy.
test-gpu: venv
	SCIPY_ARRAY_API=1 $(BIN)/pytest tests/rows/test_gpu.py

test-browser: venv
	@test -n "$(CHROMIUM)" || { echo "Chromium is missing: apt-get install chromium, or CHROMIUM=path"; exit 1; }
	JOINTCLUST_BROWSER=$(CHROMIUM) $(BIN)/pytest tests/browser
	JOINTCLUST_BROWSER=$(CHROMIUM) $(BIN)/pytest papers/tests/browser

# The core alone, at the lowest versions that pyproject.toml allows; tests bring data frames along.
test-lowest:
	$(PYTHON) -m venv build/lowest
	build/lowest/bin/pip install --quiet $$($(PYTHON) .ci/lowest.py) pytest hypothesis "pandas==2.2.*"
	build/lowest/bin/pip install --quiet --no-deps --editable .
	build/lowest/bin/pip check
	SCIPY_ARRAY_API=1 build/lowest/bin/pytest tests/methods tests/consensus/test_cluster.py tests/consensus/test_consensus.py

# Against the real package, in an environment of its own: it brings a great deal along.
test-bertopic:
	$(PYTHON) -m venv build/bertopic
	build/bertopic/bin/pip install --quiet torch==2.13.0 bertopic anndata pytest matplotlib --editable .
	build/bertopic/bin/pytest tests/consensus/test_bertopic.py "tests/test_docs.py::test_code_blocks_run[pipelines.rst]"

# Wheels and sdists of the library and of the papers; each wheel, built from its sdist, in an environment with nothing but
# what it asks for.
package: venv
	rm -rf dist build/clean build/clean-demo
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --outdir dist papers
	$(PYTHON) -m venv build/clean
	build/clean/bin/pip install --quiet dist/jointclust-*.whl
	build/clean/bin/pip check
	cd build && clean/bin/python ../.ci/installed.py
	cd build && clean/bin/jointclust demo --quiet --out clean-demo
	build/clean/bin/pip install --quiet dist/jointclust_papers-*.whl
	cd build && clean/bin/jointclust reproduce --list
	@tar -tzf dist/jointclust-*.tar.gz | grep -q '/CONTRIBUTING.md' && tar -tzf dist/jointclust-*.tar.gz | grep -q '/Makefile'

lint: venv
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Figures in README.md and docs against the CSV files of docs/evidence; `.ci/evidence.py --fix` corrects them.
evidence-check: venv
	$(BIN)/python .ci/evidence.py

docs: venv
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	@! grep -rlE '<(script|link|img|iframe)[^>]*(src|href)="https?:' --include='*.html' docs/_build/html || { echo "These pages ask the network."; exit 1; }
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

# The judge, learned again from planted draws into src/jointclust/judge/judge.npz: about a quarter of an hour on two
# idle cores; QUICK=1 draws a quarter of it. What is measured is kept in build/judge, so that a stopped run goes on.
judge: venv
	$(BIN)/python benchmarks/judge_learning.py --folder build/judge $(if $(QUICK),--draws 400)

clean:
	rm -rf .venv build dist docs/_build docs/api docs/gallery
