"""Every format gives the same rows; what is wrong with a file is said with its place."""

import bz2
import csv
import gzip
import json
import lzma

import h5py
import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from jointclust.readers import ReadError, _table, as_written, format_of, read

ROWS = np.array([[1.5, 0.0, -2.0], [0.0, 3.0, 1e-3], [7.0, 0.0, 1e9], [0.25, 1.0, 2.0]])
NAMES = ["a", "b c", "d"]


def as_csv(folder, name="data.csv", delimiter=","):
    lines = [delimiter.join(NAMES), *(delimiter.join(map(repr, row.tolist())) for row in ROWS)]
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder / name


def as_compressed(folder, ending, compress):
    path = folder / f"data.csv.{ending}"
    path.write_bytes(compress(as_csv(folder, "plain.csv").read_bytes()))
    return path


def as_utf_16(folder):
    path = as_csv(folder)
    path.write_text(path.read_text(), encoding="utf-16")
    return path


def as_jsonl(folder):
    lines = [json.dumps(dict(zip(NAMES, row.tolist(), strict=True))) for row in ROWS]
    (folder / "data.jsonl").write_text("\n".join(lines))
    return folder / "data.jsonl"


def as_xlsx(folder):
    book = openpyxl.Workbook()
    for row in (NAMES, *ROWS.tolist()):
        book.active.append(row)
    book.save(folder / "data.xlsx")
    return folder / "data.xlsx"


def as_feather(folder):
    feather.write_feather(pa.table(dict(zip(NAMES, ROWS.T, strict=True))), folder / "data.feather")
    return folder / "data.feather"


def as_parquet(folder):
    table = pa.table({name: ROWS[:, index] for index, name in enumerate(NAMES)})
    parquet.write_table(table, folder / "data.parquet")
    return folder / "data.parquet"


def as_npy(folder):
    np.save(folder / "data.npy", ROWS)
    return folder / "data.npy"


def as_npz(folder):
    np.savez(folder / "data.npz", X=ROWS, y=np.arange(4), feature_names=NAMES)
    return folder / "data.npz"


def as_sparse_npz(folder):
    sp.save_npz(folder / "sparse.npz", sp.csc_array(ROWS))
    return folder / "sparse.npz"


def as_mat(folder):
    scipy.io.savemat(folder / "data.mat", {"fea": ROWS, "gnd": np.arange(4)[:, None], "name": np.array(list("pqrs"))})
    return folder / "data.mat"


def as_sparse_mat(folder):
    scipy.io.savemat(folder / "sparse.mat", {"A": sp.csc_array(ROWS)})
    return folder / "sparse.mat"


def as_mat_of_columns(folder):
    scipy.io.savemat(folder / "columns.mat", {"X": ROWS.T, "Y": np.arange(4)})
    return folder / "columns.mat"


def as_mtx(folder):
    scipy.io.mmwrite(folder / "data.mtx", sp.coo_array(ROWS), precision=17)
    return folder / "data.mtx"


def as_svm(folder):
    dump_svmlight_file(ROWS, np.arange(4), str(folder / "data.svm"))
    return folder / "data.svm"


def as_h5ad(folder, kind="csr"):
    path = folder / f"{kind}.h5ad"
    with h5py.File(path, "w") as file:
        if kind == "dense":
            file["X"] = ROWS
        else:
            matrix = sp.csr_array(ROWS) if kind == "csr" else sp.csc_array(ROWS)
            group = file.create_group("X")
            group.attrs.update({"encoding-type": f"{kind}_matrix", "shape": ROWS.shape})
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(matrix, part)
        for name, index in (("obs", ["r0", "r1", "r2", "r3"]), ("var", NAMES)):
            group = file.create_group(name)
            group.attrs["_index"] = "_index"
            group["_index"] = index
        kinds = file["obs"].create_group("kind")
        kinds["categories"], kinds["codes"] = ["x", "y"], [0, 1, 1, -1]
        notes = file["obs"].create_group("note")
        notes["values"], notes["mask"] = ["p", "q", "r", "s"], [False, True, False, False]
    return path


