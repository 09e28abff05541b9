"""The subcommands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from click.core import ParameterSource
from sklearn.pipeline import Pipeline

import jointclust as jc
from jointclust.cli import models, options, preparing
from jointclust.cli.console import Voice, shown
from jointclust.cli.errors import OutputError
from jointclust.cli.models import Clusters
from jointclust.cli.results import Outcome, finish, image_of
from jointclust.cli.runs import (
    InputFile,
    claim_file,
    claim_folder,
    embedding_columns,
    identities,
    load_data,
    write_table,
    written,
)
from jointclust.exceptions import collected
from jointclust.readers import ReadError, Table
from jointclust.readers._matrix import told_apart
from jointclust.showing import fitted
from jointclust.types import Predictor

# What `select` tries when no method is named: kinds that err in different ways.
TRIED_BY_DEFAULT: dict[str, dict[str, list[Any]]] = {
    "ldakm": {"variance": [0.7, 0.8, 0.9, 0.95]},
    "dec": {"trade_off": [0, 1.5, 2, 3]},
    "odc": {"kernel": ["linear", "nearest_neighbors"]},
    "rurr": {},
}
# A method, and lists of values by parameter.
Pair = tuple[Any, dict[str, list[Any]]]
_READING = (
    "format",
    "id_column",
    "label_column",
    "categories",
    "encoding",
    "delimiter",
    "decimal",
    "no_header",
    "missing",
)
out_folder = click.option(
    "-o", "--out", default="run", show_default=True, metavar="FOLDER", help="Folder for the results."
)
out_file = click.option("-o", "--out", metavar="FILE", help="Write the result to this file, too.")


def _read(voice: Voice, data: str, given: dict[str, Any], **more: Any) -> InputFile:
    asked: dict[str, Any] = {key: given[key] for key in _READING if key in given}
    asked |= {key: options.names_of(given[key]) for key in ("columns", "drop") if key in given}
    text = given["text_column"]
    if text is not None:
        if asked.get("columns") or asked.get("drop"):
            raise click.UsageError("--text-column is the only feature: leave out --columns and --drop.")
        asked |= {"columns": [text], "kinds": {text: "text"}, "categories": "keep", "missing": "keep"}
    return load_data(voice, data, **{**asked, **more})


def arranged(voice: Voice, data: str, given: dict[str, Any]) -> InputFile:
    """Data to be fitted, as read and arranged; what was found in them is said."""
    source = _read(voice, data, given)
    table = preparing.arranged(source.table, text_column=given["text_column"], missing=given["missing"])
    for note in table.notes[len(source.table.notes) :]:
        voice.say(note)
    return replace(source, table=table)


def _origins(context: click.Context) -> dict[str, tuple[Any, str]]:
    """Every parameter of this call with its value and who chose it."""
    names = {
        ParameterSource.COMMANDLINE: "you",
        ParameterSource.DEFAULT_MAP: "config file",
        ParameterSource.ENVIRONMENT: "environment",
    }
    skipped = {"quiet", "as_json", "config", "force", "out"}
    return {
        name: (value, names.get(context.get_parameter_source(name), "default"))  # type: ignore[arg-type]
        for name, value in context.params.items()
        if name not in skipped
    }


def _tell_preparation(run: Outcome, model: Any) -> None:
    """Say, a line each, what was done to the data and why."""
    for note in preparing.notes_of(model):
        run.voice.say(note)
        run.notes.append(note)
    views = preparing.views_of(model)
    for number, (view, reason) in enumerate(views, 1):
        run.chosen["view" if len(views) == 1 else f"view {number}"] = (view, reason)


def _tell_number(run: Outcome, found: jc.ClusterNumber | None) -> None:
    """Say how the number of clusters was chosen, and what else it could be."""
    if found is not None:
        run.voice.say(number_line(found))
        run.chosen["number of clusters"] = (found.n_clusters, f"found in the data: {found.verdict}")
        run.chosen["agreement by number of clusters"] = (
            {number: round(score, 3) for number, score in found.scores.items()},
            "measured",
        )


def number_line(found: jc.ClusterNumber) -> str:
    """How many clusters there are, and how many there could be."""
    return f"Number of clusters: {found.verdict}.{candidates_of(found)}"


def candidates_of(found: jc.ClusterNumber) -> str:
    """The numbers that it could be, with their scores."""
    listed = [f"{number} ({found.scores[number]:.2f})" for number in found.suggestions if number in found.scores]
    return f" Candidates, with the agreement of members: {', '.join(listed)}." if listed else ""


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the estimator that were set on the command line."""
    trade_off = given.get("trade_off")
    direct = {
        "n_components": given.get("components"),
        "trade_off": None if trade_off is None else models.literal(trade_off),
    }
    return {key: value for key, value in direct.items() if value is not None} | models.settings_of(given["settings"])


