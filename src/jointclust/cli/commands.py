"""The commands that look for clusters: fit, cut, select, compare, number."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from click.core import ParameterSource

import jointclust as jc
from jointclust import default
from jointclust.cli import models, options, preparing
from jointclust.cli.blocks import check_data, data_to_fit
from jointclust.cli.comparison import aligned, grouped, verdict_of
from jointclust.cli.console import Voice
from jointclust.cli.exchange import RECORD, claimed_folder, digest_of
from jointclust.cli.models import Clusters
from jointclust.cli.reading import InputFile, file_to_fit, known_labels, naming_texts
from jointclust.cli.results import Outcome, finish, image_of, verdict
from jointclust.cli.runs import SavedRun, altered, parameters_of, saved_names, saved_run
from jointclust.cli.workbook import claim_workbook
from jointclust.cli.writing import claim_plot, claim_table, save_drawing, write_result
from jointclust.consensus.tree import FINEST
from jointclust.exceptions import NoticeText, collected
from jointclust.number.estimate import count_in_data
from jointclust.showing.alternatives import described
from jointclust.showing.fitted import Fitted, at_layer, last_step

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


@click.command()
@options.data_or_blocks_and_clusters
@_out_folder
@options.method
@click.option("--components", type=click.IntRange(1), metavar="N", deprecated="Use --set n_components=N.")
@click.option("--trade-off", metavar="NUMBER", deprecated="Use --set trade_off=NUMBER.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any other parameter of the method.")
@click.option(
    "--cut",
    "cut_into",
    type=click.IntRange(1),
    metavar="N",
    help="Write the clusters of another layer of the consensus: N of them, up to four times those of the fit.",
)
@click.option(
    "--like",
    type=options.FILE,
    metavar="RUN",
    help="An earlier run of such data, last month's: the same clusters keep its numbers and names.",
)
@options.preparing
@options.known
@options.reading
@options.results
@click.pass_context
def fit(context: click.Context, data: str | None, clusters: Clusters, out: str, **given: Any) -> None:
    """Cluster the rows of DATA and write labels, embedding, model and report.

    DATA is CSV, TSV or JSON lines (also .gz, .bz2, .xz, .zst), .xlsx, Parquet, Feather,
    .npy, .npz, .mat, Matrix Market (.mtx), svmlight (.svm) or .h5ad; - reads standard input.

    \b
    Writes to the folder: labels.csv (id, label, name, confidence or
    weight), clusters.csv and clusters.json (what each cluster is),
    embedding.parquet (or .csv), model.skops, report.html and, last, run.json.
    To repeat a run exactly: jointclust fit --config run/run.json --out again
    """
    voice = Voice(given)
    settings = models.settings_of(given)
    models.clusterer(given["method"], 2, given["seed"], **settings)  # names are right, before reading
    if given["known_column"] is not None or given["known_rows"] is not None:
        models.check_known(given["method"])
    check_data(data, given["blocks"])
    is_consensus = issubclass(models.method_of(given["method"]), jc.JointConsensus)
    check_cut(given["cut_into"], clusters, is_consensus=is_consensus)
    if given["blocks"] and ("views" in settings or not is_consensus):
        raise click.UsageError("--block is for the consensus in its own views: leave out --method and --set views=...")
    before = None if given["like"] is None else _earlier(given)
    source = _read(voice, data, given, out)
    X, known = source.table.data, known_labels(source.table)
    # A consensus looks at views of the data itself, and so takes them as they come.
    has_views = is_consensus and given["scale"] == "auto" and "views" not in settings
    steps = preparing.preparation(given["scale"], given["missing"], X, source.used, has_views=has_views)
    faster = models.faster_than(clusters, settings) if is_consensus else ""
    if has_views:
        settings = {"views": "auto", "columns": source.used, **settings}
    estimator = models.clusterer(given["method"], 2, given["seed"], **settings)
    doing = f"Clustering {preparing.size_of(X)}"
    with voice.long_step("fit", "Clustering", doing, faster) as progress, collected() as messages:
        rows, coded, looked_at = preparing.prepared(steps, X, given["scale"])
        if isinstance(estimator, jc.JointConsensus) and has_views:
            among = clusters if isinstance(clusters, int) else models.among(clusters)
            fit = default.fit_rows(estimator, rows, among, known, models.n_classes(known), like=before)
            cluster_number, coded, embedding = fit.number, fit.coded, fit.embedding
            del fit  # and with it the rows in each view, which take more room than all that follows
        else:
            estimator, cluster_number = models.fitted_on_rows(estimator, rows, clusters, known, progress)
            embedding = None
    model, names = preparing.joined(steps, estimator, source.table.names), source.table.names
    if given["cut_into"] is not None:
        model = cut_model(model, given["cut_into"], X, rows)
    are_images = image_of(source, given)[0] is not None
    computed = {"prepared": rows, "coded": coded, "embedded": embedding, "looked_at": looked_at}
    computed |= {"named_by": naming_texts(source, given)}
    fitted = Fitted(model, X, names, **computed, numbered=are_images, are_known=True)
    finish(Outcome(voice, Path(out), source, fitted, context, messages, cluster_number))


def check_cut(cut_into: int | None, clusters: Clusters, *, is_consensus: bool) -> None:
    """Refuse, before a fit that may take long, a layer that no such fit has."""
    if cut_into is None:
        return
    if not is_consensus:
        raise click.UsageError("--cut takes a layer of the consensus: leave out --method.")
    if isinstance(clusters, int) and cut_into > FINEST * clusters:
        raise click.UsageError(
            f"--cut {cut_into} is more than {FINEST} times {clusters}, the clusters of the fit, where its layers end: "
            "fit with more clusters."
        )


def _earlier(given: dict[str, Any]) -> Any:
    """The model of an earlier run, with the names of its clusters."""
    is_default = issubclass(models.method_of(given["method"]), jc.JointConsensus) and given["scale"] == "auto"
    if not is_default or given["known_column"] is not None or given["known_rows"] is not None:
        raise click.UsageError("--like goes with the default: leave out --method, --scale and known classes.")
    run = saved_run(given["like"])
    model = last_step(run.model)
    if isinstance(model, jc.JointConsensus):
        model.cluster_names_ = vars(model).get("cluster_names_", {}) | saved_names(run)
    return run.model


@click.command()
@click.argument("run", metavar="RUN", type=options.FILE)
@click.option(
    "-k",
    "--clusters",
    "cut_into",
    type=click.IntRange(1),
    required=True,
    metavar="N",
    help="Number of clusters, up to four times those of the run; any number with --refit.",
)
@click.option("--refit", is_flag=True, help="Fit again with this number, by the options of the run: takes longer.")
@options.out("FOLDER", "Where everything goes (default: RUN-N).")
@click.option("--data", type=options.FILE, metavar="FILE", help="The data of the run (default: where they were).")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of what is drawn.")
@options.results
@click.pass_context
def cut(
    context: click.Context,
    run: str,
    cut_into: int,
    refit: bool,
    out: str | None,
    data: str | None,
    seed: int,
    **given: Any,
) -> None:
    """Write another layer of a RUN, N clusters in place of those of its fit, without a fit.

    The folder has all that `fit` writes; the clusters are joined or split ones of the run. With --refit they are those
    of another fit to the same data.
    """
    voice = Voice(given)
    saved = saved_run(run)
    voice.warn(altered(saved))
    folder = Path(f"{saved.folder.resolve()}-{cut_into}" if out is None else out)
    before = parameters_of(saved)
    path = _data_of(saved, data)
    if refit:
        _fit_again(context, saved, path, folder)
        return
    claim_plot(given["plot"], force=given["force"])
    claim_workbook(given.get("xlsx", False))
    if given["name_by"] is None:
        context.params["name_by"] = given["name_by"] = before.get("name_by")
    source = data_to_fit(voice, path, before | given)
    X, recorded = source.table.data, saved.record.get("input", {}).get("sha256")
    if recorded is not None and recorded != source.sha256:
        raise click.UsageError(
            f"{source.path} is not the data of {run}: its content differs. Give the data with --data."
        )
    are_images = image_of(source, given)[0] is not None
    with voice.step("cut", f"Cutting into {cut_into} clusters"), collected() as messages:
        model = cut_model(saved.model, cut_into, X, None)
    (about,) = described(last_step(saved.model), [cut_into])
    voice.say(
        f"These clusters are joined or split ones of the run's: {about.beside_a_fit}. "
        f"To fit with this number: jointclust cut {shlex.quote(run)} -k {cut_into} --refit"
    )
    # Once it is sure that there is such a layer.
    context.with_resource(claimed_folder(folder, force=given["force"]))
    # How the data are read goes on with the run: it can be cut again, and label new rows.
    context.params |= {name: before[name] for name in before.keys() - context.params.keys() - {"clusters"}}
    naming = naming_texts(source, before | given)
    is_known = recorded is not None
    fitted = Fitted(model, X, source.table.names, numbered=are_images, named_by=naming, are_known=is_known)
    finish(Outcome(voice, folder, source, fitted, context, messages))


def _data_of(saved: SavedRun, data: str | None) -> str | None:
    """The file of the data of a run, or None of blocks; a UsageError where nobody knows where it is."""
    before, run = parameters_of(saved), saved.folder
    path = before.get("data") if data is None else data
    if path is None and before.get("blocks"):
        return None
    if path is None or path == "-":
        raise click.UsageError(f"{run} does not say where its data are: give them with --data.")
    if data is None and not Path(path).is_file():
        raise click.UsageError(f"The data of {run} are not at {path} any more: give them with --data.")
    return path


def _fit_again(context: click.Context, saved: SavedRun, path: str | None, folder: Path) -> None:
    """Fit to the data of a run by its options and by those given here, with the number given here."""
    before, command = parameters_of(saved), select if saved.record.get("command") == "select" else fit
    if not before:
        raise click.UsageError(
            f"{saved.folder} holds no {RECORD}, which has the options of its fit: use jointclust fit."
        )
    _check_unchanged(saved, path)
    here = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    options = {**before, **{name: context.params[name] for name in here}}
    usual = {str(one.name): one.get_default(context) for one in command.params}
    options = {name: value for name, value in options.items() if name in usual and value not in (usual[name], [], None)}
    for name in ("out", "cut_into", "config"):
        options.pop(name, None)
    options |= {"data": path, "clusters": [str(context.params["cut_into"])], "out": str(folder)}
    with command.make_context(command.name, [], parent=context.parent, default_map=options) as own:
        command.invoke(own)


def _check_unchanged(saved: SavedRun, path: str | None) -> None:
    """Refuse data that are not those of a run."""
    known = saved.record.get("input", {})
    blocks = {name: (one["path"], one.get("sha256")) for name, one in (known.get("blocks") or {}).items()}
    for file, digest in blocks.values() if path is None else [(path, known.get("sha256"))]:
        if not Path(file).is_file():
            raise click.UsageError(
                f"The data of {saved.folder} are not at {file} any more: fit again with jointclust fit."
            )
        if digest is not None and digest_of(Path(file)) != digest:
            raise click.UsageError(
                f"{file} is not the data of {saved.folder}: its content differs. Give the data with --data, or fit to "
                "what is there now with jointclust fit."
            )


def cut_model(model: Any, n_clusters: int, X: Any, prepared: Any) -> Any:
    """The model with the clusters of one of its layers, or what is wrong in words of the command line."""
    try:
        return at_layer(model, n_clusters, X, prepared)
    except (TypeError, ValueError, AttributeError) as error:
        raise click.UsageError(str(error)) from error


@click.command()
@options.data_and_clusters
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
@options.preparing
@options.reading
@options.results
@click.pass_context
def select(context: click.Context, data: str, clusters: Clusters, out: str, **given: Any) -> None:
    """Try methods and parameters on DATA, choose one without labels, write it like `fit`.

    The folder also gets candidates.csv: everything that was tried.
    """
    voice = Voice(given)
    pairs = _pairs(given["methods"], given["grid"])
    source = _read(voice, data, given, out)
    X, names = source.table.data, source.table.names
    steps = preparing.preparation(given["scale"], given["missing"], X, source.used)
    with voice.step("fit", f"Trying candidates on {X.shape[0]} rows") as progress, collected() as messages:
        rows, coded, looked_at = preparing.prepared(steps, X, given["scale"])
        known, grids, cluster_number = _grids(rows, clusters, pairs, given, progress)
        search = jc.LabelFreeSearch(grids, criterion=given["criterion"], random_state=given["seed"])
        with models.reported(search, progress):
            search.fit(known)
    results: Any = search.results_
    table = {key: results[key] for key in ("estimator", "params", "score", "seconds", "warnings")}
    table["params"] = [", ".join(f"{key}={value}" for key, value in row.items()) for row in table["params"]]
    model = preparing.joined(steps, search.best_estimator_, names)
    are_images = image_of(source, given)[0] is not None
    computed = {"prepared": rows, "coded": coded, "looked_at": looked_at, "named_by": naming_texts(source, given)}
    fitted = Fitted(model, X, names, **computed, numbered=are_images, are_known=True)
    best = {"chosen method": table["estimator"][search.best_index_], **search.best_params_}
    chosen = {name: (value, f"best {given['criterion']}") for name, value in best.items()}
    # By another criterion the number is that of the candidate which it prefers.
    cluster_number = search.number_ if cluster_number is None and given["criterion"] == "agreement" else cluster_number
    finish(Outcome(voice, Path(out), source, fitted, context, messages, cluster_number, chosen, table))


@click.command()
@options.data_and_clusters
@_out_file
@click.option(
    "--method", "methods", multiple=True, metavar="NAME", help="Method to compare; repeat (default: all, and others)."
)
@options.preparing
@options.reading
@options.writing
def compare(data: str, clusters: Clusters, out: str | None, **given: Any) -> None:
    """Fit the whole family and the usual alternatives on DATA, side by side."""
    voice = Voice(given)
    methods = {name: models.method_of(name) for name in given["methods"]}
    claim_table(out, force=given["force"], endings=_TABLES)
    source = file_to_fit(voice, data, given)
    table = source.table
    steps = preparing.preparation(given["scale"], given["missing"], table.data, source.used)
    with voice.step("fit", f"Comparing on {preparing.size_of(table.data)}") as progress, collected() as messages:
        rows = preparing.prepared(steps, table.data, given["scale"]).rows
        known, number, counted = models.counted(rows, clusters, given["seed"], progress)
        chosen = {name: method(number) for name, method in methods.items()} or None
        comparison = jc.compare(known, number, chosen, table.classes, given["seed"], raw=table.data)
    texts = [message for message in messages if not isinstance(message, NoticeText)]
    voice.warn(texts)
    if counted is not None:
        voice.say(f"Number of clusters: {verdict(counted)}")
    write_result(out, comparison, comparison, raw=given["raw_cells"])
    lines = [*aligned(grouped(comparison)), "", verdict_of(comparison)]
    voice.result("\n".join(lines), {**comparison, "verdict": verdict_of(comparison)})


@click.command()
@options.data_and_clusters
@_out_file
@click.option("--plot", type=options.FILE, metavar="FILE", help="Draw the curve (.svg, .png or .pdf).")
@options.preparing
@options.reading
@options.writing
def number(data: str, clusters: Clusters, out: str | None, plot: str | None, **given: Any) -> None:
    """Say how many clusters DATA have: the number whose clusters are expected to be most like the true ones."""
    voice = Voice(given)
    claim_plot(plot, force=given["force"])
    claim_table(out, force=given["force"], endings=_TABLES)
    source = file_to_fit(voice, data, given)
    X = source.table.data
    among = models.among(clusters)
    with voice.step("number", f"Counting clusters in {preparing.size_of(X)}") as progress, collected() as messages:
        report = models.numbers_done(progress)
        if given["scale"] == "auto":
            cluster_number = count_in_data(X, among, np.random.RandomState(given["seed"]), report, source.used)
            cluster_number.warn()
        else:
            steps = preparing.preparation(given["scale"], given["missing"], X, source.used)
            rows = preparing.prepared(steps, X, given["scale"]).rows
            cluster_number = default.counted(rows, among, given["seed"], report)[1]
    voice.warn(messages)
    keys = ("n_clusters", "suggestions", "scores", "confidence", "has_structure", "at_edge", "verdict", "why", "table")
    facts = {key: getattr(cluster_number, key) for key in keys}
    write_result(out, {name: column for name, column in cluster_number.table.items() if name != "repeats"}, facts)
    if plot is not None:
        save_drawing(cluster_number.plot(), plot)
    lines = [
        f"{k:4d}  {score:.2f}  {'#' * round(40 * max(score, 0.0))}{'  <' if k == cluster_number.n_clusters else ''}"
        for k, score in cluster_number.scores.items()
    ]
    why = f"{cluster_number.why[:1].upper()}{cluster_number.why[1:]}."
    voice.result("\n".join([*lines, verdict(cluster_number), why]), facts)


def _read(voice: Voice, data: str | None, given: dict[str, Any], out: str) -> InputFile:
    """DATA of a run, read once it is sure that its results can be written."""
    claim_plot(given["plot"], force=given["force"])
    claim_workbook(given.get("xlsx", False))
    click.get_current_context().with_resource(claimed_folder(Path(out), force=given["force"]))
    source = data_to_fit(voice, data, given)
    image_of(source, given)  # is right, before the work
    return source


def _grids(
    rows: Any, clusters: Clusters, pairs: list[Pair], given: dict[str, Any], progress: Callable[[int, int], None]
) -> tuple[Any, list[Pair], jc.ClusterNumber | None]:
    """What to fit, the methods with their values, and how many clusters were found where none is given.

    Several numbers are values to try like others; the search says how it chose among them.
    """
    if isinstance(clusters, int | None):
        known, number, cluster_number = models.counted(rows, clusters, given["seed"], progress)
        return known, [(method(number), grid) for method, grid in pairs], cluster_number
    wanted = models.among(clusters) or []
    numbers = [*range(wanted[0], wanted[1] + 1)] if isinstance(clusters, str) else [*wanted]
    return rows, [(method(numbers[0]), {**grid, "n_clusters": numbers}) for method, grid in pairs], None


def _pairs(methods: tuple[str, ...], grid: tuple[str, ...]) -> list[Pair]:
    """Methods with the values to try; a value belongs to the methods that have its parameter."""
    if not methods and grid:
        raise click.UsageError("--grid needs --method: say whose parameters these are.")
    if not methods:
        return [(models.method_of(name), values) for name, values in TRIED_BY_DEFAULT.items()]
    texts = models.named("--grid", grid, "NAME=VALUE,VALUE")
    tried = {name: [models.literal(part.strip()) for part in text.split(",")] for name, text in texts.items()}
    pairs: list[Pair] = []
    for method in map(models.method_of, methods):
        pairs.append((method, {name: tried[name] for name in tried if name in method().get_params()}))
    if unused := sorted(tried.keys() - {name for _, own in pairs for name in own}):
        raise click.UsageError(f"--grid {unused[0]}: none of {', '.join(methods)} has such a parameter.")
    return pairs