@pytest.mark.parametrize(
    "write",
    [
        as_csv,
        lambda folder: as_compressed(folder, "gz", gzip.compress),
        lambda folder: as_compressed(folder, "bz2", bz2.compress),
        lambda folder: as_compressed(folder, "xz", lzma.compress),
        lambda folder: as_compressed(folder, "zst", lambda text: pa.compress(text, "zstd", asbytes=True)),
        as_utf_16,
        as_jsonl,
        as_xlsx,
        as_feather,
        lambda folder: as_csv(folder, "data.tsv", "\t"),
        lambda folder: as_csv(folder, "semicolons.csv", ";"),
        as_parquet,
        as_npy,
        as_npz,
        as_sparse_npz,
        as_mat,
        as_sparse_mat,
        as_mat_of_columns,
        as_mtx,
        as_svm,
        as_h5ad,
        lambda folder: as_h5ad(folder, "csc"),
        lambda folder: as_h5ad(folder, "dense"),
    ],
)
def test_every_format_gives_the_same_rows(write, tmp_path):
    table = read(write(tmp_path))
    data = table.data.toarray() if sp.issparse(table.data) else table.data
    np.testing.assert_array_equal(data, ROWS)
    assert table.names in (None, NAMES)


def test_matlab_columns(tmp_path):
    assert read(as_mat(tmp_path), label_column="gnd").classes.tolist() == ["0", "1", "2", "3"]
    with pytest.raises(ReadError, match="no column 'kind'.*gnd"):
        read(as_mat(tmp_path), label_column="kind")
    scipy.io.savemat(tmp_path / "two.mat", {"A": ROWS, "B": ROWS})
    with pytest.raises(ReadError, match=r"A \(4 x 3\), B \(4 x 3\): name the matrix of rows X"):
        read(tmp_path / "two.mat")


def test_anndata_columns(tmp_path):
    table = read(as_h5ad(tmp_path), label_column="kind")
    assert table.classes.tolist() == ["x", "y", "y", ""]
    assert table.ids.tolist() == ["r0", "r1", "r2", "r3"]
    assert read(as_h5ad(tmp_path), id_column="note").ids.tolist() == ["p", "", "r", "s"]
    assert table.names == NAMES


def test_anndata_as_the_library_writes_it(tmp_path):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    cells = anndata.AnnData(sp.csr_matrix(ROWS))
    cells.obs["kind"] = ["x", "y", "y", "x"]
    cells.write_h5ad(tmp_path / "cells.h5ad")
    table = read(tmp_path / "cells.h5ad", label_column="kind")
    np.testing.assert_array_equal(table.data.toarray(), ROWS)
    assert table.classes.tolist() == ["x", "y", "y", "x"]


def test_npy_stays_on_the_disk_where_memory_is_small(tmp_path, monkeypatch):
    assert not isinstance(read(as_npy(tmp_path)).data, np.memmap)
    monkeypatch.setattr(_table, "available_memory", lambda: 100.0)
    table = read(as_npy(tmp_path))
    assert isinstance(table.data, np.memmap)
    np.testing.assert_array_equal(table.data, ROWS)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3), min_size=1, max_size=30
    )
)
def test_numbers_survive_text_exactly(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    path.write_text("\n".join(["a,b,c", *(",".join(map(repr, row)) for row in rows)]))
    np.testing.assert_array_equal(read(path).data, np.array(rows))


@pytest.mark.parametrize("n_rows", [999, 1000, 1001, 2500])
def test_no_row_is_lost_where_the_sample_ends(tmp_path, n_rows):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "".join(f"{i},{-i}\n" for i in range(n_rows)))
    np.testing.assert_array_equal(read(path).data[:, 0], np.arange(n_rows))


def table_of(text, tmp_path, **options):
    path = tmp_path / "x.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read(path, **options)


def test_columns_that_are_not_features(tmp_path):
    text = 'name,x,kind,y\n"Smith, J",1,good,2\nDoe,3,bad,4\n'
    table = table_of(text, tmp_path, id_column="name", label_column="kind")
    assert table.ids.tolist() == ["Smith, J", "Doe"]
    assert table.classes.tolist() == ["good", "bad"]
    assert table.names == ["x", "y"]


