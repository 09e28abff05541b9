"""Columns of several types: what text is read as, and the same from every format."""

import datetime
import json

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

from jointclust.readers import Columns, ReadError, read

KEEP = {"categories": "keep", "missing": "keep"}
DAYS = [datetime.date(2020, 1, 31), None, datetime.date(1969, 7, 20), datetime.date(2024, 2, 29)]
ARROW = pa.table(
    {
        "age": [31.5, 47.0, None, 8.0],
        "member": [True, False, True, True],
        "paid": [None, True, False, True],
        "since": pa.array(DAYS, pa.date32()),
        "city": ["Oslo", "Rome", None, "Oslo"],
    }
)


def as_csv(folder):
    lines = [",".join(ARROW.column_names)]
    lines += [",".join("" if cell is None else str(cell) for cell in row.values()) for row in ARROW.to_pylist()]
    (folder / "x.csv").write_text("\n".join(lines))
    return folder / "x.csv"


def as_jsonl(folder):
    lines = [json.dumps(row, default=str) for row in ARROW.to_pylist()]
    (folder / "x.jsonl").write_text("\n".join(lines))
    return folder / "x.jsonl"


def as_xlsx(folder):
    book = openpyxl.Workbook()
    for row in (ARROW.column_names, *(list(row.values()) for row in ARROW.to_pylist())):
        book.active.append(row)
    book.save(folder / "x.xlsx")
    return folder / "x.xlsx"


def as_parquet(folder):
    parquet.write_table(ARROW, folder / "x.parquet")
    return folder / "x.parquet"


def as_feather(folder):
    feather.write_feather(ARROW, folder / "x.feather")
    return folder / "x.feather"


@pytest.mark.parametrize("write", [as_csv, as_jsonl, as_xlsx, as_parquet, as_feather])
def test_every_format_gives_the_same_columns(write, tmp_path):
    path = write(tmp_path)
    table = read(path, **KEEP)
    result = table.data
    assert isinstance(result, Columns)
    assert list(result) == table.names == ARROW.column_names
    assert result.shape == (4, 5)
    assert [result[name].dtype.kind for name in result] == ["f", "b", "O", "M", "O"]
    assert list(result.kinds.values()) == ["number", "boolean", "boolean", "date", "text"]
    np.testing.assert_array_equal(result["age"], [31.5, 47, np.nan, 8])
    for name in ("member", "paid", "city"):
        assert result[name].tolist() == ARROW[name].to_pylist()
    np.testing.assert_array_equal(result["since"], np.array(DAYS, dtype="datetime64[us]"))
    frame = result.to_pandas()
    assert [frame[name].isna().tolist() for name in frame] == [
        [cell is None for cell in column.to_pylist()] for column in ARROW.columns
    ]
    assert pd.api.types.is_bool_dtype(frame["paid"])
    assert pd.api.types.is_datetime64_any_dtype(frame["since"])
    wanted = read(path, wanted=["city", "age"], **KEEP)
    assert wanted.names == list(wanted.data) == ["city", "age"]


@pytest.mark.parametrize("write", [as_csv, as_jsonl, as_xlsx, as_parquet, as_feather])
def test_the_strict_ways_are_there(write, tmp_path):
    path = write(tmp_path)
    with pytest.raises(ReadError, match="column '(member|paid|since)' holds text"):
        read(path, missing="keep", drop=["member"] if path.suffix in (".parquet", ".feather") else None)
    dropped = read(path, categories="drop", missing="keep", columns=["age", "city"])
    assert dropped.names == ["age"]
    with pytest.raises(ReadError, match="column 'age': .*empty"):
        read(path, categories="keep")
    with pytest.raises(ReadError, match="row 2 .*column 'city': the cell is empty"):
        read(path, categories="keep", columns=["member", "city"])


def test_numbers_alone_stay_a_matrix(table_of):
    text = "x,y\n1,2\n,4\n"
    kept, plain = table_of(text, **KEEP), table_of(text, missing="keep")
    np.testing.assert_array_equal(kept.data, plain.data)
    assert kept.names == plain.names


