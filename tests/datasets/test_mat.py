"""MATLAB files as data sets."""

from contextlib import contextmanager

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from jointclust import datasets, readers


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("JOINTCLUST_CACHE", str(tmp_path_factory.mktemp("cache")))


ROWS, LABELS = np.arange(24.0).reshape(8, 3), np.array([5, 5, 2, 2, 2, 9, 9, 9])


@pytest.mark.parametrize(
    "content",
    [
        {"X": ROWS, "y": LABELS},
        {"X": ROWS, "Y": LABELS[:, None]},
        {"fea": ROWS, "gnd": LABELS[:, None], "rand": np.eye(4)},
        {"data": ROWS, "labels": LABELS},
        {"features": ROWS.T, "gt": LABELS},
        {"X": ROWS.astype(np.uint8), "Label": LABELS.astype(float)},
        {"X": ROWS, "Y": np.array([[0, 1, 0]] * 2 + [[1, 0, 0]] * 3 + [[0, 0, 1]] * 3)},
        {"X": ROWS.T, "Y": np.array([[0, 1, 0]] * 2 + [[1, 0, 0]] * 3 + [[0, 0, 1]] * 3).T},
        {"X": ROWS, "y": np.array(["mid"] * 2 + ["cat"] * 3 + ["zoo"] * 3, dtype=object)},
        {"X": sp.csc_array(ROWS), "y": LABELS},
    ],
)
def test_matlab_files(tmp_path, content):
    scipy.io.savemat(tmp_path / "own.mat", content)
    data = datasets.load("own", tmp_path)
    np.testing.assert_array_equal(data.data.toarray() if sp.issparse(data.data) else data.data, ROWS)
    assert data.target.tolist() == [1, 1, 0, 0, 0, 2, 2, 2]
    assert "own" in datasets.names(tmp_path)


@contextmanager
def version_7_3(path):
    with h5py.File(path, "w", userblock_size=512) as file:
        yield file
    with path.open("rb+") as stream:  # as MATLAB marks them
        stream.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


def add(parent, name, value, kind, **attributes):
    stored = parent.create_group(name) if value is None else parent.create_dataset(name, data=value)
    stored.attrs.update({"MATLAB_class": np.bytes_(kind), **attributes})
    return stored


def add_cell(file, texts):
    """Cells as MATLAB stores them: references to what is among #refs#."""
    references = []
    for index, text in enumerate(texts):
        letters = np.array([[ord(letter)] for letter in text], dtype=np.uint16)
        stored = add(file, f"#refs#/{index}", letters if text else np.zeros(2, np.uint64), "char")
        stored.attrs["MATLAB_empty"] = np.uint8(not text)
        references.append(stored.ref)
    add(file, "y", np.array([references], dtype=h5py.ref_dtype), "cell")


def add_sparse(file, S):
    group = add(file, "X", None, "double", MATLAB_sparse=np.uint64(S.shape[0]))
    group["jc"] = S.indptr.astype(np.uint64)
    if S.nnz:
        group["data"], group["ir"] = S.data, S.indices.astype(np.uint64)


def test_matlab_files_of_version_7_3(tmp_path):
    with version_7_3(tmp_path / "own.mat") as file:
        file["X"], file["y"] = ROWS.T, LABELS[None, :]
    data = datasets.load("own", tmp_path)
    np.testing.assert_array_equal(data.data, ROWS)
    assert data.target.tolist() == [1, 1, 0, 0, 0, 2, 2, 2]


@pytest.mark.parametrize("rows", [ROWS, np.zeros((8, 3))])
@pytest.mark.parametrize("text", ["mid", ""])
def test_sparse_rows_and_cells_of_version_7_3(tmp_path, rows, text):
    with version_7_3(tmp_path / "own.mat") as file:
        add_sparse(file, sp.csc_array(rows))
        add_cell(file, [text] * 2 + ["\u00e9t\u00e9"] * 3 + ["zoo"] * 3)
    data = datasets.load("own", tmp_path)
    np.testing.assert_array_equal(data.data.toarray(), rows)
    assert data.target.tolist() == [0, 0, 2, 2, 2, 1, 1, 1]
    assert readers.read(tmp_path / "own.mat", label_column="y").classes.tolist()[1:3] == [text, "\u00e9t\u00e9"]