def test_a_first_column_without_a_name_names_the_rows(tmp_path):
    table = table_of(",x,y\nr1,1,2\nr2,3,4\n", tmp_path)
    assert table.ids.tolist() == ["r1", "r2"]
    assert "no name" in table.notes[0]


ODD = [
    "a,b\n 1 ,2\n3, 4\n",
    'a,b\n"1",2\n"3","4"\n',
    "a,b\n\n1,2\n\n3,4\n\n",
    "a,b\r\n1,2\r\n3,4",
    "\ufeffa,b\n1,2\n3,4\n",
    "a;b\n1;2\n3;4\n",
    '"a\nx",b\n1,2\n3,4\n',
    "a,b\n1e0,+2\n3.,4\n",
]


@pytest.mark.parametrize("text", ODD)
def test_odd_but_clear_text(tmp_path, text):
    np.testing.assert_array_equal(table_of(text, tmp_path).data, [[1, 2], [3, 4]])


def test_text_in_cells_survives(tmp_path):
    text = 'name,x\n"two\nlines",1\n007,2\n"NA",3\n" a ",4\n"",5\n'
    table = table_of(text, tmp_path, id_column="name")
    assert table.ids.tolist() == ["two\nlines", "007", "NA", " a ", ""]


def test_documents_of_megabytes_are_read(tmp_path):
    """The csv module stops at 131,072 characters of a cell, unless it is told; and it is as before after that."""
    texts, before = ["long " * 1_000_000, "short", 'of two lines\n and "quotes" ' * 10_000], csv.field_size_limit()
    path = tmp_path / "documents.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["id", "text"], *enumerate(texts)])
    kept = read(path, text_column="text", kinds={"text": "text"}, categories="keep", missing="keep")
    assert kept.data["text"].tolist() == texts
    assert as_written(path)["text"] == texts
    assert csv.field_size_limit() == before
    with pytest.raises(ReadError) as error:
        read(path)
    assert len(str(error.value)) < 1000


def test_text_columns(tmp_path):
    text = "x,city\n1,Oslo\n2,Paris\n3,Oslo\n"
    with pytest.raises(ReadError, match="column 'city' holds text.*categories='drop'.*onehot.*id_column='city'"):
        table_of(text, tmp_path)
    assert table_of(text, tmp_path, categories="drop").names == ["x"]
    table = table_of(text, tmp_path, categories="onehot")
    assert table.names == ["x", "city=Oslo", "city=Paris"]
    np.testing.assert_array_equal(table.data, [[1, 1, 0], [2, 0, 1], [3, 1, 0]])


def test_wanted_columns_come_in_order_and_encoded(tmp_path):
    text = "city,z,x\nParis,9,1\nRome,9,2\n"
    table = table_of(text, tmp_path, wanted=["x", "city=Oslo", "city=Paris"])
    np.testing.assert_array_equal(table.data, [[1, 0, 1], [2, 0, 0]])


def test_missing_cells(tmp_path):
    text = "x,y\n1,2\n,4\n5,NA\n"
    with pytest.raises(ReadError, match="line 3, column 'x': the cell is empty.*missing="):
        table_of(text, tmp_path)
    np.testing.assert_array_equal(table_of(text, tmp_path, missing="keep").data, [[1, 2], [np.nan, 4], [5, np.nan]])


def test_latin_1(tmp_path):
    text = "größe,y\n1,2\n3,4\n".encode("latin-1")
    with pytest.raises(ReadError, match="not utf-8: line 1 holds the byte 0xf6.*encoding='cp1252'"):
        table_of(text, tmp_path)
    assert table_of(text, tmp_path, encoding="latin-1").names == ["größe", "y"]


