"""Which way imports point: what runs experiments knows no paper, and nothing imports in a circle."""

import ast
import graphlib
from pathlib import Path

import jointclust_papers

SOURCE = Path(jointclust_papers.__file__).parent
PATHS = {".".join(path.relative_to(SOURCE).with_suffix("").parts): path for path in SOURCE.rglob("*.py")}


def imported(path):
    """Modules of this package that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module.partition(".")[0] == "jointclust_papers":
            for alias in node.names:
                inner = f"{node.module}.{alias.name}".partition(".")[2]
                yield inner if inner in PATHS else node.module.partition(".")[2]


IMPORTS = {name: set(imported(path)) for name, path in PATHS.items()}


def test_experiments_know_no_paper():
    experiments = {name for name in IMPORTS if name.startswith("experiments.")}
    assert set().union(*(IMPORTS[name] for name in experiments)) - {"experiments"} <= experiments


def test_no_cycle():
    assert len(list(graphlib.TopologicalSorter(IMPORTS).static_order())) > 20