@click.command()
@options.data
@options.clusters
@out_folder
@options.method
@click.option("--components", type=click.IntRange(1), metavar="N", help="Dimensions of the embedding.")
@click.option("--trade-off", metavar="NUMBER", help="DEC's trade-off: 0 to inf, or pca, ocm, mmc, olsda.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any other parameter of the method.")
@options.scaling
@options.seed
@options.columns
@options.reading
@options.images
@options.stability
@options.config
@options.force
@options.speaking
@click.pass_context
def fit(context: click.Context, data: str, clusters: Clusters, out: str, **given: Any) -> None:
    """Cluster the rows of DATA and write labels, embedding, model and report.

    DATA is CSV, TSV or JSON lines (also .gz, .bz2, .xz, .zst), .xlsx, Parquet, Feather,
    .npy, .npz, .mat, Matrix Market (.mtx), svmlight (.svm) or .h5ad; - reads standard input.

    \b
    Writes to the folder: labels.csv (id, label, confidence or weight),
    embedding.parquet (or .csv), model.skops, report.html and, last, run.json.
    To repeat a run exactly: jointclust fit --config run/run.json --out again
    """
    voice = Voice(quiet=given["quiet"], as_json=given["as_json"])
    settings = _settings(given)
    models.clusterer(given["method"], 2, given["seed"], **settings)  # names are right, before reading
    claim_folder(Path(out), force=given["force"])
    source = arranged(voice, data, given)
    image_of(source, given)  # is right, before the work
    X = source.table.data
    has_views = models.has_views(given["method"], given["scale"], settings)
    steps = preparing.preparation(given["scale"], given["missing"], X, has_views=has_views)
    with voice.step("fit", f"Fitting {preparing.size_of(X)}") as progress, collected() as messages:
        rows = preparing.prepared(steps, X, given["scale"])
        settings = {"views": "auto", **settings} if has_views else settings
        known, number, found = rows, 2, None
        if not has_views:
            known, number, found = models.counted(rows, clusters, given["seed"], progress)
        clusterer = models.clusterer(given["method"], number, given["seed"], **settings)
        if has_views:
            clusterer, found = models.fitted_on_views(clusterer, rows, clusters, progress)
        else:
            clusterer = models.fitted(clusterer, known, given["seed"], progress)
    model = preparing.joined(steps, clusterer, source.table.names)
    run = Outcome(voice, Path(out), source, model, rows, _origins(context), messages, given)
    _tell_preparation(run, model)
    _tell_number(run, found)
    finish(run)


@click.command()
@click.argument("model", metavar="MODEL")
@options.data
@click.option("-o", "--out", default="labels.csv", show_default=True, metavar="FILE", help="Where the labels go.")
@click.option("--embedding", metavar="FILE", help="Write the embedding, too (.parquet or .csv).")
@options.reading
@options.force
@options.speaking
def predict(model: str, data: str, out: str, embedding: str | None, **given: Any) -> None:
    """Label the rows of DATA with a saved MODEL.

    DATA needs the columns that the model was fitted on, in any order; others
    are left aside.
    """
    voice = Voice(quiet=given["quiet"], as_json=given["as_json"])
    files = [Path(name) for name in (out, embedding) if name is not None]
    for path in files:
        if path.suffix not in (".csv", ".parquet"):
            raise OutputError(f"{path}: tables go to .csv or .parquet files.")
    for path in files:
        claim_file(path, force=given["force"])
    loaded = _load_model(model)
    asked = preparing.reading_for(loaded)
    text = given["text_column"]
    if text is None and preparing.wants_text(loaded):
        raise click.UsageError("The model was fitted on texts: name their column with --text-column.")
    table = _read(voice, data, given, **({"missing": "keep"} if text else asked)).table
    if text or asked["categories"] == "keep":
        table = preparing.arranged(replace(table, ids=identities(table)), text_column=text)
    with voice.step("predict", f"Labelling {table.data.shape[0]} rows"), collected() as messages:
        columns = _predicted(loaded, table)
        write_table(Path(out), columns)
        if embedding is not None:
            write_table(Path(embedding), embedding_columns(columns["id"], np.asarray(loaded.transform(table.data))))
    for message in messages:
        voice.say(f"Warning: {message}")
    found, sizes = np.unique(columns["label"], return_counts=True)
    counts = {str(label): int(size) for label, size in zip(found, sizes, strict=True)}
    voice.result(
        f"{len(columns['id'])} rows in {len(counts)} clusters: {', '.join(map(str, files))}",
        {"rows": len(columns["id"]), "sizes": counts, "files": [str(path.resolve()) for path in files]},
    )


def _load_model(path: str) -> Predictor:
    try:
        return jc.load(path)
    except FileNotFoundError:
        raise ReadError(f"{path}: there is no such model.") from None
    except (OSError, ValueError) as error:
        raise ReadError(str(error)) from error


