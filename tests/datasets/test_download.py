"""Data sets from a public source, played by a server in this process, with all that can go wrong on the way."""

import dataclasses
import errno
import io
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import scipy.io

from jointclust import cli, datasets
from jointclust.datasets import DatasetError, _download

CUT = _download._CHUNK  # bytes that a faulty server sends before it hangs up


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, wanted = self.server, self.headers.get("Range")
        server.requests.append(wanted)
        fault = server.faults.pop(0) if len(server.faults) > 1 else server.faults[0]
        if fault in (404, 500):
            return self.send_error(fault)
        begin = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and fault != "no range" else 0
        if wanted and fault != "no if-range" and self.headers["If-Range"] not in server.headers.values():
            begin = 0
        if begin >= len(server.body):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(server.body)}")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        self.send_response(206 if begin else 200)
        if begin:
            begin = 0 if fault == "other part" else begin
            self.send_header("Content-Range", f"bytes {begin}-{len(server.body) - 1}/{len(server.body)}")
        rest = server.body[begin:]
        if fault == "short":
            rest = rest[:CUT]
        if fault != "no length":
            self.send_header("Content-Length", str(len(rest)))
        for name, value in server.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(rest[:CUT] if fault in ("cut", "stall", "no length") else rest)
        if fault == "stall":
            server.healed.wait(20)
        return None

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.requests, server.faults, server.healed = [], [None], threading.Event()
        server.headers = {"ETag": '"one"', "Last-Modified": "Fri, 02 Jan 2026 03:04:05 GMT"}
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.healed.set()
        server.shutdown()
        thread.join()


@pytest.fixture
def entry(server, tmp_path, monkeypatch):
    """A small data set under the name of a real one, whose source is the server."""
    rng = np.random.RandomState(0)
    X, y = rng.randint(0, 255, size=(60, 20)), np.arange(60) // 20 + 1
    stored = io.BytesIO()
    scipy.io.savemat(stored, {"X": X.astype(float), "Y": y[:, None]})
    server.body = stored.getvalue()
    assert len(server.body) > 2 * CUT
    entry = dataclasses.replace(
        datasets.registry()["umist"],
        n_samples=60,
        n_features=20,
        n_classes=3,
        url=f"http://127.0.0.1:{server.server_port}/data/umist.mat",
        sha256=datasets.fingerprint(X, y),
    )
    known(monkeypatch, entry)
    monkeypatch.setattr(_download, "PAUSE", 0)
    monkeypatch.setenv("JOINTCLUST_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("JOINTCLUST_DATA", raising=False)
    return entry


def known(monkeypatch, entry):
    monkeypatch.setattr(datasets, "ENTRIES", datasets.registry() | {entry.name: entry})


def cached(tmp_path):
    folder = tmp_path / "cache"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def part_of(entry, tmp_path):
    return _download.part_of(tmp_path / "cache" / "umist-umist.mat", entry.url)


def leave(entry, tmp_path, content, version=b'"one"'):
    part = part_of(entry, tmp_path)
    part.parent.mkdir()
    part.write_bytes(version + b"\n" + content)
    return part


def check(entry, tmp_path):
    """The data set is there, whole, and nothing else is."""
    data = datasets.load(entry.name)
    assert datasets.fingerprint(data.data, data.target) == entry.sha256
    assert cached(tmp_path) == ["umist.npz"]
    return data


def test_downloaded_once(entry, server, tmp_path, capfd):
    assert datasets.present("umist") is None
    assert "umist" not in datasets.names()
    data = check(entry, tmp_path)
    assert data.data.dtype == np.float64
    assert (data.name, data.n_classes) == ("umist", 3)
    assert datasets.present("umist") == str(tmp_path / "cache" / "umist.npz")
    assert "umist" in datasets.names()
    check(entry, tmp_path)
    assert server.requests == [None]
    assert capfd.readouterr() == ("", "")


def test_fetched_again_only_on_demand(entry, server, tmp_path):
    path = datasets.fetch("umist")
    assert datasets.fetch("umist") == path
    assert len(server.requests) == 1
    assert datasets.fetch("umist", force=True) == path
    cli.main(["datasets", "umist", "--download", "--quiet"])
    assert len(server.requests) == 2
    cli.main(["datasets", "umist", "--download", "--quiet", "--force"])
    assert len(server.requests) == 3


@pytest.mark.parametrize("damage", [lambda content: content[:-100], lambda content: b"", lambda content: b"nothing"])
def test_a_damaged_copy_in_the_cache(entry, server, tmp_path, damage):
    path = datasets.fetch("umist")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(
        DatasetError, match=r"umist.npz cannot be read: .*\. Delete this file, and load again\."
    ) as caught:
        datasets.load("umist")
    assert "pickle=" not in str(caught.value)
    path.unlink()
    check(entry, tmp_path)


def test_not_against_the_users_will(entry, server):
    with pytest.raises(DatasetError, match="can be downloaded"):
        datasets.load("umist", download=False)
    assert server.requests == []


def test_wrong_contents_are_deleted(entry, server, tmp_path, monkeypatch):
    server.body = server.body.replace(np.float64(47).tobytes(), np.float64(48).tobytes())
    with pytest.raises(DatasetError, match=f"checksum [0-9a-f]{{64}}, and {entry.sha256} was.*deleted.*by hand"):
        datasets.load("umist")
    assert cached(tmp_path) == []
    inexact = dataclasses.replace(entry, exact=False)
    known(monkeypatch, inexact)
    assert datasets.load("umist").data.shape == (60, 20)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"<html>Sign in to the hotel's network</html>", "does not hold umist as it should.*deleted"),
        ({"X": np.eye(5), "y": np.arange(5)}, "5 rows, 5 columns and 5 classes, and 60 rows, 20 columns and 3 classes"),
        ({"A": np.eye(5)}, r"holds A \(5 x 5\)"),
    ],
)
def test_another_file(entry, server, tmp_path, body, message):
    if isinstance(body, dict):
        stored = io.BytesIO()
        scipy.io.savemat(stored, body)
        body = stored.getvalue()
    server.body = body
    with pytest.raises(DatasetError, match=message):
        datasets.load("umist")
    assert cached(tmp_path) == []


