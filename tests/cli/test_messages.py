"""What the command line says, and what it does not say."""

import csv
import io
import itertools
import json
import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from calling import ROOT, call, failure, rows_of

import jointclust as jc
from jointclust import progress
from jointclust.cli import errors, writing
from jointclust.cli.columns import in_short
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


def test_an_everyday_file_is_told_in_few_lines_and_nothing_twice(tmp_path, capsys, rng):
    """Numbers with decimal commas, dates, gaps, an id, copies of rows, and what is not used."""
    lines = ["customer;spent;orders;last order;channel;score"]
    for row in range(120):
        group = row % 3
        spent = "" if row % 11 == 0 else f"{90 * group + rng.normal(50, 5):.2f}".replace(".", ",")
        date = f"{rng.randint(1, 28):02d}.{1 + 4 * group:02d}.2025"
        lines.append(
            f"C{row};{spent};{rng.poisson(3 + 9 * group)};{date};{('app', 'web', 'shop')[group]};{rng.randint(99)}"
        )
    (tmp_path / "customers.csv").write_text("\n".join([*lines, *lines[1:4]]) + "\n")
    quick = ("--set", "effort=quick", "--set", "trust=false")
    assert call("fit", tmp_path / "customers.csv", *quick, "--out", tmp_path / "run") == 0
    told = capsys.readouterr()
    assert len(told.err.splitlines()) <= 6
    assert len(told.out.splitlines()) <= 8
    for once in ("Gaps are filled", "123 rows have 120 names", "Number of clusters"):
        assert told.err.count(once) == 1, once
    assert "since 1970" not in told.err, "that these are dates was said when they were read"
    notes = (
        (tmp_path / "run" / "report.html").read_text().partition('<section id="notes"')[2].partition("</section>")[0]
    )
    assert "Gaps are filled" in notes
    assert not re.search("since 1970|view|left out|not used", notes), "columns and views have tables of their own"


def test_what_is_not_used_and_what_else_could_be_is_one_line():
    """So that a file with dates, gaps, an id and another grouping of its rows has six lines before the result."""
    table, _ = jc.datasets.everyday("customers", random_state=0)
    used, aside = in_short(jc.describe(table))
    assert used.startswith("Clustered as a mixed table")
    assert "Not used: " in aside
    assert aside.endswith(". Another grouping of the same rows: --columns city,country")


def test_texts_that_are_not_clustered_are_a_danger_where_little_else_is(tmp_path, capsys, rng):
    """With many other columns they are worth a line."""
    head, rows = ["day", "priority", "text"], []
    for row in range(90):
        words = " ".join(rng.choice([f"word{i}" for i in range(40)], 12))
        rows.append([f"2025-{1 + row % 12:02d}-{1 + row % 28:02d}", ["low", "high"][row % 2], words])
    wide = [[*row, *(f"{value + 9 * (k % 2):.3f}" for value in rng.standard_normal(4))] for k, row in enumerate(rows)]
    for name, names, cells in (("few", head, rows), ("many", [*head, *"abcd"], wide)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as stream:
            csv.writer(stream).writerows([names, *cells])
        run = tmp_path / name
        assert call("fit", tmp_path / f"{name}.csv", "-k", 2, *FAST[2:4], "--resamples", 0, "--out", run) == 0
        danger = "Column 'text' holds texts, which have no part in these clusters: "
        told, page = capsys.readouterr().err, (run / "report.html").read_text()
        assert told.count(danger) == 1
        assert (f"Warning: {danger}" in told) == (name == "few")
        assert any(danger in text for text in json.loads((run / "run.json").read_text())["warnings"]) == (name == "few")
        beware = page.partition('<section class="warnings"')[2].partition("</section>")[0]
        assert ("To cluster the texts: --text-column text" in beware) == (name == "few")


def test_an_uncertain_number_is_told_once_before_the_result(tmp_path, capsys, rng):
    X = np.repeat(np.eye(8) * 3, 20, axis=0) + rng.standard_normal((160, 8))
    np.save(tmp_path / "x.npy", X)
    quick = ("--set", "effort=quick", "--set", "trust=false")
    assert call("fit", tmp_path / "x.npy", "-k", "2-4", *quick, "--out", tmp_path / "run") == 0
    told = capsys.readouterr().err
    number = json.loads((tmp_path / "run" / "run.json").read_text())["result"]["clusters"]
    assert "Warning: The number of clusters is uncertain" in told
    assert told.count(f"{number} clusters (probability ") == 1


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
    assert values == ["'=1+1", "'+a", "'-b", "'@c", "-5", "+3.5", "-", "plain", "'quoted", "-2.5", "\t'=1"]
    assert [row["=head"] for row in rows_of(tmp_path / "raw.csv")] == [str(cell) for cell in cells]
    assert [writing.as_meant(cell) for cell in values] == [str(cell) for cell in cells]


def test_no_part_of_a_cell_is_a_formula():
    unseen = ["", " ", "\xa0", "\u200b", "\ufeff", '"', "\x00"]
    splits = [";", ",", "|", "\t", "\r", "\n", "\r\n", "\u2028", ";; "]
    signs = ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"]
    for start, split, between, sign in itertools.product(["", "a", "'", '"', "5"], splits, unseen, signs):
        for cell in (f"{start}{split}{between}{sign}1+1", f"{between}{sign}A1{split}{sign}"):
            parts = re.split(r"[;,|\t\r\n\u2028]", writing.as_text(cell))
            assert not [part for part in parts if part.strip("".join(unseen))[:1] == sign]
            assert writing.as_meant(writing.as_text(cell)) == cell


def test_cells_are_read_back_as_they_were(tmp_path, rng):
    """Apostrophes that were there stay, also in a header and before a formula; a bare CR is in quotes."""
    letters = np.array(["=", "'", "-", "5", ";", ",", "\t", "\r", "\n", "\ufeff", " ", '"', "a", "\uff1d"])
    cells = ["'=1", "''=1", "'-5", "-5", "a\rb", "\r", "x\r\ny", "'tis"]
    cells += [f"{''.join(rng.choice(letters, 8))}." for _ in range(500)]
    for raw in (False, True):
        writing.write_table(tmp_path / "t.csv", {"'=head;=x": cells, "n": [1.5] * len(cells)}, raw=raw)
        assert writing.read_cells(tmp_path / "t.csv", raw=raw)["'=head;=x"] == cells
    assert (tmp_path / "t.csv").read_bytes().startswith(b"'=head;=x,n\n'=1,1.5\n")


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


def test_writing_tells_its_stages_in_the_order_of_its_plan(tmp_path, rng):
    """Else what is left is reckoned from stages that are taken to be over."""
    planned, told = [], []

    class Recorded(progress.Clock):
        def plan(self, weights):
            super().plan(weights)
            planned.append(list(weights))

        def advance(self, stage, done, total=1.0):
            super().advance(stage, done, total)
            told.append(stage)

    np.save(tmp_path / "x.npy", np.repeat(9 * np.eye(4), 30, axis=0) + rng.standard_normal((120, 4)))
    quick = ("--set", "effort=quick", "--set", "trust=false")
    with progress.listening(Recorded()) as clock:
        assert call("fit", tmp_path / "x.npy", "-k", 4, *quick, "--quiet", "--out", tmp_path / "run") == 0
    assert "report.html" in planned[-1]
    assert list(dict.fromkeys(stage for stage in told if stage in planned[-1])) == planned[-1]
    assert clock.share == pytest.approx(1.0)