def _predicted(model: Predictor, table: Table) -> dict[str, Any]:
    columns: dict[str, Any] = {"id": identities(table)}
    clusterer = fitted.last_step(model)
    if isinstance(clusterer, jc.JointConsensus):
        rows = model[:-1].transform(table.data) if isinstance(model, Pipeline) and len(model) > 1 else table.data
        labels, sure = clusterer.predict_with_confidence(rows)
        return columns | {"label": labels, "confidence": np.round(sure, 6)}
    if hasattr(model, "predict_proba"):
        probabilities = model.predict_proba(table.data)
        return columns | {"label": probabilities.argmax(axis=1), "confidence": np.round(probabilities.max(axis=1), 6)}
    return columns | {"label": model.predict(table.data)}


@click.command()
@options.data
@options.clusters
@out_folder
@click.option(
    "--method", "methods", multiple=True, metavar="NAME", help="Method to try; repeat for more (default: four)."
)
@click.option("--grid", multiple=True, metavar="NAME=V1,V2", help="Values to try for a parameter of the methods named.")
@click.option(
    "--criterion",
    type=click.Choice(["agreement", "stability", "silhouette", "calinski_harabasz", "bic"]),
    default="agreement",
    show_default=True,
    help="What to choose by; none of them sees labels.",
)
@options.scaling
@options.seed
@options.columns
@options.reading
@options.images
@options.stability
@options.config
@options.force
@options.speaking
@click.pass_context
def select(context: click.Context, data: str, clusters: Clusters, out: str, **given: Any) -> None:
    """Try methods and parameters on DATA, choose one without labels, write it like `fit`.

    The folder also gets candidates.csv: everything that was tried.
    """
    voice = Voice(quiet=given["quiet"], as_json=given["as_json"])
    pairs = _pairs(given["methods"], given["grid"])
    claim_folder(Path(out), force=given["force"])
    source = arranged(voice, data, given)
    image_of(source, given)  # is right, before the work
    X = source.table.data
    steps = preparing.preparation(given["scale"], given["missing"], X)
    with voice.step("fit", f"Trying candidates on {X.shape[0]} rows") as progress, collected() as messages:
        rows = preparing.prepared(steps, X, given["scale"])
        known, grids, found = _grids(rows, clusters, pairs, given, progress)
        search = jc.LabelFreeSearch(grids, criterion=given["criterion"], random_state=given["seed"]).fit(known)
    table = _tried(search)
    model = preparing.joined(steps, search.best_estimator_, source.table.names)
    run = Outcome(voice, Path(out), source, model, rows, _origins(context), messages, given, tried=table)
    _tell_preparation(run, model)
    best = {"chosen method": table["estimator"][search.best_index_], **search.best_params_}
    run.chosen.update({name: (value, f"best {given['criterion']}") for name, value in best.items()})
    # By another criterion the number is that of the candidate which it prefers.
    _tell_number(run, search.number_ if found is None and given["criterion"] == "agreement" else found)
    finish(run)


def _grids(
    rows: Any, clusters: Clusters, pairs: list[Pair], given: dict[str, Any], progress: Callable[[int, int], None]
) -> tuple[Any, list[Pair], jc.ClusterNumber | None]:
    """What to fit, the methods with their values, and how many clusters were found where none is given.

    Several numbers are values to try like others; the search says how it chose among them.
    """
    if isinstance(clusters, int | None):
        known, number, found = models.counted(rows, clusters, given["seed"], progress)
        return known, [(method(number), grid) for method, grid in pairs], found
    numbers = models.listed(clusters)
    return rows, [(method(numbers[0]), {**grid, "n_clusters": numbers}) for method, grid in pairs], None


def _tried(search: Any) -> dict[str, list[Any]]:
    results = search.results_
    params = [", ".join(f"{key}={value}" for key, value in row.items()) for row in results["params"]]
    return {"estimator": results["estimator"], "params": params} | {
        key: results[key] for key in ("score", "seconds", "warnings")
    }


def _pairs(methods: tuple[str, ...], grid: tuple[str, ...]) -> list[Pair]:
    """Methods with the values to try; a value belongs to the methods that have its parameter."""
    if not methods and grid:
        raise click.UsageError("--grid needs --method: say whose parameters these are.")
    values = {name: text if isinstance(text, list) else _values(text) for name, text in map(_named, grid)}
    pairs: list[Pair] = []
    used: set[str] = set()
    for name in methods or tuple(TRIED_BY_DEFAULT):
        method = models.method_of(name)
        own = {key: found for key, found in values.items() if key in method().get_params()}
        used |= own.keys()
        pairs.append((method, own if methods else TRIED_BY_DEFAULT[name]))
    if unused := sorted(values.keys() - used):
        raise click.UsageError(f"--grid {unused[0]}: none of {', '.join(methods)} has such a parameter.")
    return pairs