def test_cut_short_goes_on(entry, server, tmp_path):
    server.faults = ["cut", "cut", None]
    check(entry, tmp_path)
    assert server.requests == [None, f"bytes={CUT}-", f"bytes={2 * CUT}-"]


def test_cut_short_for_good_goes_on_at_the_next_call(entry, server, tmp_path):
    server.faults = ["cut", 500]
    with pytest.raises(DatasetError, match="500"):
        datasets.load("umist")
    assert cached(tmp_path) == [part_of(entry, tmp_path).name]
    server.requests.clear()
    server.faults = [None]
    check(entry, tmp_path)
    assert server.requests == [f"bytes={CUT}-"]


@pytest.mark.parametrize("fault", ["cut", "stall"])
def test_a_server_that_never_finishes(entry, server, tmp_path, monkeypatch, fault):
    monkeypatch.setattr(_download, "SILENCE", 0.2)
    monkeypatch.setattr(_download, "ATTEMPTS", 2)
    server.faults = [fault]
    with pytest.raises(DatasetError, match=f"ended after {2 * CUT} of {len(server.body)} bytes, which are kept"):
        datasets.load("umist")
    assert part_of(entry, tmp_path).read_bytes() == b'"one"\n' + server.body[: 2 * CUT]


@pytest.mark.parametrize(("fault", "more"), [("no range", []), ("other part", [None])])
def test_a_server_without_ranges_starts_over(entry, server, tmp_path, fault, more):
    server.faults = ["cut", fault, None]
    check(entry, tmp_path)
    assert server.requests == [None, f"bytes={CUT}-", *more]


@pytest.mark.parametrize("extra", [0, 1, 5000])
def test_a_part_that_is_all_there_or_too_long(entry, server, tmp_path, extra):
    leave(entry, tmp_path, server.body + b"x" * extra)
    check(entry, tmp_path)
    assert server.requests == [f"bytes={len(server.body) + extra}-"] + [None] * (extra > 0)


def test_a_part_that_is_wrong_is_not_kept(entry, server, tmp_path):
    leave(entry, tmp_path, b"x" * CUT)
    with pytest.raises(DatasetError, match="deleted"):
        datasets.load("umist")
    check(entry, tmp_path)


