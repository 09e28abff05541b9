"""Damaged files, for as long as one likes: readers, saved models and records of runs are given mutated files.

``make test-fuzz`` runs each part for ten minutes; it is no part of the suite. Each trial has a seed, which is printed
when it fails: ``python tests/fuzz.py PART --seed SEED --trials 1`` repeats it.

What must hold of each trial: the file is read, or refused by the one error that its reader promises, whose message
names the file; it takes seconds of processor time; the process stays below 1 GiB; and the file is as it was.
"""

import argparse
import gzip
import hashlib
import json
import multiprocessing
import os
import pathlib
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings

import h5py
import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import scipy.io
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import jointclust as jc
from jointclust.cli.runs import saved_labels, saved_names, saved_run
from jointclust.readers import ReadError, as_written, read

MOST_MEMORY, MOST_SECONDS = 2**30, 60
# Bytes that formats take for more than they are.
TELLING = [
    b"\0",
    b"\xff",
    b'"',
    b",",
    b"\n",
    b"\r",
    b"-",
    b"9" * 20,
    b"nan",
    b"[",
    b"{",
    b"\xef\xbb\xbf",
    b"PK\x03\x04",
]


# -- sound files --------------------------------------------------------------------------------------------------


def tables(folder):
    """A file of each format, the same rows in all of them."""
    rng = np.random.RandomState(0)
    X, names = np.round(rng.standard_normal((40, 4)), 3), ["a", "b", "c", "d"]
    words = np.array(["red", "green", "blue, or so"])[rng.randint(3, size=40)]
    lines = [",".join([*names, "word", "day"])]
    lines += [
        ",".join([*map(str, row), f'"{word}"', f"2024-01-{1 + n % 28:02d}"])
        for n, (row, word) in enumerate(zip(X, words, strict=True))
    ]
    text = "\n".join(lines) + "\n"
    (folder / "rows.csv").write_text(text)
    (folder / "rows.csv.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "rows.tsv").write_text(text.replace(",", "\t"))
    objects = [dict(zip(names, row.tolist(), strict=True), word=str(word)) for row, word in zip(X, words, strict=True)]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, objects)) + "\n")
    table = pa.table({**dict(zip(names, X.T, strict=True)), "word": words})
    parquet.write_table(table, folder / "rows.parquet")
    feather.write_feather(table, folder / "rows.feather")
    book = openpyxl.Workbook()
    for row in [names, *X.tolist()]:
        book.active.append(row)
    book.save(folder / "rows.xlsx")
    np.save(folder / "rows.npy", X)
    np.savez_compressed(folder / "rows.npz", X=X, y=np.arange(40), feature_names=names)
    sp.save_npz(folder / "sparse.npz", sp.csr_array(np.maximum(X, 0)))
    scipy.io.savemat(folder / "rows.mat", {"X": X, "y": np.arange(40)}, do_compression=True)
    scipy.io.mmwrite(folder / "rows.mtx", sp.coo_array(np.maximum(X, 0)))
    dump_svmlight_file(X, np.arange(40), str(folder / "rows.svm"))
    with h5py.File(folder / "rows.h5ad", "w") as file:
        file.create_dataset("X", data=X, compression="gzip")
        for part, own in (("obs", [f"cell {n}" for n in range(40)]), ("var", names)):
            group = file.create_group(part)
            group.attrs["_index"] = "_index"
            group.create_dataset("_index", data=np.array(own, dtype=h5py.string_dtype()))
    return sorted(folder.iterdir())


def models(folder):
    """Saved models of several kinds."""
    X = np.random.RandomState(0).standard_normal((60, 5)) + 6 * np.eye(3, 5)[np.arange(60) % 3]
    for number, model in enumerate(
        (jc.LDAKMeans(3, random_state=0), jc.JointConsensus(3, effort="quick", trust=False, random_state=0))
    ):
        jc.save(model.fit(X), folder / f"model{number}.skops")
    return sorted(folder.iterdir())


def runs(folder):
    """The folder of a run, of which one file is mutated at a time."""
    from jointclust.cli import jointclust

    data = folder / "rows.csv"
    lines = [f"r{n},{n % 2 * 9 + n / 99},{n % 2 * 8 - n / 77},{n % 3}" for n in range(60)]
    data.write_text("\n".join(["name,x,y,z", *lines]) + "\n")
    jointclust(["fit", str(data), "-k", "2", "-o", str(folder / "run"), "--quiet"], standalone_mode=False)
    return [folder / "run" / name for name in ("run.json", "labels.csv", "clusters.csv")]


# -- what is done with mutated ones -------------------------------------------------------------------------------


