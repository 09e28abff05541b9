"""The folder of a run: the old run or the new one, whole, whatever happens; one run at a time; no links."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from calling import FIT, RUN, call, failure, rows_of

from jointclust.cli import exchange
from jointclust.cli.errors import OutputError
from jointclust.cli.exchange import claimed_folder, digests_of, exchanging, settle

QUICK = (*FIT, "--resamples", 0, "--quiet", "--report-megabytes", 0.1)
# What changes names in a folder, one call after another: a process may be killed before any of them.
STEPS = [(os, "replace"), (os, "rename"), (os, "rmdir"), (os, "unlink"), (os, "mkdir")]


def write(folder, text, names):
    """A run of files that hold the same text."""
    with claimed_folder(folder, force=True), exchanging(folder) as begun:
        for name in names:
            (begun / name).write_text(text)
        (begun / "run.json").write_text(json.dumps({"text": text, "files": digests_of(begun)}))


def content(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def killed_at(step, folder, names):
    """Write a run in a process that is killed before its ``step``-th change of names; whether it came so far."""
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    left = step

    def counted(change):
        def changed(*arguments, **options):
            nonlocal left
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            return change(*arguments, **options)

        return changed

    for module, name in STEPS:
        setattr(module, name, counted(getattr(module, name)))
    write(folder, "new", names)
    os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a fork of this process")
def test_killed_anywhere_the_old_run_or_the_new_one_is_whole(tmp_path):
    old, new = ("labels.csv", "named_labels.csv", "model.skops"), ("labels.csv", "model.skops", "report.html")
    found, step, is_killed = [], 0, True
    while is_killed:
        folder = tmp_path / str(step)
        write(folder, "old", old)
        (folder / "notes.txt").write_text("mine")
        (folder / "mine").mkdir()
        is_killed = killed_at(step, folder, new)
        settle(folder)
        there = content(folder)
        assert there.pop("notes.txt") == "mine"
        assert (folder / "mine").is_dir()
        record = json.loads(there.pop("run.json"))
        assert there == dict.fromkeys(old if record["text"] == "old" else new, record["text"])
        found.append(record["text"])
        write(folder, "later", new)  # nothing is in the way of the next run, and nothing of the killed one stays
        assert {path.name for path in folder.iterdir()} == {*new, "run.json", "notes.txt", "mine"}
        step += 1
    assert found == sorted(found, reverse=True)
    assert found.count("old") >= 2
    assert found.count("new") >= 7  # a file after the other, found in the middle and brought to an end


def test_signals_wait_until_the_files_are_exchanged(tmp_path, monkeypatch):
    folder, replace = tmp_path / "run", os.replace
    write(folder, "old", ("labels.csv", "model.skops"))

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        replace(*arguments)

    monkeypatch.setattr(exchange.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(folder, "new", ("labels.csv", "model.skops"))
    there = content(folder)
    assert json.loads(there.pop("run.json"))["text"] == "new"
    assert there == dict.fromkeys(("labels.csv", "model.skops"), "new")


def test_a_failure_leaves_what_was_there_and_no_empty_folder(tmp_path):
    for folder in (tmp_path / "run", tmp_path / "a" / "b" / "run"):
        with pytest.raises(OutputError, match=r"run/labels.csv cannot be written: the disk is full"):
            write_half(folder)
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / "run", "old", ("labels.csv",))
    before = content(tmp_path / "run")
    with pytest.raises(OutputError):
        write_half(tmp_path / "run")
    assert content(tmp_path / "run") == before
    assert len(list((tmp_path / "run").iterdir())) == len(before)


def write_half(folder):
    with claimed_folder(folder, force=True), exchanging(folder) as begun:
        (begun / "model.skops").write_text("half")
        with exchange.errors_of(begun / "labels.csv"):
            raise OSError(28, "No space left on device")


def test_an_error_of_standard_output_is_not_blamed_on_the_folder(tmp_path):
    full = OSError(28, "No space left on device")
    with pytest.raises(OSError, match="No space left") as caught, claimed_folder(tmp_path / "run", force=False):
        raise full
    assert caught.value is full


def test_links_are_named_as_one_would_type_them(tmp_path):
    (tmp_path / "run").symlink_to("nowhere")
    with pytest.raises(OutputError, match=f"run is a link, to {tmp_path}/nowhere, where no folder is"):
        write(tmp_path / "run", "new", ("labels.csv",))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "labels.csv").symlink_to("away.csv")
    with pytest.raises(OutputError, match=f"labels.csv is a link, to {tmp_path}/other/away.csv: nothing"):
        write(tmp_path / "other", "new", ("labels.csv",))


def test_permissions_of_files_stay(tmp_path):
    write(tmp_path / "run", "old", ("labels.csv",))
    (tmp_path / "run" / "labels.csv").chmod(0o600)
    write(tmp_path / "run", "new", ("labels.csv",))
    assert (tmp_path / "run" / "labels.csv").stat().st_mode & 0o777 == 0o600


# -- one run at a time --------------------------------------------------------------------------------------------


def test_a_folder_is_one_runs_until_it_ends(iris_csv, tmp_path, capsys):
    run = tmp_path / "run"
    fit = ("fit", iris_csv, *QUICK, "--out", run)
    with claimed_folder(run, force=False):
        for more in ((), ("--force",)):
            status, message = failure(capsys, *fit, *more)
            assert (status, "is being written by another run: wait for it to end" in message) == (4, True)
    assert not run.exists()
    assert call(*fit) == 0


def test_a_killed_process_holds_nothing(tmp_path):
    code = (
        "import pathlib, sys, time; from jointclust.cli.exchange import claimed_folder, exchanging\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "with claimed_folder(folder, force=False), exchanging(folder) as begun:\n"
        "    (begun / 'labels.csv').write_text('half'); print('ready', flush=True); time.sleep(100)"
    )
    call = [sys.executable, "-c", code, str(tmp_path / "run")]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(OutputError, match="another run"), claimed_folder(tmp_path / "run", force=True):
            pass
        process.kill()
    write(tmp_path / "run", "new", ("labels.csv",))
    assert (
        set(content(tmp_path / "run")) == {"labels.csv", "run.json"} == {p.name for p in (tmp_path / "run").iterdir()}
    )


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_an_interrupted_force_leaves_the_run_before(iris_csv, tmp_path, sent):
    run = tmp_path / "run"
    assert call("fit", iris_csv, *QUICK, "--out", run) == 0
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    again = ("fit", iris_csv, *QUICK, "--clusters", 5, "--out", run, "--force")
    arguments = [sys.executable, "-c", "from jointclust_command import main; main()", *map(str, again)]
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not list(run.glob(".jointclust-run-*/*")):
            time.sleep(0.001)
        process.send_signal(sent)
        error = process.communicate(timeout=60)[1]
    assert (process.returncode, error.strip()) == (130, "Interrupted: nothing half-written was left.")
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


# -- files of two runs --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory):
    """Data, and the folders of two runs on them."""
    folder = tmp_path_factory.mktemp("two")
    rng = np.random.RandomState(0)
    rows = 9 * np.eye(4)[np.arange(80) % 4] + rng.standard_normal((80, 4))
    np.savetxt(folder / "x.csv", rows, delimiter=",", header="a,b,c,d", comments="")
    for n_clusters in (2, 4):
        fit = ("fit", folder / "x.csv", "-k", n_clusters, "--method", "ldakm", "--resamples", 0, "--quiet")
        assert call(*fit, "--out", folder / str(n_clusters)) == 0
    return folder


def mixed(two_runs, folder, names):
    """The run of two clusters, with some files of the other."""
    shutil.copytree(two_runs / "2", folder)
    for name in names:
        shutil.copy(two_runs / "4" / name, folder / name)
    return folder


@pytest.mark.parametrize("name", ["model.skops", "run.json", "clusters.csv"])
@pytest.mark.parametrize("is_old", [False, True])
def test_files_of_two_runs_are_refused(two_runs, tmp_path, capsys, name, is_old):
    run = mixed(two_runs, tmp_path / "run", [name])
    if is_old:  # as version 0.3 left it when it was killed
        record = json.loads((run / "run.json").read_text())
        del record["files"]
        (run / "run.json").write_text(json.dumps(record))
    status, message = failure(capsys, "predict", run, two_runs / "x.csv", "--out", tmp_path / "labels.csv")
    assert (status, "files of two runs are mixed there" in message) == (3, True)
    assert not (tmp_path / "labels.csv").exists()


def test_a_run_without_its_record_is_refused_and_a_model_alone_is_not(two_runs, tmp_path, capsys):
    run = mixed(two_runs, tmp_path / "run", [])
    (run / "run.json").unlink()
    status, message = failure(capsys, "predict", run, two_runs / "x.csv", "--out", tmp_path / "labels.csv")
    assert (status, "holds no run.json" in message) == (3, True)
    (tmp_path / "alone").mkdir()
    shutil.copy(two_runs / "2" / "model.skops", tmp_path / "alone" / "model.skops")
    assert call("predict", tmp_path / "alone", two_runs / "x.csv", "--out", tmp_path / "labels.csv", "--quiet") == 0


def test_names_that_someone_has_changed_are_taken(two_runs, tmp_path):
    run = mixed(two_runs, tmp_path / "run", [])
    rows = rows_of(run / "clusters.csv")
    text = (run / "clusters.csv").read_text().replace(rows[0]["name"], "the first", 1)
    (run / "clusters.csv").write_text(text)
    assert call("predict", run, two_runs / "x.csv", "--out", tmp_path / "labels.csv", "--quiet") == 0
    assert "the first" in {row["name"] for row in rows_of(tmp_path / "labels.csv")}


def test_what_a_killed_run_left_to_do_is_done_by_the_next_command(two_runs, tmp_path):
    run = mixed(two_runs, tmp_path / "run", ["labels.csv", "clusters.csv"])  # these were exchanged already
    (run / ".jointclust-whole").mkdir()
    for name in RUN - {"labels.csv", "clusters.csv"}:
        shutil.copy(two_runs / "4" / name, run / ".jointclust-whole" / name)
    assert call("predict", run, two_runs / "x.csv", "--out", tmp_path / "labels.csv", "--quiet") == 0
    for name in RUN:
        assert (run / name).read_bytes() == (two_runs / "4" / name).read_bytes()
    assert {path.name for path in run.iterdir()} == RUN


# -- links --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("force", [(), ("--force",)])
def test_nothing_is_written_through_links(two_runs, tmp_path, capsys, is_there, force):
    target, run, data = tmp_path / "precious", tmp_path / "run", two_runs / "x.csv"
    if is_there:
        target.write_text("precious")
    run.mkdir()
    fit = ("fit", data, "-k", 2, "--method", "ldakm", "--resamples", 0, "--quiet", "--out", run, *force)
    for name in sorted(RUN):
        (run / name).symlink_to(target)
        status, message = failure(capsys, *fit)
        assert (status, f"{name} is a link, to {target}" in message) == (4, True)
        (run / name).unlink()
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    predict = ("predict", two_runs / "2", data, "--quiet", *force)
    for more in (("--out", link), ("--out", tmp_path / "labels.csv", "--embedding", link)):
        status, message = failure(capsys, *predict, *more)
        assert (status, "nothing is written through links" in message) == (4, True)
    assert target.exists() == is_there
    assert not is_there or target.read_text() == "precious"
    assert not (tmp_path / "labels.csv").exists()
    (tmp_path / "out").symlink_to(run)  # the folder itself may be a link: it is where its user wants it
    assert call(*fit[: -1 - len(force)], tmp_path / "out", *force) == 0
    assert {path.name for path in run.iterdir()} == RUN


def test_files_that_are_not_of_the_run_are_named(iris_csv, tmp_path, capsys):
    """Also those that a command does not use; the model itself is refused."""
    run = tmp_path / "run"
    assert call("fit", iris_csv, *QUICK, "--out", run) == 0
    assert call("predict", run, iris_csv, "-o", tmp_path / "a.csv") == 0
    assert "not as the run wrote them" not in capsys.readouterr().err
    (run / "report.html").write_text("of another run")
    assert call("predict", run, iris_csv, "-o", tmp_path / "b.csv") == 0
    error = capsys.readouterr().err
    assert "not as the run wrote them" in error
    assert "report.html." in error
