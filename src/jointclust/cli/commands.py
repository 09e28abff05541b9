"""The commands that look for clusters: fit, select, compare, number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np

import jointclust as jc
from jointclust import default
from jointclust.cli import models, options, preparing
from jointclust.cli.console import Voice
from jointclust.cli.models import Clusters, announced, members_share
from jointclust.cli.reading import InputFile, arranged, known_labels
from jointclust.cli.results import Outcome, finish, image_of
from jointclust.cli.writing import claim_folder, claim_plot, claim_table, save_drawing, write_result
from jointclust.exceptions import collected
from jointclust.number.estimate import count_in_data
from jointclust.showing.fitted import Fitted

# What `select` tries when no method is named: kinds that err in different ways.
TRIED_BY_DEFAULT: dict[str, dict[str, list[Any]]] = {
    "ldakm": {"variance": [0.7, 0.8, 0.9, 0.95]},
    "dec": {"trade_off": [0, 1.5, 2, 3]},
    "odc": {"kernel": ["linear", "nearest_neighbors"]},
    "rurr": {},
}
# A method, and lists of values by parameter.
Pair = tuple[Any, dict[str, list[Any]]]
_TABLES = (".csv", ".json", ".parquet")
_out_folder = options.out("FOLDER", "Folder for the results.", "run")
_out_file = options.out("FILE", "Write the result to this file, too (.csv, .json, .parquet).")
_results = options.together(
    click.option("--plot", type=options.FILE, metavar="FILE", help="Draw a map of the rows (.svg, .png or .pdf)."),
    options.images,
    options.stability,
    options.report,
    options.config,
    options.writing,
    options.speaking,
)


@click.command()
@options.data
@options.clusters
@_out_folder
@options.method
@click.option("--components", type=click.IntRange(1), metavar="N", help="Dimensions of the embedding.")
@click.option("--trade-off", metavar="NUMBER", help="DEC's trade-off: 0 to inf, or pca, ocm, mmc, olsda.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any other parameter of the method.")
@options.scaling
@options.seed
@options.columns
@options.known
@options.reading
@_results
@click.pass_context
def fit(context: click.Context, data: str, clusters: Clusters, out: str, **given: Any) -> None:
    """Cluster the rows of DATA and write labels, embedding, model and report.

    DATA is CSV, TSV or JSON lines (also .gz, .bz2, .xz, .zst), .xlsx, Parquet, Feather,
    .npy, .npz, .mat, Matrix Market (.mtx), svmlight (.svm) or .h5ad; - reads standard input.

    \b
    Writes to the folder: labels.csv (id, label, confidence or weight),
    clusters.csv and clusters.json (what each cluster is), embedding.parquet
    (or .csv), model.skops, report.html and, last, run.json.
    To repeat a run exactly: jointclust fit --config run/run.json --out again
    """
    voice = Voice.of(given)
    settings = _settings(given)
    models.clusterer(given["method"], 2, given["seed"], **settings)  # names are right, before reading
    if given["known_column"] is not None or given["known_rows"] is not None:
        models.check_known(given["method"])
    source = _read(voice, data, given, out)
    X, known = source.table.data, known_labels(source.table)
    has_views = models.has_views(given["method"], given["scale"], settings)
    steps = preparing.preparation(given["scale"], given["missing"], X, has_views=has_views)
    size = *preparing.shape_of(X), clusters, settings.get("effort", "normal")
    if has_views:
        voice.say(announced(*size))
        settings = {"views": "auto", **settings}
    estimator = models.clusterer(given["method"], 2, given["seed"], **settings)
    with voice.step("fit", f"Fitting {preparing.size_of(X)}") as progress, collected() as messages:
        rows, coded = preparing.prepared(steps, X, given["scale"])
        if isinstance(estimator, jc.JointConsensus) and has_views:
            among, report = models.wanted(clusters), models.numbers_done(progress)
            with models.heard(estimator, progress, members_share(*size)):
                fit = default.fit_rows(estimator, rows, among, known, models.n_classes(known), report)
            found, coded, embedding = fit.number, fit.coded, fit.embedding
        else:
            estimator, found = models.fitted_on_rows(estimator, rows, clusters, known, progress)
            embedding = None
    model, names = preparing.joined(steps, estimator, source.table.names), source.table.names
    fitted = Fitted(model, X, names, prepared=rows, coded=coded, embedded=embedding)
    _finish(Outcome(voice, Path(out), source, fitted, context, messages), {}, found)


@click.command()
@options.data
@options.clusters
@_out_folder
@click.option(
    "--method", "methods", multiple=True, metavar="NAME", help="Method to try; repeat for more (default: four)."
)
@click.option("--grid", multiple=True, metavar="NAME=V1,V2", help="Values to try for a parameter of the methods named.")
@options.choice(
    "--criterion",
    ["agreement", "stability", "silhouette", "calinski_harabasz", "bic"],
    "What to choose by; none of them sees labels.",
)
@options.scaling
@options.seed
@options.columns
@options.reading
@_results
@click.pass_context
def select(context: click.Context, data: str, clusters: Clusters, out: str, **given: Any) -> None:
    """Try methods and parameters on DATA, choose one without labels, write it like `fit`.

    The folder also gets candidates.csv: everything that was tried.
    """
    voice = Voice.of(given)
    pairs = _pairs(given["methods"], given["grid"])
    source = _read(voice, data, given, out)
    X, names = source.table.data, source.table.names
    steps = preparing.preparation(given["scale"], given["missing"], X)
    with voice.step("fit", f"Trying candidates on {X.shape[0]} rows") as progress, collected() as messages:
        rows, coded = preparing.prepared(steps, X, given["scale"])
        known, grids, found = _grids(rows, clusters, pairs, given, progress)
        search = jc.LabelFreeSearch(grids, criterion=given["criterion"], random_state=given["seed"])
        with models.heard(search, progress):
            search.fit(known)
    table = _tried(search)
    fitted = Fitted(preparing.joined(steps, search.best_estimator_, names), X, names, prepared=rows, coded=coded)
    best = {"chosen method": table["estimator"][search.best_index_], **search.best_params_}
    chosen = {name: (value, f"best {given['criterion']}") for name, value in best.items()}
    # By another criterion the number is that of the candidate which it prefers.
    found = search.number_ if found is None and given["criterion"] == "agreement" else found
    _finish(Outcome(voice, Path(out), source, fitted, context, messages, tried=table), chosen, found)


@click.command()
@options.data
@options.clusters
@_out_file
@click.option(
    "--method", "methods", multiple=True, metavar="NAME", help="Method to compare; repeat (default: all, and others)."
)
@options.scaling
@options.seed
@options.columns
@options.reading
@options.writing
@options.speaking
def compare(data: str, clusters: Clusters, out: str | None, **given: Any) -> None:
    """Fit the whole family and the usual alternatives on DATA, side by side."""
    voice = Voice.of(given)
    methods = {name: models.method_of(name) for name in given["methods"]}
    if out is not None:
        claim_table(Path(out), force=given["force"], endings=_TABLES)
    table = arranged(voice, data, given).table
    steps = preparing.preparation(given["scale"], given["missing"], table.data)
    with voice.step("fit", f"Comparing on {preparing.size_of(table.data)}") as progress, collected() as messages:
        rows, _ = preparing.prepared(steps, table.data, given["scale"])
        known, number, counted = models.counted(rows, clusters, given["seed"], progress)
        chosen = {name: method(number) for name, method in methods.items()} or None
        found = jc.compare(known, number, chosen, table.classes, given["seed"], raw=table.data)
    voice.warn(messages)
    if counted is not None:
        voice.say(f"Number of clusters: {_verdict(counted)}")
    if out is not None:
        write_result(Path(out), found, found, raw=given["raw_cells"])
    if not given["quiet"] or given["as_json"]:
        voice.table(found, found)


@click.command()
@options.data
@options.clusters
@_out_file
@click.option("--plot", type=options.FILE, metavar="FILE", help="Draw the curve (.svg, .png or .pdf).")
@options.scaling
@options.seed
@options.columns
@options.reading
@options.writing
@options.speaking
def number(data: str, clusters: Clusters, out: str | None, plot: str | None, **given: Any) -> None:
    """Say how many clusters DATA have: members of different kinds agree on that number most."""
    voice = Voice.of(given)
    claim_plot(plot, force=given["force"])
    if out is not None:
        claim_table(Path(out), force=given["force"], endings=_TABLES)
    X = arranged(voice, data, given).table.data
    among = models.among(clusters)
    with voice.step("number", f"Counting clusters in {preparing.size_of(X)}") as progress, collected() as messages:
        report = models.numbers_done(progress)
        if given["scale"] == "auto":
            found = count_in_data(X, among, np.random.RandomState(given["seed"]), report)
            found.warn()
        else:
            steps = preparing.preparation(given["scale"], given["missing"], X)
            rows, _ = preparing.prepared(steps, X, given["scale"])
            found = default.counted(rows, among, given["seed"], report)[1]
    voice.warn(messages)
    keys = ("n_clusters", "suggestions", "scores", "confidence", "has_structure", "verdict", "table")
    facts = {key: getattr(found, key) for key in keys}
    if out is not None:
        curve = {name: column for name, column in found.table.items() if name != "repeats"}
        write_result(Path(out), curve, facts)
    if plot is not None:
        save_drawing(found.plot(), plot)
    lines = [
        f"{k:4d}  {score:.2f}  {'#' * round(40 * max(score, 0.0))}{'  <' if k == found.n_clusters else ''}"
        for k, score in found.scores.items()
    ]
    voice.result("\n".join([*lines, _verdict(found)]), facts)


# -- before and after a fit ---------------------------------------------------------------------------------------


def _read(voice: Voice, data: str, given: dict[str, Any], out: str) -> InputFile:
    """DATA of a run, read once it is sure that its results can be written."""
    claim_plot(given["plot"], force=given["force"])
    claim_folder(Path(out), force=given["force"])
    source = arranged(voice, data, given)
    image_of(source, given)  # is right, before the work
    return source


def _finish(run: Outcome, chosen: dict[str, tuple[Any, str]], found: jc.ClusterNumber | None) -> None:
    """Say what was done to the data and how the number of clusters was chosen; write all."""
    run.notes.extend(preparing.notes_of(run.fitted.model))
    for note in run.notes:
        run.voice.say(note)
    views = preparing.views_of(run.fitted.model)
    names = ["view"] if len(views) == 1 else [f"view {number}" for number in range(1, len(views) + 1)]
    run.chosen.update({**dict(zip(names, views, strict=True)), **chosen})
    if found is not None:
        run.voice.say(f"Number of clusters: {_verdict(found)}")
        scores = {number: round(score, 3) for number, score in found.scores.items()}
        run.chosen["number of clusters"] = (found.n_clusters, f"found in the data: {found.verdict}")
        run.chosen["agreement by number of clusters"] = (scores, "measured")
    finish(run)


def _verdict(found: jc.ClusterNumber) -> str:
    """How many clusters there are, and the numbers that it could be, with their scores."""
    listed = [f"{number} ({found.scores[number]:.2f})" for number in found.suggestions if number in found.scores]
    candidates = f" Candidates, with the agreement of members: {', '.join(listed)}." if listed else ""
    return f"{found.verdict}.{candidates}"


# -- methods and their parameters ---------------------------------------------------------------------------------


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the estimator that were set on the command line."""
    trade_off = given.get("trade_off")
    direct = {
        "n_components": given.get("components"),
        "trade_off": None if trade_off is None else models.literal(trade_off),
    }
    return {key: value for key, value in direct.items() if value is not None} | models.settings_of(given["settings"])


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
