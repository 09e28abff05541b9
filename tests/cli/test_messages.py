"""What the command line says, and what it does not say."""

import csv
import io
import json
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from calling import ROOT, call, failure, rows_of

from jointclust.cli import errors, writing
from jointclust.cli.models import method_of
from jointclust.exceptions import Message, Setting
from jointclust.readers import ReadError


@pytest.fixture
def two_groups(tmp_path, rng):
    """A function that writes rows of two groups, with a last column of its own."""

    def write(name, header, last):
        rows = [[f"{value + 9 * (i % 2):.3f}" for value in rng.standard_normal(2)] + [last(i)] for i in range(30)]
        with (tmp_path / name).open("w", newline="") as stream:
            csv.writer(stream).writerows([header, *rows])
        return tmp_path / name

    return write


FAST = ("-k", 2, "--method", "dec", "--resamples", 0)


def test_nothing_to_do_is_a_page_of_help(capsys):
    assert call() == 0
    output = capsys.readouterr()
    assert output.out.startswith("Usage: jointclust")
    assert output.err == ""


def test_interrupted_while_the_library_loads(tmp_path):
    """The import of a stand-in for the library gets the signal that Ctrl-C sends."""
    (tmp_path / "jointclust").mkdir()
    (tmp_path / "jointclust" / "__init__.py").write_text("")
    wait = "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(60)\n"
    (tmp_path / "jointclust" / "cli.py").write_text(wait)
    paths = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT / 'src')!r}]"
    code = f"{paths}; from jointclust_command import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "Interrupted: nothing was begun.\n")