def test_a_matrix_of_genes_by_cells_is_told(tmp_path):
    scipy.io.mmwrite(tmp_path / "matrix.mtx", sp.coo_array(np.eye(3, 4)))
    assert read(tmp_path / "matrix.mtx").notes == []
    (tmp_path / "barcodes.tsv").write_text("AAC\nAAG\nAAT\nACC\n")
    (note,) = read(tmp_path / "matrix.mtx").notes
    assert "4 cells, as many as the matrix has columns" in note
    scipy.io.mmwrite(tmp_path / "matrix.mtx", sp.coo_array(np.eye(4, 3)))
    assert read(tmp_path / "matrix.mtx").notes == []


def test_a_list_in_a_line_can_be_left_out(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"a": 1, "tags": ["b"]}\n{"a": 2, "tags": {"c": 1}}\n')
    with pytest.raises(ReadError, match=r"column 'tags' holds a list.*drop=\['tags'\]"):
        read(tmp_path / "x.jsonl")
    for without in ({"drop": ["tags"]}, {"columns": ["a"]}, {"wanted": ["a"]}):
        assert read(tmp_path / "x.jsonl", **without).names == ["a"]
    text = {"text_column": "a", "kinds": {"a": "text"}, "categories": "keep", "missing": "keep"}
    assert read(tmp_path / "x.jsonl", **text).names == ["a"]
    with pytest.raises(ReadError, match="column 'tags' holds a list"):
        read(tmp_path / "x.jsonl", drop=["a"], id_column="tags")


BAD = {
    "a,b\n": "column names and no rows",
    "a,b\n1,2\n3,4,5\n": "line 3 has 3 cells where the first line has 2",
    "a,b\n1,2\n3,x\n5,6\n": "line 3, column 'b': 'x' is not a number",
    "a,a,b\n1,2,3\n": "'a' names more than one column",
    "a,b\n1,inf\n": "line 2, row 0 .*column 'b': inf is not a finite number",
    "a,b\n\n1,2\n1," + 400 * "9" + "\n": "line 4, row 1 .*column 'b': inf .*too large",
    "\n": "empty",
    "a,b\n1,nan\n": "row 0 .*column 'b': the cell is empty or NaN",
    'a,b\n"1,2\n': "line 2 has 1 cells",
}


@pytest.mark.parametrize("text", BAD)
def test_what_is_wrong_is_said_with_its_place(tmp_path, text):
    with pytest.raises(ReadError, match=BAD[text]):
        table_of(text, tmp_path)


def test_a_bad_cell_far_down(tmp_path):
    text = "a,b\n" + "1,2\n" * 5000 + "1,oops\n"
    with pytest.raises(ReadError, match="line 5002, column 'b': 'oops'"):
        table_of(text, tmp_path)


def test_a_line_of_numbers_as_names_is_pointed_out(tmp_path):
    assert "header=False" in table_of("1,2\n3,4\n", tmp_path).notes[0]  # as pandas counts columns
    assert table_of("1,2\n3,4\n", tmp_path, header=False).data.shape == (2, 2)


def test_files_that_are_none(tmp_path):
    with pytest.raises(ReadError, match="no such file"):
        read(tmp_path / "absent.csv")
    with pytest.raises(ReadError, match="is a folder"):
        read(tmp_path)
    (tmp_path / "empty.csv").touch()
    with pytest.raises(ReadError, match="is empty"):
        read(tmp_path / "empty.csv")
    (tmp_path / "x.docx").write_text("x")
    with pytest.raises(ReadError, match=r"\(format\)"):
        read(tmp_path / "x.docx")
    for name in ("npy", "npz", "parquet", "feather", "xlsx", "jsonl", "mtx", "svm", "h5ad", "csv.gz"):
        (tmp_path / f"x.{name}").write_bytes(b"\x1f\x8bnothing of the kind")
        with pytest.raises(ReadError, match=f"x.{name} "):
            read(tmp_path / f"x.{name}")