@pytest.mark.parametrize(
    ("version", "headers", "goes_on"),
    [
        (b'"one"', {"ETag": '"one"'}, True),
        (b'"one"', {"ETag": '"two"'}, False),
        (b"Fri, 02 Jan 2026 03:04:05 GMT", {"ETag": 'W/"one"', "Last-Modified": "Fri, 02 Jan 2026 03:04:05 GMT"}, True),
        (b"Fri, 02 Jan 2026 03:04:05 GMT", {"Last-Modified": "Sat, 03 Jan 2026 03:04:05 GMT"}, False),
    ],
)
@pytest.mark.parametrize("fault", [None, "no if-range"])
def test_parts_of_two_files_are_not_stitched(entry, server, tmp_path, fault, version, headers, goes_on):
    """Not even where the server does not know ``If-Range``."""
    leave(entry, tmp_path, server.body[:CUT] if goes_on else b"x" * CUT, version)
    server.headers, server.faults = headers, [fault]
    check(entry, tmp_path)
    assert server.requests == [f"bytes={CUT}-"] + [None] * (fault is not None and not goes_on)


def test_without_a_version_a_download_starts_over(entry, server, tmp_path):
    server.headers, server.faults = {"ETag": 'W/"one"'}, ["cut", 500]
    with pytest.raises(DatasetError, match="500"):
        datasets.load("umist")
    assert cached(tmp_path) == []
    server.requests.clear()
    server.faults = ["cut", None]
    check(entry, tmp_path)
    assert server.requests == [None, None]


def test_parts_of_two_addresses_are_apart(entry, server, tmp_path, monkeypatch):
    leave(entry, tmp_path, b"x" * CUT)
    known(monkeypatch, dataclasses.replace(entry, url=entry.url.replace("/data/", "/moved/")))
    check(entry, tmp_path)
    assert server.requests == [None]


def test_old_parts_are_removed(entry, server, tmp_path):
    leave(entry, tmp_path, server.body[:CUT])
    other = tmp_path / "cache" / "umist_small-umist.mat.part"
    for path in (other, part_of(entry, tmp_path).with_suffix(".part.0123"), other.with_name("umist-umist.mat.part")):
        path.write_bytes(b"old")
    with other.with_name("umist-other.mat-0.part").open("ab") as used:
        _download.lock(used)
        datasets.load("umist")
        assert cached(tmp_path) == ["umist-other.mat-0.part", "umist.npz", other.name]


@pytest.mark.parametrize("fault", ["cut", "short", "no length"])
def test_less_than_was_announced_goes_on(entry, server, tmp_path, fault, monkeypatch):
    """Where urllib3 says nothing of it, as before its version 2."""
    import urllib3

    init = urllib3.response.HTTPResponse.__init__
    monkeypatch.setattr(
        urllib3.response.HTTPResponse,
        "__init__",
        lambda self, *given, **options: init(self, *given, **{**options, "enforce_content_length": False}),
    )
    server.faults = ["cut", fault, None]
    check(entry, tmp_path)
    assert server.requests == [None, f"bytes={CUT}-", f"bytes={2 * CUT}-"]


def test_a_part_has_one_owner(tmp_path):
    part = tmp_path / "umist.mat.part"
    part.write_bytes(b'"one"\nbegun')
    with _download._claimed(part) as first, _download._claimed(part) as second:
        assert _download._begun(first) == ('"one"', 5)
        assert _download._begun(second) == ("", 0)
    with _download._claimed(part) as first:
        assert _download._begun(first) == ('"one"', 5)
    assert list(tmp_path.iterdir()) == [part]


@pytest.mark.skipif(os.name != "posix", reason="no locks")
def test_the_part_of_a_killed_process(entry, server, tmp_path):
    leave(entry, tmp_path, server.body[:CUT])
    program = (
        "import sys, pathlib; from jointclust.datasets import _download\n"
        "with _download._claimed(pathlib.Path(sys.argv[1])): print('claimed', flush=True); input()"
    )
    arguments = [sys.executable, "-c", program, str(part_of(entry, tmp_path))]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout.readline() == b"claimed\n"
        with _download._claimed(part_of(entry, tmp_path)) as part:
            assert _download._begun(part) == ("", 0)
        other.kill()
    check(entry, tmp_path)
    assert server.requests == [f"bytes={CUT}-"]


def test_many_at_once(entry, server, tmp_path):
    server.faults = ["cut"] * 8 + [None]
    with ThreadPoolExecutor(6) as pool:
        result = list(pool.map(datasets.load, ["umist"] * 6))
    assert {datasets.fingerprint(data.data, data.target) for data in result} == {entry.sha256}
    assert cached(tmp_path) == ["umist.npz"]