def _named(pair: str) -> tuple[str, str]:
    name, sign, text = pair.partition("=")
    if not sign:
        raise click.UsageError(f"--grid {pair}: write it as NAME=VALUE,VALUE.")
    return name, text


def _values(text: str) -> list[object]:
    return [models.literal(part.strip()) for part in text.split(",")]


@click.command()
@options.data
@options.clusters
@out_file
@click.option(
    "--method", "methods", multiple=True, metavar="NAME", help="Method to compare; repeat (default: all, and others)."
)
@options.scaling
@options.seed
@options.columns
@options.reading
@options.force
@options.speaking
def compare(data: str, clusters: Clusters, out: str | None, **given: Any) -> None:
    """Fit the whole family and the usual alternatives on DATA, side by side."""
    voice = Voice(quiet=given["quiet"], as_json=given["as_json"])
    methods = {name: models.method_of(name) for name in given["methods"]}
    if out is not None:
        claim_file(Path(out), force=given["force"])
    table = arranged(voice, data, given).table
    steps = preparing.preparation(given["scale"], given["missing"], table.data)
    with voice.step("fit", f"Comparing on {preparing.size_of(table.data)}") as progress, collected() as messages:
        rows = preparing.prepared(steps, table.data, given["scale"])
        known, number, counted = models.counted(rows, clusters, given["seed"], progress)
        chosen = {name: method(number) for name, method in methods.items()} or None
        found = jc.compare(known, number, chosen, table.classes, given["seed"], raw=table.data)
    for message in messages:
        voice.say(f"Warning: {message}")
    if counted is not None:
        voice.say(number_line(counted))
    if out is not None:
        write_table(Path(out), found)
    if not given["quiet"] or given["as_json"]:
        voice.table(found, found)


@click.command()
@click.argument("name", required=False)
@out_file
@click.option("--download", is_flag=True, help="Fetch the data set from its public source first.")
@options.force
@options.speaking
def datasets(name: str | None, out: str | None, download: bool, **given: Any) -> None:
    """List the data sets that are known, or tell what there is to know of the one called NAME.

    With --out it is written to a .csv or .npz file. Local ones are the .npz and .mat files, and
    the folders of images, of the folder that JOINTCLUST_DATA names and of the cache.
    """
    voice = Voice(quiet=given["quiet"], as_json=given["as_json"])
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
            _export(dataset, Path(out), force=given["force"])
            facts["file"] = str(Path(out).resolve())
    voice.result("\n".join(f"{key}: {shown(value)}" for key, value in facts.items() if value is not None), facts)


def _facts(name: str) -> dict[str, object]:
    """What is known of a data set without reading it."""
    entry, place = jc.datasets.registry().get(name), jc.datasets.present(name)
    if entry is None:
        return {"name": name, "where": place}
    apart = "can be downloaded" if entry.url else f"bring your own: {entry.source}"
    return {
        "name": name,
        "rows": entry.n_samples,
        "columns": entry.n_features,
        "classes": entry.n_classes,
        "image_shape": entry.image_shape,
        "papers": ", ".join(f"{paper} ({alias})" for paper, alias in entry.papers.items()) or None,
        "where": place or apart,
        "source": entry.source,
        "url": entry.url,
        "terms": entry.terms or None,
        "note": entry.note or None,
    }


def _export(dataset: jc.datasets.Dataset, path: Path, *, force: bool) -> None:
    mixed = hasattr(dataset.data, "columns")
    dense = isinstance(dataset.data, np.ndarray)
    if mixed and path.suffix != ".csv":
        raise OutputError(f"{path}: a data set with columns of text goes to .csv.")
    if path.suffix not in (".csv", ".npz") or (path.suffix == ".csv" and not (dense or mixed)):
        raise OutputError(f"{path}: a data set goes to .npz{' or .csv' if dense else ' (it is sparse)'}.")
    claim_file(path, force=force)
    names = dataset.feature_names
    if path.suffix == ".csv":
        header = [f"x{index}" for index in range(dataset.data.shape[1])] if names is None else list(names)
        header = told_apart(["class (feature)" if name == "class" else str(name) for name in header])
        columns = [np.asarray(column) for _, column in dataset.data.items()] if mixed else dataset.data.T
        write_table(path, dict(zip(header, columns, strict=True)) | {"class": dataset.target})
        return
    parts = {"X": dataset.data} if dense else {key: getattr(dataset.data, key) for key in ("data", "indices", "indptr")}
    if not dense:
        parts["shape"] = np.asarray(dataset.data.shape)
    if names is not None:
        parts["feature_names"] = np.asarray(names, dtype=str)
    with written(path) as temporary:
        np.savez_compressed(temporary, y=dataset.target, **parts)