def test_what_is_found_in_text_is_told(table_of):
    text = "n,ok,day,when,code,odd\n1,Yes,2020-01-31,1/13/2020,7,yes\n2,no,2020/02/01 23:59:59.5,13/2/2020,B7,true\n"
    table = table_of(text, **KEEP)
    assert list(table.data.kinds.values()) == ["number", "boolean", "date", "text", "text", "text"]
    assert table.data["day"][1] == np.datetime64("2020-02-01T23:59:59.5")
    for note in ("'code' holds numbers and other text ('B7', line 3)", "dates in 'day'", "true or false in 'ok'"):
        assert sum(note in one for one in table.notes) == 1
    assert sum("'when' may hold dates, but for '1/13/2020'" in one for one in table.notes) == 1
    notes = table_of("n,day\n1,2020-01-31\n2,soon\n", **KEEP).notes
    assert notes == ["Column 'day' may hold dates, but for 'soon': it is taken as text."]


def test_a_column_that_begins_with_gaps(table_of):
    start = "n,late,never,words\n" + "1,,,\n" * 1000
    table = table_of(start + "1,2.5,-,x\n", **KEEP)
    assert table.data.kinds == {"n": "number", "late": "number", "never": "number", "words": "text"}
    assert table.data["late"][-1] == 2.5
    assert np.isnan(table.data["never"]).all()
    assert table.data["words"].tolist() == [None] * 1000 + ["x"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("n,day\n1,2020-01-31\n2,2020-02-30\n", "line 3, column 'day': '2020-02-30' is no day of the calendar"),
        ("n,m,t\n" + "1,2,x\n" * 30 + "1,oops,x\n", "line 32, column 'm': 'oops' is not a number"),
        ("n,t\ninf,x\n", "line 2, row 0 .*column 'n': inf is not a finite number"),
    ],
)
def test_errors_among_the_values_are_named(table_of, text, reason):
    with pytest.raises(ReadError, match=reason):
        table_of(text, **KEEP)


def test_new_rows_are_read_as_the_old_ones(table_of):
    first = table_of("n,code,ok\n1,A,yes\n2,7,no\n3,B,no\n", **KEEP)
    again = table_of("more,ok,code,n\n0,,7,5\n", wanted=first.names, kinds=first.data.kinds, **KEEP)
    assert again.names == first.names
    assert again.data["code"].tolist() == ["7"]
    assert again.data["ok"].tolist() == [None]
    codes = table_of('n,code\n1.5,x\n2.5,"3,14"\n', kinds={"code": "text"}, **KEEP)
    assert codes.data["code"].tolist() == ["x", "3,14"], "what is known to be text says nothing of decimals"
    with pytest.raises(ReadError, match="line 2, column 'ok': 'maybe' is no boolean"):
        table_of("ok,code,n\nmaybe,7,5\n", wanted=first.names, kinds=first.data.kinds, **KEEP)
    with pytest.raises(ReadError, match="lacks 1 of the model's 3 columns: 'ok'"):
        table_of("code,n\n7,5\n", wanted=first.names, kinds=first.data.kinds, **KEEP)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1}\n{"a": [2]}\n', "line 2, column 'a' holds a list"),
        ('{"a": 1}\n{"a": 2\n', "line 2 is no JSON"),
        ('{"a": 1, "a": 2}\n', "line 1 is no JSON: a key occurs twice"),
        ("[1, 2]\n", "line 1 holds no JSON object"),
    ],
)
def test_lines_that_are_no_rows(table_of, text, reason):
    with pytest.raises(ReadError, match=reason):
        table_of(text, "x.jsonl")


def test_keys_that_some_lines_lack(table_of):
    table = table_of('{"a": 1}\n\n{"b": 2, "a": 3}\n', "x.jsonl", missing="keep")
    np.testing.assert_array_equal(table.data, [[1, np.nan], [3, 2]])
    assert "line 3" in table.notes[0]