def test_interrupted_by_the_user(entry, server, tmp_path, monkeypatch):
    def pressed(bar, task, completed):
        if completed:
            raise KeyboardInterrupt

    monkeypatch.setattr("rich.progress.Progress.update", pressed)
    with pytest.raises(KeyboardInterrupt):
        datasets.load("umist")
    assert cached(tmp_path) == [part_of(entry, tmp_path).name]


def test_from_the_command_line(entry, server, tmp_path, capsys):
    cli.main(["datasets", "Umist", "--download", "--out", str(tmp_path / "umist.csv"), "--json"])
    out, err = capsys.readouterr()
    facts = json.loads(out)
    assert (facts["rows"], facts["as measured"]) == (60, True)
    assert facts["where"] == str(tmp_path / "cache" / "umist.npz")
    assert f"Terms: {entry.terms}" in err
    assert len((tmp_path / "umist.csv").read_text().splitlines()) == 61


@pytest.mark.parametrize(("fault", "reason"), [(404, "404 Not Found"), (500, "500 Internal Server Error")])
def test_refused(entry, server, tmp_path, fault, reason):
    server.faults = [fault]
    with pytest.raises(DatasetError) as caught:
        datasets.load("umist")
    for part in (reason, entry.url, "as umist.mat", str(tmp_path / "cache"), "JOINTCLUST_DATA"):
        assert part in str(caught.value)
    assert cached(tmp_path) == []
    assert server.requests == [None]


def test_no_network(entry, server, tmp_path, monkeypatch):
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as closed:
        url = f"http://127.0.0.1:{closed.server_port}/umist.mat"
    known(monkeypatch, dataclasses.replace(entry, url=url))
    with pytest.raises(DatasetError, match=f"cannot be reached.*fetch {url} and put it, as umist.mat, into .*cache"):
        datasets.load("umist")
    (tmp_path / "cache" / "umist.mat").write_bytes(server.body)  # as the message says
    data = datasets.load("umist")
    assert datasets.fingerprint(data.data, data.target) == entry.sha256


def test_without_pooch(entry, server, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DatasetError, match=r"pip install 'jointclust\[datasets\]'.*by hand"):
        datasets.load("umist")
    monkeypatch.delenv("JOINTCLUST_CACHE")
    assert datasets.load("digits").n_classes == 10, "what is bundled needs no cache"


def test_without_pillow(entry, server, tmp_path, monkeypatch):
    stored = io.BytesIO()
    scipy.io.savemat(stored, {"x": np.zeros((4, 4, 6)), "label": np.arange(6) // 2})
    server.body = stored.getvalue()
    known(monkeypatch, dataclasses.replace(entry, format="faces"))
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(DatasetError, match=r"needs Pillow: pip install 'jointclust\[datasets\]'"):
        datasets.load("umist")


def test_a_full_disk(entry, server, tmp_path, monkeypatch):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(DatasetError, match="umist.npz cannot be written: No space left on device"):
        datasets.load("umist")
    assert cached(tmp_path) == []


def test_a_cache_that_cannot_be_written(entry, server, tmp_path):
    (tmp_path / "cache").touch()
    with pytest.raises(DatasetError, match="exists in the cache .*cache: set JOINTCLUST_CACHE.*by hand"):
        datasets.load("umist")


def test_replies_that_are_none(entry, server, monkeypatch):
    monkeypatch.setattr(Handler, "do_GET", lambda self: self.wfile.write(b"220 mail server\r\n"))
    with pytest.raises(DatasetError, match=r"does not speak HTTP \(220 mail server") as caught:
        datasets.load("umist")
    assert "network" not in str(caught.value)
    known(monkeypatch, dataclasses.replace(entry, url=entry.url.replace("http:", "https:")))
    with pytest.raises(DatasetError, match="no secure connection to the server") as caught:
        datasets.load("umist")
    assert "network" not in str(caught.value)


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_on_a_terminal(entry, server, capfd, monkeypatch, quiet):
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes it for a terminal then
    datasets.fetch("Umist", quiet=quiet)
    out, err = capfd.readouterr()
    assert out == ""
    assert ("umist.mat" in err) is not quiet


def test_nothing_to_fetch():
    for name, message in (("fei", "apply"), ("iris", "need not be"), ("nonesuch", "none of the data sets")):
        with pytest.raises(DatasetError, match=message):
            datasets.fetch(name)
