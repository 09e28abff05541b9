"""The command line when something goes wrong, and what its pages say."""

import gzip
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest
import scipy.sparse as sp
from calling import FIT, ROOT, RUN, call, command, failure, rows_of

import jointclust as jc
from jointclust import files
from jointclust.cli import writing
from jointclust.readers import _table
from test_persistence import rewrite

# -- what can go wrong ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows"),
        ("a,b\n1,2\n1\n", "line 3 has 1 cells"),
        ("a,b\n1,2\n1,x\n5,6\n", "line 3, column 'b'"),
        ("a,a\n1,2\n", "more than one column"),
        (b"a,b\n1,\xff\n", "line 2 holds the byte 0xff"),
    ],
)
def test_unreadable_files(tmp_path, capsys, text, reason):
    (tmp_path / "x.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    strict = ("--categories", "refuse", "--missing", "refuse")
    status, message = failure(capsys, "fit", tmp_path / "x.csv", "-k", 2, *strict, "--out", tmp_path / "run")
    assert status == 3
    assert reason in message


def test_missing_file(tmp_path):
    done = command("fit", tmp_path / "absent.csv", "-k", 2, "--out", tmp_path / "run")
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == f"Error: {tmp_path / 'absent.csv'}: there is no such file."
    assert "Traceback" not in done.stderr


def test_debug_shows_where(tmp_path, capsys):
    assert call("fit", tmp_path / "absent.csv", "-k", 2, "--out", tmp_path / "run", "--debug") == 3
    assert "Traceback" in capsys.readouterr().err


def test_too_large_for_the_machine(tmp_path, capsys, monkeypatch):
    with (tmp_path / "x.csv").open("w") as stream:
        stream.write("a,b\n" + "1,2\n" * 2000)
        stream.truncate(10 * 2**30)
    monkeypatch.setattr(_table, "available_memory", lambda: 2.0 * 2**30)
    status, message = failure(capsys, "fit", tmp_path / "x.csv", "-k", 2, "--out", tmp_path / "run")
    assert status == 3
    assert "GiB" in message


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("-k", 3, "--method", "concensus"), "Did you mean 'consensus'?"),
        (("-k", 3, "--method", "ldakm", "--trade-off", 2), "--set trade_off does not go with --method ldakm"),
        (("-k", 3, "--set", "rigde=2", "--method", "ldakm"), "Did you mean 'ridge'?"),
        (("-k", 3, "--set", "ridge"), "NAME=VALUE"),
        (("-k", 3, "--image-shape", "2x3", *FIT), "makes 6 pixels; the data have 4"),
        (("-k", 0), "0 is not in the range"),
        (("-k", 3, "--scale", "big"), "'big' is not one of"),
        (("-k", 3, "--frobnicate"), "--frobnicate"),
    ],
)
def test_wrong_usage(iris_csv, tmp_path, capsys, arguments, reason):
    status, message = failure(capsys, "fit", iris_csv, *arguments, "--out", tmp_path / "run")
    assert status == 2
    assert reason in message


def test_data_that_cannot_be_clustered(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.eye(3))
    status, message = failure(capsys, "fit", tmp_path / "x.npy", "-k", 5, "--out", tmp_path / "run")
    assert status == 1
    assert "n_clusters=5 exceeds the number of rows" in message
    assert "(n_clusters: --clusters)" in message


def test_negative_values_are_no_counts(tmp_path, capsys, rng):
    np.save(tmp_path / "x.npy", rng.standard_normal((20, 3)))
    for scale in ("log1p", "tfidf"):
        status, message = failure(
            capsys, "fit", tmp_path / "x.npy", "-k", 2, "--scale", scale, "--out", tmp_path / "run"
        )
        assert (status, "is for counts" in message) == (2, True)


def test_nothing_is_overwritten_without_force(iris_csv, tmp_path, capsys):
    fit = ("fit", iris_csv, *FIT, "--resamples", 0, "--out", tmp_path / "run", "--quiet")
    assert call(*fit) == 0
    before = (tmp_path / "run" / "labels.csv").stat().st_mtime_ns
    status, message = failure(capsys, *fit)
    assert (status, "--force" in message) == (4, True)
    assert (tmp_path / "run" / "labels.csv").stat().st_mtime_ns == before
    (tmp_path / "run" / "candidates.csv").write_text("of an earlier select")
    (tmp_path / "run" / f"{files.UNFINISHED}left").write_text("by a killed run")
    assert call(*fit, "--force") == 0
    assert {path.name for path in (tmp_path / "run").iterdir()} == RUN
    model = tmp_path / "run" / "model.skops"
    status, message = failure(capsys, "predict", model, iris_csv, "--out", tmp_path / "run" / "labels.csv")
    assert (status, "--force" in message) == (4, True)