def test_sheets(tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "first"
    for row in ([], ["a", "b"], [1, 2], [], [3, "4"]):
        book.active.append(row)
    book.create_sheet("second")
    book.save(tmp_path / "x.xlsx")
    table = read(tmp_path / "x.xlsx")
    np.testing.assert_array_equal(table.data, [[1, 2], [3, 4]])
    assert table.notes == ["Sheet 'first' is read; to read another one ('second'), move it to the front."]
    book["first"]["B5"] = "x"
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(ReadError, match="row 5, column 'b': 'x' is not a number"):
        read(tmp_path / "x.xlsx")
    book["first"]["C5"] = 7
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(ReadError, match="row 5 has cells beyond the 2 columns"):
        read(tmp_path / "x.xlsx")


def test_types_that_no_column_can_have(tmp_path):
    parquet.write_table(pa.table({"a": [1, 2], "list": [["b"], ["c"]]}), tmp_path / "x.parquet")
    with pytest.raises(ReadError, match=r"column 'list' holds list.*drop=\['list'\]"):
        read(tmp_path / "x.parquet", **KEEP)
    assert read(tmp_path / "x.parquet", drop=["list"], **KEEP).names == ["a"]


@pytest.mark.parametrize("kind", [pa.list_(pa.float32()), pa.large_list(pa.int64()), pa.list_(pa.float64(), 2)])
def test_lists_are_columns(tmp_path, kind):
    table = pa.table({"a": [1, 2, 3], "at": pa.array([[4, 5], None, [6, 7]], kind), "b": ["u", "v", "u"]})
    feather.write_feather(table, tmp_path / "x.feather")
    parquet.write_table(table, tmp_path / "x.parquet")
    for name in ("x.parquet", "x.feather"):
        result = read(tmp_path / name, **KEEP)
        assert result.names == ["a", "at[0]", "at[1]", "b"]
        np.testing.assert_array_equal(result.data["at[1]"], [5, np.nan, 7])
        assert read(tmp_path / name, drop=["at"], **KEEP).names == ["a", "b"]
        assert read(tmp_path / name, columns=["at"], **KEEP).names == ["at[0]", "at[1]"]
        assert read(tmp_path / name, columns=["at[1]", "a"], **KEEP).names == ["a", "at[1]"]
        assert read(tmp_path / name, wanted=["at[1]", "b"], kinds={"b": "text"}, **KEEP).names == ["at[1]", "b"]


def test_lists_of_different_lengths(tmp_path):
    parquet.write_table(pa.table({"at": [[4, 5], [6, 7], [8]]}), tmp_path / "x.parquet")
    with pytest.raises(ReadError, match="'at' holds lists of different lengths: 2 in the rows before, 1 in row 2"):
        read(tmp_path / "x.parquet", **KEEP)


@pytest.mark.parametrize("word", ["unknown", "missing", "n/a"])
def test_words_among_numbers_and_dates(table_of, word):
    rows = "".join(f"{row},{row}.5,{1 + row}.1.2020,{'uv'[row % 2]}\n" for row in range(20))
    table = table_of(f"a,n,day,c\n{rows}7,{word},{word},{word}\n8,{word},{word},u\n", **KEEP)
    assert list(table.data.kinds.values()) == ["number", "number", "date", "text"]
    assert np.isnan(table.data["n"]).tolist() == np.isnat(table.data["day"]).tolist() == [False] * 20 + [True] * 2
    assert any(f"{word!r}" in note and "gaps" in note for note in table.notes)


def test_order_of_day_and_month(table_of):
    text = "n,d\n1,{}\n2,{}\n"
    for days, order, options in (
        (("1/2/2020", "3/4/2020"), "month-first", {}),
        (("1/2/2020", "3/4/2020"), "day-first", {"dates": "day-first"}),
        (("1/2/2020", "3/4/2020"), "day-first", {"date_orders": {"d": "day-first"}}),
        (("1/2/2020", "30/4/2020"), "day-first", {}),
        (("1.2.2020", "3.4.2020 23:59"), "day-first", {}),
    ):
        table = table_of(text.format(*days), **KEEP, **options)
        month, day = (1, 2) if order == "month-first" else (2, 1)
        assert table.data["d"][0] == np.datetime64(f"2020-{month:02}-{day:02}")
        assert table.date_orders == {"d": order}
        doubtful = any("either order" in note and "dates='day-first'" in note for note in table.notes)
        assert doubtful == (not options and order == "month-first")
    with pytest.raises(ReadError, match=r"line 3, column 'd': '31/4/2020' is no day of the calendar"):
        table_of(text.format("1/2/2020", "31/4/2020"), **KEEP)
    with pytest.raises(ReadError, match=r"'13/1/2020' is no day"):
        table_of(text.format("1/2/2020", "13/1/2020"), dates="month-first", **KEEP)
