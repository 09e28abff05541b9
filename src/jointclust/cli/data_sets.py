"""The known data sets: listed, described, fetched, written to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

import jointclust as jc
from jointclust.cli import models, options
from jointclust.cli.console import Voice, shown
from jointclust.cli.errors import OutputError
from jointclust.cli.writing import claim_file, write_table, written
from jointclust.readers._matrix import distinct_names


@click.command()
@click.argument("name", required=False)
@options.out("FILE", "Write the data set to this file, too.")
@click.option("--download", is_flag=True, help="Fetch the data set from its public source first.")
@click.option("--no-classes", is_flag=True, help="Leave the known classes out of the file.")
@options.writing
def datasets(name: str | None, out: str | None, download: bool, no_classes: bool, **given: Any) -> None:
    """List the known data sets, or describe the one called NAME.

    With --out it is written to a .csv or .npz file. Local ones are the .npz and .mat files, and
    the folders of images, of the folder that JOINTCLUST_DATA names and of the cache.
    """
    voice = Voice(given)
    registry = jc.datasets.registry()
    known = sorted({*registry, *jc.datasets.names()})
    if name is None:
        listed = {each: _facts(each) for each in known}
        keys = ("name", "rows", "columns", "classes", "papers", "where")
        if not given["quiet"] or given["as_json"]:
            voice.table({key: [facts.get(key) for facts in listed.values()] for key in keys}, listed)
        return
    if name not in known:
        name = jc.datasets.canonical(name) or name
    if name not in known:
        raise click.UsageError(f"There is no data set {name!r}. {models.hint(name, known)}")
    if download and (given["force"] or not jc.datasets.cached(name)):
        voice.say(f"Downloading {name}. Terms: {registry[name].terms}." if name in registry else f"Downloading {name}.")
        jc.datasets.fetch(name, force=True, quiet=given["quiet"])
    facts = _facts(name)
    if jc.datasets.present(name) or out is not None:
        dataset = jc.datasets.load(name, download=False)
        facts |= dict(zip(("rows", "columns"), dataset.data.shape, strict=True))
        facts |= {"classes": dataset.n_classes, "image_shape": dataset.image_shape}
        measured = registry[name].sha256 if name in registry else None
        if measured is not None:
            facts["as measured"] = jc.datasets.fingerprint(dataset.data, dataset.target) == measured
        if out is not None:
            _export(dataset, Path(out), classes=not no_classes, force=given["force"], raw=given["raw_cells"])
            facts["file"] = str(Path(out).resolve())
    voice.result("\n".join(f"{key}: {shown(value)}" for key, value in facts.items() if value is not None), facts)


def _facts(name: str) -> dict[str, object]:
    """What is known of a data set without reading it."""
    entry, place = jc.datasets.registry().get(name), jc.datasets.present(name)
    if entry is None:
        return {"name": name, "where": place}
    papers = ", ".join(f"{paper} ({alias})" for paper, alias in entry.papers.items())
    apart = "can be downloaded" if entry.url else f"bring your own: {entry.source}"
    size = {"rows": entry.n_samples, "columns": entry.n_features, "classes": entry.n_classes}
    origin = {"papers": papers or None, "where": place or apart, "source": entry.source, "url": entry.url}
    more = {"terms": entry.terms or None, "note": entry.note or None}
    return {"name": name, **size, "image_shape": entry.image_shape, **origin, **more}


def _export(dataset: jc.datasets.Dataset, path: Path, *, classes: bool, force: bool, raw: bool) -> None:
    mixed = hasattr(dataset.data, "items")
    dense = isinstance(dataset.data, np.ndarray)
    if mixed and path.suffix != ".csv":
        raise OutputError(f"{path}: a data set with columns of text goes to .csv.")
    if path.suffix not in (".csv", ".npz") or (path.suffix == ".csv" and not (dense or mixed)):
        raise OutputError(f"{path}: a data set goes to .npz{' or .csv' if dense else ' (it is sparse)'}.")
    claim_file(path, force=force)
    names = dataset.feature_names
    if path.suffix == ".csv":
        header = [f"x{index}" for index in range(dataset.data.shape[1])] if names is None else list(names)
        header = distinct_names(["class (feature)" if name == "class" else str(name) for name in header])
        columns = [_plain(np.asarray(column)) for _, column in dataset.data.items()] if mixed else dataset.data.T
        known = {"class": dataset.target} if classes else {}
        write_table(path, dict(zip(header, columns, strict=True)) | known, raw=raw)
        return
    stored = ("data", "indices", "indptr", "shape")
    parts = {"X": dataset.data} if dense else {key: np.asarray(getattr(dataset.data, key)) for key in stored}
    if names is not None:
        parts["feature_names"] = np.asarray(names, dtype=str)
    if classes:
        parts["y"] = dataset.target
    with written(path) as temporary:
        np.savez_compressed(temporary, **parts)


def _plain(column: np.ndarray) -> np.ndarray:
    """Days as people write them."""
    return np.datetime_as_string(column, unit="D") if column.dtype.kind == "M" else column