def test_models_that_cannot_be_used(iris_csv, tmp_path, capsys):
    predict = ("predict", tmp_path / "m.skops", iris_csv, "--out", tmp_path / "labels.csv")
    assert "there is no such model" in failure(capsys, *predict)[1]
    (tmp_path / "m.skops").write_text("x")
    assert "not a model file" in failure(capsys, *predict)[1]
    assert call("fit", iris_csv, *FIT, "--resamples", 0, "--out", tmp_path / "run", "--quiet") == 0
    model = tmp_path / "run" / "model.skops"
    rewrite(model, "jointclust.json", json.dumps({"library": "jointclust", "format": 99}))
    status, message = failure(capsys, "predict", model, iris_csv, "--out", tmp_path / "labels.csv")
    assert status == 3
    assert "Upgrade jointclust" in message


def test_columns_that_the_model_needs(iris_csv, tmp_path, capsys):
    assert call("fit", iris_csv, *FIT, "--resamples", 0, "--out", tmp_path / "run", "--quiet") == 0
    (tmp_path / "few.csv").write_text("sepal length (cm),other\n1,2\n")
    predict = ("predict", tmp_path / "run" / "model.skops", tmp_path / "few.csv", "--out", tmp_path / "labels.csv")
    status, message = failure(capsys, *predict)
    assert status == 3
    assert "lacks 3 of the model's 4 columns: 'sepal width (cm)', 'petal length (cm)', 'petal width (cm)'" in message


def test_folders_that_cannot_be_written(iris_csv, tmp_path, capsys):
    (tmp_path / "file").touch()
    status, message = failure(capsys, "fit", iris_csv, *FIT, "--out", tmp_path / "file" / "run")
    assert (status, "cannot be written" in message) == (4, True)
    status, message = failure(capsys, "fit", iris_csv, *FIT, "--out", "/proc/jointclust")
    assert (status, "cannot be written" in message) == (4, True)


