"""Numbers as people write them, and what is around them: every guess is told, and none made that may be wrong."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jointclust.readers import ReadError, read

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def written(value, decimal, between):
    """A number as a locale writes it: all digits that it has, in groups of three."""
    whole, _, rest = f"{abs(value):f}".partition(".") if abs(value) < 1e15 else (str(int(abs(value))), "", "")
    groups = f"{int(whole):,}".replace(",", between)
    return ("-" if value < 0 else "") + groups + (decimal + rest if rest else "")


@pytest.mark.parametrize(
    ("decimal", "between"), [(".", ","), (",", "."), (",", " "), (".", "\u202f"), (",", ""), (".", "'")]
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=5))
def test_numbers_of_a_locale_come_back_exactly(tmp_path_factory, decimal, between, rows):
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    cells = [[written(value, decimal, between) for value in row] for row in rows]
    path.write_text("\n".join(["a;b;c", *(";".join([*row, f"0{decimal}5"]) for row in cells)]), encoding="utf-8")
    expected = [[float(cell.replace(between or "_", "").replace(decimal, ".")) for cell in row] for row in cells]
    for given_decimal in (decimal, None):  # 0,5 tells the sign, where it is not given
        table = read(path, decimal=given_decimal)
        np.testing.assert_array_equal(table.data[:, :2], expected)
        assert np.all(table.data[:, 2] == 0.5)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(FLOATS, min_size=1, max_size=5))
def test_exponents_with_a_decimal_comma(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "x.csv"
    path.write_text("a;b\n" + "".join(f"{value!r};1,5\n".replace(".", ",") for value in rows))
    np.testing.assert_array_equal(read(path).data[:, 0], rows)


GUESSES = {
    "a;b\n3,14;2\n1.234,5;0\n": (
        [[3.14, 2], [1234.5, 0]],
        ["decimal comma, as in '3,14'", "'1.234,5' is read as 1234.5"],
    ),
    'a,b\n"1,234",2\n"1,234,567",0.5\n': ([[1234, 2], [1234567, 0.5]], ["'1,234' is read as 1234"]),
    "a;b\n1 234;7\n-12;\u22127\n": ([[1234, 7], [-12, -7]], ["'1 234' is read as 1234"]),
    "a;b\n12%;$5\n 7.1 %;-$3.50\n": (
        [[0.12, 5], [0.071, -3.5]],
        ["'a' are read as hundredths", "'b' are read without their $"],
    ),
    "a;b\n0,123;7\n12;7\n": ([[0.123, 7], [12, 7]], ["decimal comma, as in '0,123'"]),
    "# by, hand\n#\n\na,b\n1,2\n3,4\n": ([[1, 2], [3, 4]], ["first 3 lines are comments"]),
    "# x,y\na,b\n1,2\n3,4\n": ([[1, 2], [3, 4]], ["first line is a comment"]),
    "# one; two\na;b\n1,5;2\n3;4\n": ([[1.5, 2], [3, 4]], ["first line is a comment", "decimal comma, as in '1,5'"]),
    "a,b\n1,2\n3,4\n".encode("utf-16-be").join([b"\xfe\xff", b""]): ([[1, 2], [3, 4]], ["marked as UTF-16"]),
}


@pytest.mark.parametrize("text", GUESSES)
def test_every_guess_is_told(table_of, text):
    table = table_of(text)
    rows, notes = GUESSES[text]
    np.testing.assert_array_equal(table.data, rows)
    assert table.names == ["a", "b"]
    assert len(table.notes) == len(notes)
    assert all(part in note for part, note in zip(notes, table.notes, strict=True))


AS_EVER = {
    "#a,b\n1,2\n": (["#a", "b"], [[1, 2]]),
    "#a;b\n1.5;2.5\n": (["#a", "b"], [[1.5, 2.5]]),
    "a,b\n1.234,2\n": (["a", "b"], [[1.234, 2]]),
    "\ufeffa\tb\n1e3\t.5\n": (["a", "b"], [[1000, 0.5]]),
    "BZh9,b\n1,2\n": (["BZh9", "b"], [[1, 2]]),
    "# a\n1\n2\n": (["# a"], [[1], [2]]),
    "#a\n\n\n1\n2\n": (["#a"], [[1], [2]]),
}


@pytest.mark.parametrize("text", AS_EVER)
def test_plain_files_are_read_without_a_guess(table_of, text):
    table = table_of(text)
    assert (table.names, table.data.tolist()) == AS_EVER[text]
    assert table.notes == []


REFUSED = {
    "a;b\n1,234;2\n": "line 2, column 'a': '1,234' has a comma for thousands or for decimals.*decimal=",
    "a;b\n3,14;2.5\n": "line 2, column 'a': '3,14' has a decimal comma, and line 2: '2.5' a decimal point.*decimal=",
    "a;b\n12%;1\n0.5;2\n": "line 2, column 'a': '12%' and line 3: '0.5' are numbers of different units.*drop=",
    "a;b\n$12;1\n€5;2\n": "numbers of different units",
    "x\n3,14\n2,72\n": "line 2 has 2 cells .*delimiter, decimal=','",
    "a;b\n" + "1;2\n" * 1500 + "1;3,14\n": "line 1502, column 'b': '3,14' is not a number, as the first.*decimal",
    "a;b\n" + "1;2\n" * 1500 + "1;1,234\n": "line 1502, column 'b': '1,234' is not a number, as the first.*decimal",
    "a;b\n" + "1;2%\n" * 1500 + "1;3\n": "line 1502, column 'b': '3' is not a number, as the first",
    "# x\n\na,b\n1,2\n3,\n": "line 5, column 'b': the cell is empty",
    "a,b\n1,2\n".encode("utf-16-le"): "null bytes.*encoding='utf-16-le'",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_may_be_read_in_two_ways_is_refused(table_of, text):
    with pytest.raises(ReadError, match=REFUSED[text]):
        table_of(text)


def test_the_user_decides(table_of):
    text = "a;b\n1,234;2\n"
    assert table_of(text, decimal=",").data[0, 0] == 1.234
    assert table_of(text, decimal=".").data[0, 0] == 1234
    assert table_of("x\n3,14\n2,72\n", decimal=",").data.tolist() == [[3.14], [2.72]]


def test_thousands_far_down(table_of):
    """A decimal point in the first rows tells what a comma is in the last."""
    table = table_of("a;b\n" + "1.5;2\n" * 1500 + "1;1,234\n")
    assert table.data[-1, 1] == 1234
    assert "'1,234'" in table.notes[0]


def test_gaps(table_of):
    marks = ["", "-", "NA", "n/a", "#N/A", "null", "None", "?", " na "]
    text = "x,y\n" + "".join(f"{mark},{index}\n" for index, mark in enumerate(marks)) + "7,7\n"
    table = table_of(text, missing="keep")
    assert np.isnan(table.data[:, 0]).tolist() == [True] * len(marks) + [False]
    assert table.notes == ["Cells with '-', 'NA', 'n/a', '#N/A', 'null', 'None', '?', 'na' are read as gaps."]
    assert table_of("x,y\n,1\n2,3\n", missing="keep").notes == []
    with pytest.raises(ReadError, match="line 3, column 'x': the cell is empty"):
        table_of("x,y\n1,1\n-,3\n2,2\n")


PEOPLE = "name,age,height,kind\nAnn,31,1.7,x\nBob,47,1.8,y\n"


@pytest.mark.parametrize("options", [{"columns": ["height", "age"]}, {"drop": ["name"]}])
def test_columns_to_take_and_to_leave_out(table_of, options):
    table = table_of(PEOPLE, label_column="kind", **options)
    assert table.names == ["age", "height"], "in the order of the file"
    assert table.classes.tolist() == ["x", "y"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"columns": ["hight"]}, r"no column 'hight'\. Did you mean 'height'\? It has 'name'.*\(columns\)"),
        ({"drop": ["Name", "agee"]}, r"no column 'Name'\. Did you mean 'name'.*\(drop\)"),
        ({"columns": ["2"]}, "no column '2'"),
        ({"columns": ["age"], "drop": ["name"]}, "not both"),
        ({"columns": ["age", "kind"], "label_column": "kind"}, r"'kind' is named twice.*\(columns, label_column\)"),
        ({"drop": ["name"], "id_column": "name"}, r"'name' is named twice.*\(drop, id_column\)"),
        ({"label_column": "kinds"}, r"Did you mean 'kind'.*\(label_column\)"),
    ],
)
def test_columns_that_are_not_there(table_of, options, reason):
    with pytest.raises(ReadError, match=reason):
        table_of(PEOPLE, **options)


def test_columns_by_number(table_of, tmp_path):
    X = np.arange(12.0).reshape(3, 4)
    np.save(tmp_path / "x.npy", X)
    text = "\n".join(",".join(map(str, row)) for row in X)
    for table in (table_of(text, columns=["1", "3"], header=False), read(tmp_path / "x.npy", drop=["0", "2"])):
        np.testing.assert_array_equal(table.data, X[:, [1, 3]])
        assert table.names == ["x1", "x3"]
    again = read(tmp_path / "x.npy", wanted=["x1", "x3"])
    np.testing.assert_array_equal(again.data, X[:, [1, 3]])
    np.savez(tmp_path / "x.npz", X=X, y=[7, 8, 9], feature_names=list("wxyz"))
    table = read(tmp_path / "x.npz", label_column="y", columns=["y"])
    assert (table.data.tolist(), table.classes.tolist()) == ([[2], [6], [10]], ["7", "8", "9"])
