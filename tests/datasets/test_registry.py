"""What the registry says of the data sets, and the files that their public sources have."""

import csv
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from jointclust import datasets

ROWS, LABELS = np.arange(24.0).reshape(8, 3), np.array([5, 5, 2, 2, 2, 9, 9, 9])


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("JOINTCLUST_CACHE", str(tmp_path_factory.mktemp("cache")))


PAPERS = {
    "DEC": ["Umist", "Coil20", "Isolet", "Corel", "Pollen", "Orl"],
    "EC": ["AT&T", "COIL20", "COIL100", "FEI", "IMM", "YALE", "AR", "GT", "USPS"],
    "ODC": ["ORL", "Yale", "PIE", "SRBCT", "Iris", "Yeast", "Image segmentation", "Statlog landsat satellite"],
    "RURR-SL": ["IMM", "AT&T", "FLOWER17", "COLON", "GT", "ETHZ53", "FEI", "GLIOMA"],
}


@pytest.mark.parametrize(("paper", "name"), [(paper, name) for paper, names in PAPERS.items() for name in names])
def test_every_set_of_the_papers_is_registered(paper, name):
    entry = datasets.registry()[datasets.canonical(name)]
    assert paper in entry.papers
    assert entry.source
    assert entry.terms
    assert (entry.url is None) == (entry.format is None)


def test_shorter_names():
    assert datasets.canonical("Statlog satellite") == "satellite"
    assert datasets.canonical("image-segmentation") == "segmentation"


@pytest.mark.parametrize("name", ["fei", "ar", "pie", "corel", "coil100", "srbct"])
def test_bring_your_own(name, tmp_path, monkeypatch):
    monkeypatch.delenv("JOINTCLUST_DATA", raising=False)
    entry = datasets.registry()[name]
    with pytest.raises(datasets.DatasetError) as caught:
        datasets.load(name.upper(), tmp_path)
    for part in (entry.source, entry.terms, f"{name}.mat", "X (rows by features) and y (labels)", str(tmp_path)):
        assert part in str(caught.value)
    assert ("must not be passed on: apply" in str(caught.value)) == (name in ("fei", "ar", "pie"))
    assert datasets.present(name, tmp_path) is None
    scipy.io.savemat(tmp_path / f"{name}.mat", {"X": ROWS, "y": LABELS})
    assert datasets.load(name, tmp_path).n_classes == 3
    assert datasets.present(name.upper(), tmp_path) == str(tmp_path / f"{name}.mat")


def test_columns_of_different_types_are_a_data_frame(tmp_path, monkeypatch):
    monkeypatch.delenv("JOINTCLUST_DATA", raising=False)
    with pytest.raises(datasets.DatasetError, match=r"german.csv with the classes in column CLASS"):
        datasets.load("german", tmp_path)
    (tmp_path / "german.csv").write_text("purpose,amount,CLASS\ncar,5,good\nradio,,bad\ncar,9,bad\n")
    (tmp_path / "other.csv").write_text("a,CLASS\n1,2\n")
    assert "german" in datasets.names(tmp_path)
    assert "other" not in datasets.names(tmp_path)
    data = datasets.load("German", tmp_path, dtype=np.float32)
    assert data.data["purpose"].tolist() == ["car", "radio", "car"]
    assert data.data["amount"].dtype == np.float32
    assert data.feature_names.tolist() == list(data.data.columns) == ["purpose", "amount"]
    assert data.target.tolist() == [1, 0, 0]
    result = datasets.fingerprint(data.data, data.target)
    assert datasets.fingerprint(datasets.load("german", tmp_path).data, ["x", "y", "y"]) == result
    for column, value in (("purpose", "bus"), ("amount", 4)):
        other = data.data.copy()
        other.loc[2, column] = value
        assert datasets.fingerprint(other, data.target) != result


def test_own_names_come_first(tmp_path):
    np.savez(tmp_path / "isolet5.npz", X=ROWS, y=LABELS)
    assert datasets.load("Isolet", tmp_path).name == "isolet5"
    np.savez(tmp_path / "Isolet.npz", X=ROWS[:4], y=LABELS[:4])
    assert datasets.load("Isolet", tmp_path).name == "Isolet"


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.permutations(range(5)))
def test_checksum_is_of_the_contents(labels, codes):
    X = np.arange(2.0 * len(labels)).reshape(-1, 2)
    result = datasets.fingerprint(X, labels)
    assert datasets.fingerprint(np.asfortranarray(X, dtype=np.uint8), [f"class {codes[y]}" for y in labels]) == result
    assert datasets.fingerprint(X + np.eye(*X.shape), labels) != result
    assert datasets.fingerprint(X, [5, *labels[1:]]) == result or labels.count(labels[0]) > 1
    assert datasets.fingerprint(sp.csr_array(X), labels) == datasets.fingerprint(sp.csr_array(X), labels) != result