def read_table(path, rng):
    options = {
        "categories": rng.choice(["refuse", "onehot", "drop", "keep"]),
        "missing": rng.choice(["refuse", "keep"]),
        "header": [None, True, False][rng.randint(3)],
        "decimal": [None, ".", ","][rng.randint(3)],
    }
    kind = path.name.split(".")[1].replace("svm", "svmlight")
    read(path, kind, **options)
    as_written(path, kind, **options)


def load_model(path, rng):
    try:
        jc.load(path)
    except ValueError as error:
        raise ReadError(str(error)) from error


def use_run(path, rng):
    run = saved_run(str(path.parent))
    saved_labels(run)
    saved_names(run)


PARTS = {"readers": (tables, read_table), "persistence": (models, load_model), "runs": (runs, use_run)}


# -- trials -------------------------------------------------------------------------------------------------------


def mutated(content, others, rng):
    """Bytes flipped, put in, cut out, repeated, or taken from another file."""
    content = bytearray(content)
    for _ in range(1 + rng.geometric(0.4)):
        at, length = rng.randint(len(content) + 1), int(rng.geometric(0.05))
        what = rng.randint(6)
        if what == 0 and at < len(content):
            content[at] ^= 1 << rng.randint(8)
        elif what == 1:
            content[at:at] = TELLING[rng.randint(len(TELLING))]
        elif what == 2:
            del content[at : at + length]
        elif what == 3:
            content[at:at] = content[at : at + length] * rng.randint(1, 50)
        elif what == 4:
            del content[at:]
        else:
            other = others[rng.randint(len(others))]
            start = rng.randint(len(other))
            content[at : at + length] = other[start : start + length]
    return bytes(content)


def trial(part, sound, folder, seed):
    """One mutated file; what is wrong, or None."""
    rng, use = np.random.RandomState(seed), PARTS[part][1]
    path = sound[rng.randint(len(sound))]
    contents = [one.read_bytes() for one in sound]
    shutil.copytree(path.parent, folder, dirs_exist_ok=True)
    place = folder / path.name
    content = mutated(path.read_bytes(), contents, rng)
    place.write_bytes(content)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            use(place, rng)
    except ReadError as error:
        if folder.name not in str(error):
            return f"{path.name}: the message does not name the file: {error}"
    except BaseException:
        return f"{path.name}: {traceback.format_exc()}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    if hashlib.sha256(place.read_bytes()).digest() != hashlib.sha256(content).digest():
        return f"{path.name}: the file was changed"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return f"{path.name}: {peak / 2**20:.0f} MiB of memory" if peak > MOST_MEMORY else None


def worker(part, seeds, done, wrong):
    """Trials in a process of its own, which a library's compiled code may end."""
    signal.signal(signal.SIGPROF, lambda *_: (_ for _ in ()).throw(TimeoutError(f"more than {MOST_SECONDS} s")))
    with tempfile.TemporaryDirectory() as home:
        sound_folder = pathlib.Path(home) / "sound"
        sound_folder.mkdir()
        sound = PARTS[part][0](sound_folder)
        for seed in seeds:
            done.value = seed
            # Compiled code runs on when the timer rings; no timer stops this.
            used = int(sum(os.times()[:2]))
            resource.setrlimit(resource.RLIMIT_CPU, (used + 2 * MOST_SECONDS, resource.RLIM_INFINITY))
            folder = pathlib.Path(home) / "mutated"
            result = trial(part, sound, folder, seed)
            shutil.rmtree(folder)
            if result:
                wrong.put((seed, result))
                if "MiB of memory" in result:
                    return


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*PARTS, "all"], nargs="?", default="all")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--trials", type=int, default=10**9)
    given = parser.parse_args()
    failures, context = 0, multiprocessing.get_context("spawn")
    for part in PARTS if given.part == "all" else [given.part]:
        first = int(time.time()) % 10**6 * 1000 if given.seed is None else given.seed
        end, next_seed, last = time.monotonic() + 60 * given.minutes, first, first + given.trials
        n_before = failures
        while next_seed < last and time.monotonic() < end:
            done, wrong = context.Value("q", next_seed), context.Queue()
            process = context.Process(target=worker, args=(part, range(next_seed, last), done, wrong), daemon=True)
            process.start()
            while process.is_alive() and time.monotonic() < end:
                process.join(1)
                while not wrong.empty():
                    failed, result = wrong.get()
                    failures += 1
                    print(f"FAILED {part} --seed {failed}: {result}", flush=True)
            while not wrong.empty():
                seed, result = wrong.get()
                failures += 1
                print(f"FAILED {part} --seed {seed}: {result}", flush=True)
            if process.is_alive():
                process.terminate()
            elif process.exitcode:
                failures += 1
                print(f"FAILED {part} --seed {done.value}: the process ended with {process.exitcode}", flush=True)
            process.join()
            next_seed = done.value + 1
        print(f"{part}: {next_seed - first} trials, {failures - n_before} failures", flush=True)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
