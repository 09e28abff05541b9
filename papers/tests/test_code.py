"""Keys of cells change with the code that makes their results, and with no other."""

import ast
import importlib
import json
import shutil
from pathlib import Path

import pytest
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jointclust as jc
from jointclust_papers.experiments import Experiment, code

SOURCE = Path(jc.__file__).parent


def files(module):
    found = code._files(module)
    return {str(path.relative_to(root)) for root in code.ROOTS.values() for path in found if root in path.parents}


def test_imports_are_followed_and_no_more():
    result = files("jointclust.methods.scoring")
    assert {"methods/scoring.py", "methods/scoring_embeddings.py", "numerics/kmeans.py", "rows/__init__.py"} <= result
    assert not {"methods/ridge.py", "consensus/estimator.py", "showing/plots.py", "__init__.py"} & result
    # What a package has of its own is in its __init__; its modules are files of theirs.
    assert {"datasets/__init__.py", "experiments/journal.py"} <= files("jointclust_papers.experiments.experiment")


def test_installed_packages_are_known_by_their_version():
    assert code.digest(["sklearn.cluster._kmeans", "numpy"]) == code.digest([])
    assert code.digest(["nowhere.to.be.found"]) == code.digest([])


EDITS = [
    ("methods/ridge.py", "_MOST = 99\n", {"ridge"}),
    ("numerics/kmeans.py", "def more():\n    return 1\n", {"ridge", "scoring"}),
    ("methods/ridge.py", "# A comment.\n", set()),
    ("showing/plots.py", "MORE = 1\n", set()),
    ("methods/supervised.py", "MORE = 1\n", set()),
]


def test_an_edited_method_is_another_one(tmp_path, monkeypatch):
    copied = tmp_path / "jointclust"
    shutil.copytree(SOURCE, copied, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setitem(code.ROOTS, "jointclust", copied)

    def digests():
        forget()
        return {name: code.digest([f"jointclust.methods.{name}"]) for name in ("ridge", "scoring")}

    before = digests()
    for edited, words, changes in EDITS:
        with (copied / edited).open("a") as file:
            file.write(words)
        after = digests()
        assert {name for name in before if before[name] != after[name]} == changes, edited
        before = after


def forget():
    for cached in (code._of_all, code._files, code._text, code._imported):
        cached.cache_clear()


@pytest.fixture(autouse=True)
def _nothing_remembered():
    yield
    forget()


def test_docstrings_do_not_count(tmp_path):
    texts = ['"""One."""\ndef f():\n    """Two."""\n    return 1\n', "def f():\n    return 1  # three\n"]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.py").write_text(text)
    one, other = (code._text(tmp_path / f"{number}.py") for number in range(2))
    assert one == other
    assert ast.parse(one)


def test_keys_hold_the_code_of_every_part_and_of_the_references():
    def key(estimator, **options):
        (cell,) = Experiment({"a": estimator}, ["iris"], [0], **options).cells()
        return json.loads(cell.key)[1]

    plain = key(KMeans(n_init=1), label_free=False)
    assert plain == code.digest(["jointclust.metrics"])
    assert key(KMeans(n_init=1)) != plain
    ours = key(jc.LDAKMeans(), label_free=False)
    assert ours != plain
    assert key(make_pipeline(StandardScaler(), jc.LDAKMeans()), label_free=False) == ours


MODULE = """
from sklearn.cluster import KMeans
class Mine(KMeans):
    pass
"""


def test_own_modules_count_too(tmp_path, monkeypatch):
    (tmp_path / "mine_alone.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("mine_alone")
    before = code.digest(["mine_alone"])
    assert before != code.digest([])
    (tmp_path / "mine_alone.py").write_text(MODULE.replace("pass", "more = 1"))
    forget()
    assert code.digest(["mine_alone"]) != before