@pytest.fixture
def measured():
    """Our own table of the data sets, or skips."""
    path = Path(os.environ.get("JOINTCLUST_DATA", "")) / "MANIFEST.csv"
    if not path.is_file():
        pytest.skip("JOINTCLUST_DATA names no folder with MANIFEST.csv")
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.mark.slow
def test_registry_is_true(measured):
    """Sizes and checksums are those of the files that were measured, and sources those they were taken from."""
    for row in measured:
        entry = datasets.registry()[row["name"]]
        size = (entry.n_samples, entry.n_features, entry.n_classes)
        assert size == (int(row["n"]), int(row["D"]), int(row["classes"])), row["name"]
        data = datasets.load(row["name"], dtype=np.float32)
        assert datasets.fingerprint(data.data, data.target) == entry.sha256, row["name"]
        assert {paper.split(" (")[0] for paper in row["papers"].split("; ") if paper[0] != "("} == set(entry.papers)
        if entry.url is not None:
            repository, _, rest = row["source"].partition(":")
            path, _, commit = rest.partition(" @")
            assert entry.url.startswith(f"https://raw.githubusercontent.com/{repository}/{commit}"), row["name"]
            assert entry.url.endswith(f"/{path}")


# -- files of public sources, as they are there ------------------------------------------------------------------


def write_source(folder, entry, X, y):
    """A file in the format of the public source."""
    path, rows = folder / entry.file_name, list(zip(X, y, strict=True))
    if entry.format == "mat":
        scipy.io.savemat(path, {"X": X.astype(float), "Y": y[:, None] + 1})
    elif entry.format == "usps":
        scipy.io.savemat(path, {"usps_all": np.column_stack([X, y])})
    elif entry.format == "yeast":
        lines = [f"P{i}_YEAST  {'  '.join(map(str, row))}  K{label}" for i, (row, label) in enumerate(rows)]
        path.write_text("\n".join(lines) + "\n")
    elif entry.format == "segmentation":
        head = ";;; a comment, 1990\n\n" + ",".join(f"NAME-{i}" for i in range(19)) + "\n\n"
        path.write_text(head + "\n".join(f"K{label},{','.join(map(str, row))}" for row, label in rows))
    elif entry.format == "satellite":
        head = "\t".join(map(str, range(1, 38))) + "\n"
        path.write_text(head + "\n".join("\t".join(map(str, [*row, label + 1])) for row, label in rows))
    else:
        raise AssertionError(entry.format)


SOURCES = [entry.name for entry in datasets.registry().values() if entry.format not in (None, "faces")]


@pytest.mark.parametrize("name", SOURCES)
def test_files_of_sources(name, tmp_path, rng):
    entry = datasets.registry()[name]
    X, y = rng.randint(0, 255, size=(9, entry.n_features)), np.array([0, 3, 3, 1, 1, 2, 2, 0, 0])
    write_source(tmp_path, entry, X, y)
    assert name in datasets.names(tmp_path)
    data = datasets.load(name, tmp_path)
    assert data.name == name
    assert datasets.fingerprint(data.data, data.target) == datasets.fingerprint(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("name", SOURCES)
def test_numbers_survive_the_format_of_the_source(name, tmp_path, real_data):
    data, entry = real_data(name), datasets.registry()[name]
    write_source(tmp_path, entry, data.data, data.target)
    loaded = datasets.load(name, tmp_path)
    assert datasets.fingerprint(loaded.data, loaded.target) == entry.sha256


@pytest.mark.parametrize("name", ["imm", "gt"])
def test_stacks_of_faces(name, tmp_path, rng):
    entry = datasets.registry()[name]
    stack = np.zeros((48, 64, 6))
    stack[:, :32] = np.arange(40, 100, 10)
    scipy.io.savemat(tmp_path / entry.file_name, {"x": stack, "label": np.array([1, 1, 2, 2, 3, 3])})
    data = datasets.load(name, tmp_path)
    assert data.data.shape == (6, 1024)
    assert data.target.tolist() == [0, 0, 1, 1, 2, 2]
    np.testing.assert_array_equal(data.data.reshape(6, *data.image_shape)[:, 7, 3], np.arange(40, 100, 10))
    assert data.data.reshape(6, *data.image_shape)[:, 7, -3].max() == 0
    scipy.io.savemat(tmp_path / entry.file_name, {"x": stack, "label": np.array([1, 1])})
    with pytest.raises(ValueError, match=r"x \(48 x 64 x 6\), label \(1 x 2\)"):
        datasets.load(name, tmp_path)


@pytest.mark.parametrize(
    ("name", "content"), [("yeast", "a b c"), ("yeast", "P " + "x " * 8 + "MIT"), ("usps", "none")]
)
def test_bad_files_of_sources(name, content, tmp_path):
    (tmp_path / datasets.registry()[name].file_name).write_text(content)
    with pytest.raises(ValueError, match="has no line of 10 cells|cannot be read"):
        datasets.load(name, tmp_path)