def test_standard_input_has_its_own_name(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n3\n")))
    assert call("fit", "-", *FAST, "--out", tmp_path / "run") == 3
    (last,) = capsys.readouterr().err.splitlines()
    assert last.startswith("Error: stdin: line 3 has 1 cells")


def test_no_warning_of_another_library_reaches_the_user(tmp_path, capfd):
    """Twins of three rows, in a file with names: scikit-learn has something to say of both."""
    rows = "\n".join(f"{i % 3},{i % 3 * 2},{i % 3}" for i in range(12))
    (tmp_path / "twins.csv").write_text(f"a,b,c\n{rows}\n")
    fit = ("fit", tmp_path / "twins.csv", "-k", 3, "--scale", "standard", "--method", "fuzzy-kmeans")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert call(*fit, "--out", tmp_path / "run", "--quiet") == 0
        assert call("predict", tmp_path / "run", tmp_path / "twins.csv", "-o", tmp_path / "l.csv", "--quiet") == 0
    assert not heard
    assert capfd.readouterr() == ("", "")


def test_messages_of_the_library_name_what_sets_their_parameters():
    """Once each, after the words of the library; a message that names the option already stays as it is."""
    two = "n_clusters=3, n_components=2 (n_clusters: --clusters, n_components: --set n_components=)"
    assert errors.in_options("n_clusters=3, n_components=2") == two
    assert errors.in_options("Give n_clusters.") == "Give n_clusters. (n_clusters: --clusters)"
    for text in ("lower ridge=2 (--set ridge=2)", "my_n_clusters", "the variance, by effort"):
        assert errors.in_options(text) == text


def test_settings_of_readers_are_spelled_as_options():
    spelled = {
        Message("Data?", Setting("header", False)): "Data? (--no-header)",
        Message("Which?", Setting("decimal", ","), Setting("decimal", ".")): "Which? (--decimal ,, --decimal .)",
        Message("Out.", Setting("drop", ["a", "net, gross"])): "Out. (--drop 'a,\"net, gross\"')",
        Message("Read it.", Setting("any_size", True)): "Read it. (--any-size)",
        Message("None."): "None.",
    }
    assert [errors.spelled(message) for message in spelled] == list(spelled.values())
    assert str(Message("Data?", Setting("header", False))) == "Data? (header=False)"
    assert errors.spelled("--config x") == "--config x"
    assert (
        errors.spelled(pickle.loads(pickle.dumps(ReadError("Data?", Setting("format")))).args[0]) == "Data? (--format)"
    )


def test_where_kmeans_is():
    with pytest.raises(Exception, match="--method dec --set trade_off=1"):
        method_of("k-means")


def test_numbers_of_clusters_in_words(tmp_path, capsys, rng):
    np.save(tmp_path / "x.npy", rng.standard_normal((60, 2)))
    assert call("fit", tmp_path / "x.npy", "-k", 1, *FAST[2:], "--out", tmp_path / "one") == 0
    assert "60 rows in 1 cluster of 60\n" in capsys.readouterr().out
    assert call("fit", tmp_path / "x.npy", "-k", 21, *FAST[2:], "--out", tmp_path / "many") == 0
    text = capsys.readouterr().out.splitlines()[0]
    assert text.count(",") == 20
    assert text.endswith(", ...")


def test_delimiters_have_names(two_groups, tmp_path, capsys):
    path = two_groups("x.csv", ["a", "b", "c"], str)
    (tmp_path / "x.txt").write_text(path.read_text().replace(",", "\t"))
    assert call("fit", tmp_path / "x.txt", *FAST, "--delimiter", "tab", "--out", tmp_path / "run", "--quiet") == 0
    status, message = failure(capsys, "fit", tmp_path / "x.txt", *FAST, "--delimiter", "tabs")
    assert (status, "neither one character nor one of tab" in message) == (2, True)


def test_classes_among_the_features_are_asked_about(two_groups, tmp_path, capsys):
    path = two_groups("x.csv", ["a", "b", "Label"], lambda i: i % 2)
    assert call("fit", path, *FAST, "--out", tmp_path / "run") == 0
    assert "--label-column 'Label'" in capsys.readouterr().err
    assert call("fit", path, *FAST, "--label-column", "Label", "--out", tmp_path / "other") == 0
    assert "holds known classes" not in capsys.readouterr().err


def test_what_was_left_out_is_named(two_groups, tmp_path, capsys):
    path = two_groups("x.csv", ["a", "b", "colour"], lambda i: "red" if i % 2 else "blue")
    columns = {name: [row[name] for row in rows_of(path)] for name in ("a", "b", "colour")}
    columns |= {name: [float(value) for value in columns[name]] for name in "ab"}
    parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
    for number, file in enumerate((path, tmp_path / "x.parquet")):
        assert call("fit", file, *FAST, "--categories", "drop", "--out", tmp_path / str(number)) == 0
        assert "Left out for their text: 'colour'. (--categories drop)" in capsys.readouterr().err
        _, message = failure(capsys, "fit", file, *FAST, "--categories", "refuse", "--out", tmp_path / "none")
        assert "column 'colour' holds text ('blue')" in message


@pytest.mark.parametrize(
    ("first", "is_refused"),
    [("5.1,3.5,blue", True), ("2019,2020,x", True), ("a,2020,x", False), ("0,1,x", False), (",2.5,x", True)],
)
def test_a_first_line_that_looks_like_data_is_asked_about(two_groups, tmp_path, capsys, first, is_refused):
    path = two_groups("x.csv", first.split(","), lambda i: "red" if i % 2 else "blue")
    fit = ("fit", path, *FAST, "--quiet", "--out")
    if is_refused:
        status, message = failure(capsys, *fit, tmp_path / "none")
        assert (status, "--no-header" in message, "--header" in message) == (3, True, True)
    else:
        assert call(*fit, tmp_path / "found") == 0
    assert call(*fit, tmp_path / "names", "--header") == 0
    assert len(rows_of(tmp_path / "names" / "labels.csv")) == 30
    if is_refused:
        assert call(*fit, tmp_path / "data", "--no-header") == 0
        assert len(rows_of(tmp_path / "data" / "labels.csv")) == 31


def test_cells_that_a_spreadsheet_would_run(tmp_path):
    """Text alone: numbers, gaps and what begins otherwise stay as they are."""
    cells = ["=1+1", "+a", "-b", "@c", "-5", "+3.5", "-", "plain", "'quoted", -2.5, "\t=1"]
    writing.write_table(tmp_path / "safe.csv", {"=head": cells})
    writing.write_table(tmp_path / "raw.csv", {"=head": cells}, raw=True)
    values = [row["'=head"] for row in rows_of(tmp_path / "safe.csv")]
    assert values == ["'=1+1", "'+a", "'-b", "'@c", "-5", "+3.5", "-", "plain", "'quoted", "-2.5", "'\t=1"]
    assert [row["=head"] for row in rows_of(tmp_path / "raw.csv")] == [str(cell) for cell in cells]
    assert [writing.as_meant(cell) for cell in values] == [str(cell) for cell in cells]


def test_a_name_decides_the_format(tmp_path, capsys, rng):
    np.save(tmp_path / "x.npy", np.repeat(np.eye(3) * 30, 20, axis=0) + rng.standard_normal((60, 3)))
    assert call("number", tmp_path / "x.npy", "-k", "2-4", "-o", tmp_path / "t.json", "--quiet") == 0
    loaded = json.loads((tmp_path / "t.json").read_text())
    assert (loaded["n_clusters"], set(loaded["scores"])) == (3, {"2", "3", "4"})
    status, message = failure(capsys, "compare", tmp_path / "x.npy", "-k", 3, "-o", tmp_path / "t.txt")
    assert (status, ".csv, .json or .parquet" in message) == (4, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete(shell, monkeypatch, capsys):
    monkeypatch.setenv("_JOINTCLUST_COMPLETE", f"{shell}_source")
    assert call() == 0
    assert "_JOINTCLUST_COMPLETE" in capsys.readouterr().out
