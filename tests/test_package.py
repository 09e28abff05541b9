"""The package as a whole: what importing it costs, and which way imports point."""

import ast
import csv
import importlib.util
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import jointclust as jc

SOURCE = Path(jc.__file__).parent
ROOT = SOURCE.parent.parent

# Imports point one way: a module may import from layers before its own.
LAYERS = [
    {"arrays", "colours", "exceptions", "files", "metrics", "threads", "types"},
    {"rows", "linalg"},
    {"kmeans"},
    {"coordinates"},
    {"starts", "projection", "kernels", "graph", "criteria", "number"},
    {"alternating"},
    {"base"},
    {"joint", "embedded", "soft"},
    {"methods", "readers"},
    {"datasets"},
    {"path", "persistence", "consensus"},
    {"candidates", "stability", "default", "fitted"},
    {"search"},
    {"comparison"},
    {"plots", "report"},
    {"experiments"},
    {"cli"},
]


def layer(module):
    return next(i for i, names in enumerate(LAYERS) if module in names)


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "jointclust":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jointclust."):
            yield node.module.split(".")[1]


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_point_one_way(path):
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if own == "__init__":
        return
    for other in imported(path):
        assert other == own or layer(other) < layer(own), f"{own} imports {other}"


def test_import_is_light():
    """Nothing heavy comes in with jointclust that scikit-learn does not bring itself (it imports pandas if it can)."""

    def loaded(module):
        code = f"import sys, {module}; print(*sys.modules)"
        output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        return set(output.split())

    added = loaded("jointclust") - loaded("sklearn.cluster")
    assert not added & {
        "torch",
        "dask",
        "matplotlib",
        "pandas",
        "polars",
        "skops",
        "cupy",
        "rich",
        "click",
        "pyarrow",
        "h5py",
        "pooch",
        "requests",
        "PIL",
    }


def test_version_and_names():
    assert re.fullmatch(r"\d+\.\d+\.\d+", jc.__version__)
    assert jc.__version__ in (ROOT / "CITATION.cff").read_text()
    assert jc.__version__ in (ROOT / "CHANGELOG.md").read_text()
    for name in jc.__all__:
        assert hasattr(jc, name)


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.rst")), *sorted((ROOT / "docs" / "methods").glob("*.rst"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run(page, tmp_path, monkeypatch):
    """Every Python block of a page runs, in order, in one namespace."""
    text = page.read_text()
    if page.suffix == ".md":
        blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    else:
        blocks = re.findall(r"\.\. code-block:: python\n\n((?:   .*\n|\n)+)", text)
        blocks = [textwrap.dedent(block) for block in blocks]
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for block in blocks:
        needed = re.match(r"# needs (\w+)", block)  # other projects, which our tests do not install
        if needed and importlib.util.find_spec(needed[1]) is None:
            continue
        exec(compile(block, page.name, "exec"), namespace)


def test_numbers_in_the_readme_are_measured():
    """Every row of the table against the alternatives is in the evidence, as it stands there."""
    evidence = ROOT / "docs" / "evidence"
    with (evidence / "settings.csv").open() as stream:
        known = {
            row["setting"]: (float(row["accuracy"]), float(row["worst against k-means"]))
            for row in csv.DictReader(stream)
        }
    with (evidence / "consensus.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    gains = [float(row["difference"]) for row in rows]
    known["consensus"] = (sum(float(row["consensus"]) for row in rows) / len(rows), min(gains))
    table = re.findall(
        r"^\|.*\| `(.*)` \| \**([\d.]+)\** \| ([+-][\d.]+) \|$", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    assert len(table) == 7
    for setting, accuracy, worst in table:
        assert (float(accuracy), float(worst)) == pytest.approx(known[setting], abs=6e-4), setting