def test_full_disk(iris_csv, tmp_path, capsys, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    status, message = failure(capsys, "fit", iris_csv, *FIT, "--resamples", 0, "--out", tmp_path / "run")
    assert (status, "the disk is full" in message) == (4, True)
    assert not (tmp_path / "run").exists()


def test_files_that_may_not_grow(iris_csv, tmp_path):
    """A real refusal by the system: files of at most 2 kB."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    done = command("fit", iris_csv, *FIT, "--resamples", 0, "--out", tmp_path / "run", preexec_fn=limit)
    assert done.returncode == 4
    assert "cannot be written" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_without_pyarrow(iris_csv, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(writing, "can_write_parquet", lambda: False)
    assert call("fit", iris_csv, *FIT, "--resamples", 0, "--out", tmp_path / "run", "--quiet") == 0
    assert len(rows_of(tmp_path / "run" / "embedding.csv")) == 150
    predict = ("predict", tmp_path / "run" / "model.skops", iris_csv, "--out", tmp_path / "new.csv")
    status, message = failure(capsys, *predict, "--embedding", tmp_path / "e.parquet")
    assert (status, "or name a .csv file" in message) == (4, True)
    assert call(*predict, "--embedding", tmp_path / "e.csv", "--quiet") == 0
    assert rows_of(tmp_path / "e.csv") == rows_of(tmp_path / "run" / "embedding.csv")


# -- pipes and devices --------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="pipes with names")
def test_pipes_are_read(iris_csv, tmp_path, capsys):
    """Also those that shells make of ``<(command)``, whose names tell no format."""
    fit, run = ("fit", *FIT, "--resamples", 0, "--quiet", "--out"), tmp_path / "run"

    def through_pipe(name, content, *arguments):
        os.mkfifo(tmp_path / name)
        feeder = threading.Thread(target=(tmp_path / name).write_bytes, args=(content,))
        feeder.start()
        status = call(*arguments)
        feeder.join()
        return status

    assert call(*fit, run, iris_csv) == 0
    for name in ("piped.csv", "63"):
        assert through_pipe(name, iris_csv.read_bytes(), *fit, tmp_path / f"of {name}", tmp_path / name) == 0
        assert (tmp_path / f"of {name}" / "labels.csv").read_bytes() == (run / "labels.csv").read_bytes()
    predict = ("predict", run, tmp_path / "new", "--quiet", "--out", tmp_path / "labels.csv")
    assert through_pipe("new", iris_csv.read_bytes(), *predict) == 0
    assert [row["label"] for row in rows_of(tmp_path / "labels.csv")] == [
        row["label"] for row in rows_of(run / "labels.csv")
    ]
    assert through_pipe("nothing", b"", *fit, tmp_path / "none", tmp_path / "nothing") == 3
    assert f"{tmp_path / 'nothing'} is empty" in capsys.readouterr().err
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_a_full_standard_output_is_told(iris_csv, tmp_path):
    assert call("fit", iris_csv, *FIT, "--resamples", 0, "--quiet", "--out", tmp_path / "run") == 0
    for arguments in (("predict", tmp_path / "run", iris_csv, "--out", "-", "--quiet"), ("datasets",), ("fit", "-h")):
        with Path("/dev/full").open("w") as full:
            call_ = [sys.executable, "-c", "from jointclust_command import main; main()", *map(str, arguments)]
            done = subprocess.run(call_, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300)
        assert done.returncode == 4
        assert done.stderr.startswith("Error: Standard output cannot be written: the disk is full.")
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_devices_are_no_data_and_no_folders(iris_csv, tmp_path, capsys):
    status, message = failure(capsys, "fit", "/dev/full", "--format", "csv", "-k", 3, "--out", tmp_path / "run")
    assert (status, "/dev/full is a device: give a file" in message) == (3, True)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for out, what in (("/dev/full", "is no folder"), (tmp_path / "dangling", "is a link")):
        status, message = failure(capsys, "fit", iris_csv, *FIT, "--out", out, "--force")
        assert (status, f"{out} {what}" in message) == (4, True), message
    assert not (tmp_path / "nowhere").exists()


# -- the pages ----------------------------------------------------------------------------------------------------


def test_commands_of_the_pages_run(tmp_path, monkeypatch, rng, iris):
    """Every command of the page on the command line, in order, in one folder."""
    page = (ROOT / "docs" / "command_line.rst").read_text()
    lines = re.findall(r"^   \$ (.*)$", page, re.MULTILINE)
    every_third = slice(None, None, 3)  # 50 rows
    data = iris.data[every_third] + 0.01 * rng.standard_normal((50, 4))
    table = np.column_stack([np.arange(50), data, iris.target[every_third]])
    names = ["name", "a", "b", "c", "d", "kind"]
    tables = ("data", "new", "february", "customers", "comments", "new_customers", "new_comments")
    for name, mark in (*((f"{name}.csv", ",") for name in tables), ("big.tsv", "\t")):
        np.savetxt(tmp_path / name, table, delimiter=mark, header=mark.join(names), comments="")
    (tmp_path / "big.tsv.gz").write_bytes(gzip.compress((tmp_path / "big.tsv").read_bytes()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    Path("names.json").write_text(re.search(r"code-block:: json\n\n((?:   .*\n)+)", page)[1])
    for line in lines:
        if "--known-rows" in line:
            filled = [f"{row['id']},{'abc'[int(row['id']) // 17]}" for row in rows_of(Path("to_label.csv"))]
            Path("to_label.csv").write_text("\n".join(["id,class", *filled]))
        if "|" in line:
            subprocess.run(line, shell=True, check=True, capture_output=True)
        elif line != "jointclust demo":  # has a test of its own
            assert call(*shlex.split(line)[1:]) == 0, line
    config = re.search(r"code-block:: toml\n\n((?:   .*\n)+)", page)[1]
    Path("fit.toml").write_text(textwrap.dedent(config))
    assert call("fit", "data.csv", "--config", "fit.toml", "--out", "configured", "--quiet") == 0


# -- processes that end early -----------------------------------------------------------------------------------


def start(*arguments):
    call = [sys.executable, "-c", "from jointclust_command import main; main()", *map(str, arguments)]
    return subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def check_whole(run, n_rows):
    """Whatever stands under its final name is complete; with the record there, so is everything."""
    present = (
        {path.name for path in run.iterdir() if not path.name.startswith(files.UNFINISHED)} if run.exists() else set()
    )
    if "labels.csv" in present:
        assert len(rows_of(run / "labels.csv")) == n_rows
    if "embedding.parquet" in present:
        assert parquet.read_table(run / "embedding.parquet").num_rows == n_rows
    if "model.skops" in present:
        jc.load(run / "model.skops")
    if "report.html" in present:
        assert (run / "report.html").read_text().rstrip().endswith("</html>")
    if "run.json" in present:
        json.loads((run / "run.json").read_text())
        assert present == RUN
    return present


def test_sigkill_at_any_moment(iris_csv, tmp_path):
    """Two kills: one anywhere, the other while files are being written."""
    rng = np.random.RandomState()
    fit = ("fit", iris_csv, *FIT, "--resamples", 0, "--quiet", "--out")
    began = time.perf_counter()
    process = start(*fit, tmp_path / "whole")
    process.communicate()
    duration = time.perf_counter() - began
    assert check_whole(tmp_path / "whole", 150) == RUN
    whole = 0
    for number in range(2):
        run = tmp_path / str(number)
        process = start(*fit, run)
        if number == 0:
            time.sleep(rng.uniform(0, duration))
        else:
            while process.poll() is None and not (run.exists() and any(run.iterdir())):
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        whole += check_whole(run, 150) == RUN
    assert whole < 2, "no run was cut short"


def test_ctrl_c_leaves_nothing_half_written(digits, tmp_path):
    np.save(tmp_path / "x.npy", np.repeat(digits.data, 2, axis=0))
    process = start("fit", tmp_path / "x.npy", "-k", 10, "--out", tmp_path / "run")
    for line in process.stderr:
        if line.startswith("Clustering"):
            break
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130, rest
    assert "Interrupted: nothing half-written was left." in rest
    assert "Traceback" not in rest
    assert not (tmp_path / "run").exists()


# -- what a review found ------------------------------------------------------------------------------------------


def test_a_failed_run_leaves_the_old_one(iris_csv, tmp_path, capsys):
    out = tmp_path / "out"
    assert call("fit", iris_csv, *FIT, "--out", out) == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    failure(capsys, "fit", tmp_path / "typo.csv", "-k", "3", "--method", "dec", "--out", out, "--force")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert call("fit", "--config", out / "run.json", "--out", out, "--force") == 0
    assert (out / "labels.csv").read_bytes() == before["labels.csv"]


def test_images_are_checked_before_the_work(iris_csv, tmp_path, capsys):
    for shape in ("3x3", "-2x-2"):
        failure(
            capsys, "fit", iris_csv, "-k", "3", "--method", "dec", f"--image-shape={shape}", "--out", tmp_path / "o"
        )
        assert not (tmp_path / "o").exists()


def test_codes_with_underscores_are_text(tmp_path, capsys):
    path = tmp_path / "codes.csv"
    path.write_text("a,code\n" + "\n".join(f"{i % 3},1_{i}" for i in range(30)) + "\n")
    fit = ("fit", path, "-k", "3", "--method", "dec", "--categories", "refuse", "--out", tmp_path / "o")
    assert "holds text" in failure(capsys, *fit)[1]


def test_rows_without_a_class_are_left_out(tmp_path, rng):
    path, y = tmp_path / "some.csv", np.repeat([0, 1, 2], 20)
    lines = [f"{10 * k + rng.normal()},{rng.normal()},{'' if i % 7 == 0 else 'abc'[k]}" for i, k in enumerate(y)]
    path.write_text("a,b,kind\n" + "\n".join(lines) + "\n")
    options = ("--method", "dec", "--scale", "none", "--label-column", "kind", "--resamples", "0")
    assert call("fit", path, "-k", "3", *options, "--out", tmp_path / "o") == 0
    result = json.loads((tmp_path / "o" / "run.json").read_text())["result"]
    assert result["accuracy"] == 1
    assert result["rows_without_class"] == 9


def test_names_of_rows_in_predict(tmp_path, rng):
    path = tmp_path / "named.csv"
    path.write_text(",a,b\n" + "\n".join(f"cell{i},{10 * (i % 2)},{rng.normal()}" for i in range(40)) + "\n")
    call("fit", path, "-k", "2", "--method", "dec", "--resamples", "0", "--out", tmp_path / "o")
    call("predict", tmp_path / "o" / "model.skops", path, "--out", tmp_path / "labels.csv")
    assert (tmp_path / "labels.csv").read_text() == (tmp_path / "o" / "labels.csv").read_text()


def test_new_rows_without_the_last_features(tmp_path, rng):
    lines = [f"0 1:{10 * (i % 2)} 2:{rng.normal():.3f} 30:{rng.normal():.3f}" for i in range(40)]
    (tmp_path / "all.svm").write_text("\n".join(lines) + "\n")
    (tmp_path / "few.svm").write_text("0 1:10 2:0.5\n0 1:0.1\n")
    call("fit", tmp_path / "all.svm", "-k", "2", "--method", "dec", "--resamples", "0", "--out", tmp_path / "o")
    call("predict", tmp_path / "o" / "model.skops", tmp_path / "few.svm", "--out", tmp_path / "labels.csv")
    assert len((tmp_path / "labels.csv").read_text().splitlines()) == 3


def test_tables_go_to_tables(iris_csv, tmp_path, capsys):
    assert call("fit", iris_csv, *FIT, "--out", tmp_path / "o") == 0
    model = tmp_path / "o" / "model.skops"
    files = ["--out", tmp_path / "l.csv", "--embedding", tmp_path / "e.npy"]
    assert ".csv or .parquet" in failure(capsys, "predict", model, iris_csv, *files)[1]
    assert "--clusters" in failure(capsys, "fit", iris_csv, "--set", "n_clusters=2", "--out", tmp_path / "p")[1]


def test_texts_are_asked_for_and_ids_are_told_once(tmp_path, capsys):
    lines = [f"{7 * row % 30},{text}" for row, text in enumerate(["cat dog", "sun moon", "milk egg"] * 10)]
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(["id,text", *lines]) + "\n")
    run = tmp_path / "run"
    call("fit", path, "-k", 3, "--text-column", "text", "-o", run, "--resamples", 0)
    (run / "run.json").rename(run / "record.json")  # nobody remembers the column
    _, message = failure(capsys, "predict", run / "model.skops", path, "-o", tmp_path / "labels.csv")
    assert "--text-column" in message
    call("predict", run / "model.skops", path, "--text-column", "text", "-o", tmp_path / "labels.csv")
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("\n".join(["id,a,b", *(f"{7 * row % 30},{row % 3},{row % 5}" for row in range(30))]) + "\n")
    capsys.readouterr()
    call("fit", numbers, "-k", 3, "-o", tmp_path / "other", "--resamples", 0)
    texts = capsys.readouterr().err
    assert "'id' names the rows" in texts
    assert "taken as a feature" not in texts
    call("fit", numbers, "-k", 3, "--missing", "mean", "-o", tmp_path / "matrix", "--resamples", 0)
    assert "'id' is taken as a feature" in capsys.readouterr().err
    words = sp.csr_array(np.random.RandomState(0).poisson(1, (30, 3)))
    np.savez(
        tmp_path / "words.npz",
        **{name: getattr(words, name) for name in ("data", "indices", "indptr", "shape")},
        words=["class", "row", "sun"],
    )
    call("fit", tmp_path / "words.npz", "-k", 3, "-o", tmp_path / "words", "--method", "ldakm", "--resamples", 0)
    assert "taken as a feature" not in capsys.readouterr().err


def test_tfidf_of_dense_counts_is_dense(tmp_path, rng):
    np.save(tmp_path / "x.npy", rng.poisson(2, size=(40, 6)).astype(float))
    fit = ("fit", tmp_path / "x.npy", "-k", 2, "--method", "fuzzy-kmeans", "--scale", "tfidf", "--resamples", 0)
    assert call(*fit, "--out", tmp_path / "run", "--quiet") == 0


def test_levels_that_fit_has_not_seen_are_told_in_a_line(tmp_path, capsys, rng):
    rows = [f"{5 * (i % 2) + rng.normal()},{'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "x.csv").write_text("\n".join(["n,c", *rows]) + "\n")
    (tmp_path / "new.csv").write_text("n,c\n1,a\n2,other\n")
    assert call("fit", tmp_path / "x.csv", "-k", 2, "--method", "dec", "--resamples", 0, "-o", tmp_path / "run") == 0
    capsys.readouterr()
    assert call("predict", tmp_path / "run" / "model.skops", tmp_path / "new.csv", "-o", tmp_path / "l.csv") == 0
    text = capsys.readouterr().err
    assert "Warning: Levels that fit has not seen" in text
    assert "UserWarning" not in text