def test_pickles_are_not_read(tmp_path):
    np.save(tmp_path / "x.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(ReadError, match="pickle"):
        read(tmp_path / "x.npy")


def test_more_than_the_memory_holds(tmp_path, monkeypatch):
    with (tmp_path / "x.csv").open("w") as stream:
        stream.write("a,b\n" + "1,2\n" * 2000)
        stream.truncate(10 * 2**30)  # a hole, which takes no room on the disk
    monkeypatch.setattr(_table, "available_memory", lambda: 4.0 * 2**30)
    with pytest.raises(ReadError, match=r"GiB of memory.*4\.0 GiB are free.*\.npy"):
        read(tmp_path / "x.csv")


def test_available_memory_is_positive():
    assert _table.available_memory() > 0


@pytest.mark.parametrize(
    ("name", "kind"), [("A.CSV", "csv"), ("x.tsv.xz", "tsv"), ("x.libsvm", "svmlight"), ("x.arrow", "feather")]
)
def test_format_of(name, kind):
    assert format_of(name) == kind


def bomb(folder, kind):
    """A small file of many zeros."""
    path, zeros = folder / f"bomb.{kind}", np.zeros((400_000, 2))
    if kind == "csv.gz":
        path.write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * 400_000))
    elif kind == "npz":
        np.savez_compressed(path, X=zeros)
    elif kind == "mat":
        scipy.io.savemat(path, {"X": zeros, "y": zeros[:, 0]}, do_compression=True)
    elif kind == "parquet":
        parquet.write_table(pa.table({"a": zeros[:, 0], "b": zeros[:, 1]}), path)
    else:
        with h5py.File(path, "w") as file:
            file.create_dataset("X", data=zeros, compression="gzip", chunks=True)
    return path


@pytest.mark.parametrize("kind", ["csv.gz", "npz", "mat", "parquet", "h5ad"])
def test_what_unpacks_to_far_more_than_its_size_is_refused(tmp_path, monkeypatch, kind):
    path = bomb(tmp_path, kind)
    monkeypatch.setattr(_table, "UNPACKED", 2**16)
    with pytest.raises(ReadError, match=rf"bomb\.{kind} unpacks to .* times its size.*any_size=True"):
        read(path)
    assert read(path, any_size=True).data.shape == (400_000, 2)


def test_what_unpacks_to_more_than_the_memory_holds_is_refused(tmp_path, monkeypatch):
    lines = b"".join(b"%d,%d\n" % (row, -row) for row in range(40_000))
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + lines))
    assert read(path).data.shape == (40_000, 2)
    monkeypatch.setattr(_table, "available_memory", lambda: 1.0 * 2**20)
    with pytest.raises(ReadError, match="too little memory for its rows"):
        read(path)
    assert read(path, any_size=True).data.shape == (40_000, 2)


@pytest.mark.parametrize("end", ["3 1 3.02E", "3 1 2.0J4 1 1", "3 1 1.\x00\x00 4", "3 1" + 40 * " 2"])
def test_entries_that_are_none_do_not_reach_compiled_code(tmp_path, end):
    """SciPy's reader of Matrix Market runs past the end of some of them."""
    path = tmp_path / "rows.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate real general\n%\n4 4 3\n1 1 .5\n2 2 -1e-3\n{end}")
    with pytest.raises(ReadError, match=r"rows\.mtx: line 6 is .* no entry of a matrix"):
        read(path)
    path.write_text(path.read_text().replace(end, "3 1 3.02E1"))
    np.testing.assert_array_equal(read(path).data.toarray()[2], [30.2, 0, 0, 0])


def test_a_damaged_feather_file_is_refused(tmp_path):
    """Some ask for more memory than there is, which is no reason to buy a larger machine."""
    path, refused = tmp_path / "rows.feather", 0
    feather.write_feather(pa.table({"a": np.arange(50.0), "word": ["red"] * 50}), path)
    content = path.read_bytes()
    for start in range(0, len(content), 16):
        path.write_bytes(content[:start] + b" " * 8 + content[start + 8 :])
        try:
            read(path, categories="keep", missing="keep")
        except ReadError:
            refused += 1
    assert refused > 10


def test_cells_as_written_name_the_file_that_cannot_be_read(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_bytes(b"id,label\na,\xff\n")
    with pytest.raises(ReadError, match=r"labels\.csv cannot be read as csv"):
        as_written(path)