def test_letters_of_version_7_3(tmp_path):
    with version_7_3(tmp_path / "own.mat") as file:
        add(file, "X", ROWS.T, "double")
        add(file, "y", np.array([[ord(letter) for letter in "xxabcpqr"], [ord("_")] * 8], np.uint16), "char")
    assert datasets.load("own", tmp_path).target.tolist() == [6, 6, 0, 1, 2, 3, 4, 5]


def test_what_version_7_3_holds_is_listed(tmp_path):
    with version_7_3(tmp_path / "own.mat") as file:
        add(file, "X", None, "struct")
        add(file, "fea", np.zeros((3, 8), dtype=[("real", float), ("imag", float)]), "double")
        add(file, "#refs#/a", np.eye(2), "double")
        add(file, "y", np.array([[file["#refs#/a"].ref]], dtype=h5py.ref_dtype), "cell")
        add(file, "gnd", np.zeros(2, np.uint64), "double", MATLAB_empty=np.uint8(1))
    listed = r"X \(struct\), fea \(complex\), gnd \(0 x 0\), y \(cell, in version 7.3: save with -v7\): a matrix X"
    with pytest.raises(ValueError, match=listed):
        datasets.load("own", tmp_path)


def test_hdf5_that_is_not_matlabs(tmp_path):
    with h5py.File(tmp_path / "own.mat", "w") as file:
        file["X"], file["y"] = ROWS, LABELS
    with pytest.raises(ValueError, match=r"own.mat is an HDF5 file, but none of MATLAB's: save X and y in a .npz"):
        datasets.load("own", tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        {"X": {"a": 1}, "fea": ROWS, "y": LABELS},
        {"X": ROWS * 1j, "data": ROWS, "y": LABELS},
        {"X": np.eye(5), "fea": ROWS, "y": LABELS},
        {"X": ROWS, "y": {"a": 1}, "gnd": LABELS},
        {"X": ROWS, "y": np.full(9, np.nan), "labels": LABELS},
    ],
)
def test_the_first_usable_variable_is_taken(tmp_path, content):
    scipy.io.savemat(tmp_path / "own.mat", content)
    data = datasets.load("own", tmp_path)
    np.testing.assert_array_equal(data.data, ROWS)
    assert data.target.tolist() == [1, 1, 0, 0, 0, 2, 2, 2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"A": ROWS, "b": LABELS},
            r"holds A \(8 x 3\), b \(1 x 8\): a matrix X .* and a vector y .* label for each row",
        ),
        ({"X": ROWS}, r"holds X \(8 x 3\): "),
        ({"X": ROWS, "y": LABELS[:-1]}, r"X \(8 x 3\), y \(1 x 7\)"),
        ({"X": np.zeros((2, 2, 8)), "y": LABELS}, r"X \(2 x 2 x 8\)"),
        ({"X": ROWS, "y": np.full(8, np.nan)}, "labels that are not finite"),
        (
            {"X": {"a": 1}, "y": ROWS * 1j, "gnd": np.array([{}, 2], dtype=object), "S": sp.csc_array(ROWS)},
            r"X \(1 x 1, struct\), y \(8 x 3, complex\), gnd \(1 x 2, cell\), S \(8 x 3, sparse\): a matrix",
        ),
        ({"X": np.zeros((0, 3)), "y": np.zeros(0)}, r"X \(0 x 3\)"),
        ({}, "no variable"),
        (b"MATLAB 5.0 MAT-file, damaged", "cannot be read"),
    ],
)
def test_bad_matlab_files(tmp_path, content, message):
    if isinstance(content, bytes):
        (tmp_path / "own.mat").write_bytes(content)
    else:
        scipy.io.savemat(tmp_path / "own.mat", content)
    with pytest.raises(ValueError, match=message):
        datasets.load("own", tmp_path)
