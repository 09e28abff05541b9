"""What `fit` and `select` do once a model is fitted: judge it, write everything, say what was found."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import PCA, TruncatedSVD

import jointclust as jc
from jointclust import progress
from jointclust.cli import preparing, runs
from jointclust.cli.columns import are_mostly_texts, clustered, in_short, of_texts, unused
from jointclust.cli.console import Voice, counted, shown
from jointclust.cli.errors import as_option, in_options
from jointclust.cli.exchange import RECORD, digests_of, exchanging
from jointclust.cli.options import names_of
from jointclust.cli.reading import InputFile, identities, known_labels
from jointclust.cli.runs import class_column, class_names, command_line, embedding_columns, origins
from jointclust.cli.workbook import WORKBOOK, write_workbook
from jointclust.cli.writing import embedding_name, save_drawing, write_json, write_table, written
from jointclust.consensus.column_roles import describe_decisive
from jointclust.consensus.estimator import describe_unused
from jointclust.consensus.matching import summary
from jointclust.exceptions import NoticeText
from jointclust.readers import Table
from jointclust.selection.stability import stability_of_clusters
from jointclust.showing.alternatives import alternatives
from jointclust.showing.fitted import Fitted, first_preparation, steady_word
from jointclust.showing.plots import EmbeddingDisplay
from jointclust.showing.queries import any_of
from jointclust.types import Float, Labels
from jointclust.views.blocks import PreparedBlocks, in_block
from jointclust.views.kinds import Description
from jointclust.views.preparation import FURTHER
from jointclust.views.written import is_gap

# Rows and components that the refits look at, at the most.
STABILITY_ROWS, _STABILITY_COLUMNS = 2000, 50
# Rows of which refits say something, at the least.
_FEW_ROWS = 10
# Sizes and names of clusters that are printed, at the most.
_SIZES, _NAMED = 20, 8
# Seconds of writing, as measured on one machine: to explain a cluster, and a million cells that this looks at; a file;
# the model, and a million of its cells; the map, and a thousand of its rows; the page.
_OF_CLUSTER, _OF_CELLS, _OF_FILE, _OF_MODEL, _OF_MODEL_CELLS = 0.02, 0.5, 0.02, 1.4, 0.2
_OF_MAP, _OF_MAP_ROWS, _OF_PAGE = 0.5, 1.2, 0.4
# Rows and features that an explanation looks at; rows of the map that take time; clusters of other layers than the
# fit's, which are explained in less time.
_LOOKED_AT, _MAPPED, _OTHERS, _LESS = (4_000, 100), 5_500, 23, 0.25
# Dots of a map that are drawn as lines, at the most.
_DOTS = 5000
# Rules and features of a cluster in a cell of the table, at the most; the JSON has all.
_RULES, _FEATURES = 2, 5
# Columns of the table in which rules can be used elsewhere, and the word between several.
_LANGUAGES = {"sql": "OR", "query": "or"}


@dataclass(frozen=True, eq=False)
class Outcome:
    """A fitted model with the record of its fit: warnings, parameters that were found, candidates."""

    voice: Voice
    folder: Path
    source: InputFile
    fitted: Fitted
    context: click.Context
    messages: list[str]
    number: jc.ClusterNumber | None = None
    best: dict[str, tuple[Any, str]] = field(default_factory=dict)
    tried: dict[str, list[Any]] | None = None

    @cached_property
    def chosen(self) -> dict[str, tuple[Any, str]]:
        """Parameters found on the way, and who chose them."""
        views = preparing.views_of(self.fitted.model)
        parameters: dict[str, tuple[Any, str]]
        parameters = {"view" if len(views) == 1 else f"view {place}": view for place, view in enumerate(views, 1)}
        parameters |= self.best
        if self.number is not None:
            scores = {number: round(score, 3) for number, score in self.number.scores.items()}
            parameters["number of clusters"] = (self.number.n_clusters, f"found in the data: {self.number.verdict}")
            parameters["predicted agreement by number of clusters"] = (scores, "measured")
        return parameters

    @property
    def given(self) -> dict[str, Any]:
        return self.context.params

    @cached_property
    def description(self) -> Description | None:
        """What the data are, where that was looked at."""
        first = first_preparation(self.fitted.model)
        if isinstance(first, PreparedBlocks):
            return first.description_
        preparations = preparing.preparations_of(self.fitted.model)
        return preparations[0].description_ if preparations else None

    @property
    def guard(self) -> list[str]:
        """The warning that the clusters are those of one column, if they are."""
        decisive = self.fitted.roles.decisive
        if decisive is None:
            return []
        named = [option for option in ("--keep", "--columns") if decisive in (names_of(self.given[option[2:]]) or ())]
        remedy = f"take it out of {named[0]}" if named else as_option("--drop", [decisive])
        return [describe_decisive(decisive, remedy)]

    @property
    def texts(self) -> str:
        """That there are texts which are not clustered, if there are."""
        return "" if self.description is None else of_texts(self.description)

    @property
    def dangers(self) -> list[str]:
        """What is warned of first: that the clusters are those of one column, or of the little beside the texts."""
        is_danger = self.description is not None and are_mostly_texts(self.description)
        return [*self.guard, *([self.texts] if is_danger else [])]

    @property
    def others(self) -> list[str]:
        """Other warnings; which columns are not used, is said elsewhere."""
        texts = [] if self.fitted.roles.decisive is None else [describe_decisive(self.fitted.roles.decisive)]
        texts += ["" if self.description is None else describe_unused(self.description)]
        return [message for message in self.messages if message not in texts]

    @property
    def warnings(self) -> list[str]:
        """All dangers, also what the fit warned of."""
        return [*self.dangers, *(in_options(text) for text in self.others if not isinstance(text, NoticeText))]

    @cached_property
    def coded(self) -> list[str]:
        """What was done to cells when they were coded; columns and views have tables of their own."""
        columns = [] if self.description is None else self.description.columns
        elsewhere = ["view ", FURTHER, *(f"column {column.name!r} " for column in columns if not column.used)]
        elsewhere += [f"Column {column.name!r} holds dates" for column in columns]  # a note of the reader
        preparations = preparing.preparations_of(self.fitted.model)
        notes = dict.fromkeys(note for one in preparations for note in one.notes_)
        return [note[0].upper() + note[1:] for note in notes if note and not note.startswith(tuple(elsewhere))]

    @cached_property
    def changes(self) -> list[str]:
        """What has become of the clusters of an earlier run."""
        return summary(getattr(self.fitted.clusterer, "changes_", []))

    @cached_property
    def notes(self) -> list[str]:
        """What has changed since an earlier run, and what was done to the data: read, coded, and fitted."""
        kept = [in_options(text) for text in self.others if isinstance(text, NoticeText)]
        kept += [self.texts] if self.texts and self.texts not in self.dangers else []
        changes = [f"since the run before: {one}" for one in self.changes]
        return list(dict.fromkeys([*changes, *self.source.table.notes, *self.coded, *kept]))


def verdict(result: jc.ClusterNumber) -> str:
    """How many clusters there are, and the numbers that it could be, with their scores."""
    listed = ", ".join(f"{number} ({result.scores[number]:.2f})" for number in result.ranked)
    candidates = f" Candidates, with the agreement that is predicted: {listed}." if listed else ""
    return f"{result.verdict}.{candidates}"


def finish(run: Outcome) -> None:
    """Say what was done to the data and how the number of clusters was chosen; write the folder, its record last."""
    run.voice.warn(run.dangers)
    for line in [] if run.description is None else _of_columns(run, run.description):
        run.voice.say(line)
    if run.texts not in run.dangers:
        run.voice.say(run.texts)
    if run.number is not None and not any(run.number.verdict in text for text in run.warnings):  # which say it later
        run.voice.say(f"Number of clusters: {verdict(run.number)}")
    _check_same_data(run)
    _describe(run)
    with run.voice.step("stability", "Judging the clusters' stability"):
        stability = stability_of(run.fitted, run.given["resamples"], run.given["seed"])
    with exchanging(run.folder) as begun:
        with run.voice.long_step("write", "Writing"):
            files = _write(run, stability, begun)
        result = _record(run, stability, begun)
    _say(run, result, stability, [*files, RECORD])


def _record(run: Outcome, stability: Float | None, folder: Path) -> dict[str, Any]:
    """Write the record of a run beside its other files; returns what it says of the result."""
    fitted, table = run.fitted, run.source.table
    sizes = np.bincount(fitted.labels).tolist()
    result: dict[str, Any] = {"rows": int(fitted.labels.size), "clusters": int(np.count_nonzero(sizes)), "sizes": sizes}
    rejected = int(np.count_nonzero(np.asarray(fitted.clusterer.labels_) < 0))
    result |= ({"rejected": rejected} if rejected else {}) | evaluation(table, fitted.labels)
    how_sure = fitted.verdict(stability)
    result["verdict"] = {"level": how_sure.level, "reasons": how_sure.reasons}
    if hasattr(fitted.clusterer, "changes_"):
        result["changes"] = fitted.clusterer.changes_
    if stability is not None:
        result["stability"] = [None if np.isnan(value) else round(float(value), 3) for value in stability]
    rows, columns = preparing.shape_of(table.data)
    known: dict[str, Any] = {"rows": rows, "columns": columns, "id_column": table.id_column}
    known |= {"date_orders": table.date_orders} if table.date_orders else {}
    known |= {"blocks": {name: _of_block(one) for name, one in (run.source.blocks or {}).items()} or None}
    parameters = {name: value for name, (value, _) in origins(run.context).items()}
    runs.write_record(
        folder,
        command=run.context.info_name,
        command_line=command_line(run.context),
        parameters=parameters | _where(run.source),
        chosen={name: value for name, (value, _) in run.chosen.items()},
        input={"path": run.source.path, "sha256": run.source.sha256, **known},
        result=result,
        columns=[_plain(column) for column in fitted.columns],
        notes=run.notes,
        warnings=run.warnings,
        seconds={key: round(value, 3) for key, value in run.voice.seconds.items()},
        fitted=runs.ranges_of(fitted.data, fitted.names),
        files=digests_of(folder),
    )
    return result


def _of_columns(run: Outcome, description: Description) -> list[str]:
    """Which columns are used, and notes on what was read into their cells."""
    views = [one.view_ for one in preparing.preparations_of(run.fitted.model)]
    if description._parts is not None:
        by_block = {name: [f"Clustered {clustered(part)}", unused(part)] for name, part in description._parts.items()}
        return [in_block(name, line) for name, lines in by_block.items() for line in lines if line]
    return [*in_short(description, views), *run.coded]


def _where(source: InputFile) -> dict[str, Any]:
    """The parameters that name the data."""
    if source.blocks is None:
        return {"data": source.path}
    return {"data": None, "blocks": [f"{name}={one.path}" for name, one in source.blocks.items()]}


def _of_block(source: InputFile) -> dict[str, Any]:
    """How to read a file like that of a block."""
    table = source.table
    facts = {"id_column": table.id_column, "text_column": source.text_column, "date_orders": table.date_orders or None}
    return {"path": source.path, "sha256": source.sha256, **facts}


def _plain(column: dict[str, Any]) -> dict[str, Any]:
    """What is known of a column, for JSON; None is unknown."""
    return {name: _rounded(value) if isinstance(value, float) else value for name, value in column.items()}


def _rounded(value: float) -> float | None:
    return round(value, 3) if np.isfinite(value) else None


def _write(run: Outcome, stability: Float | None, folder: Path) -> list[str]:
    """Write all files but the record; returns their names."""
    table, raw, fitted = run.source.table, run.given["raw_cells"], run.fitted
    progress.plan(_writing_stages(fitted, preparing.shape_of(table.data)))
    clusters = clusters_of(fitted, table, stability)
    ids, tried = identities(table), run.tried
    cells = {name: [_cell(name, one[name]) for one in clusters] for name in clusters[0]}
    cells |= {key: [_said(one["rules"], key, word) for one in clusters] for key, word in _LANGUAGES.items()}
    writers: dict[str, Callable[[Path], None]] = {
        "labels.csv": lambda path: write_table(path, label_columns(fitted, table) | shown_columns(run), raw=raw),
        "clusters.csv": lambda path: write_table(path, cells, raw=raw),
        "clusters.json": lambda path: write_json(path, clusters),
        embedding_name(): lambda path: write_table(path, embedding_columns(ids, fitted.embedding), raw=raw),
        "model.skops": lambda path: _save_model(run, path),
        "report.html": lambda path: _write_report(run, stability, path),
    }
    if run.given["xlsx"]:
        writers[WORKBOOK] = lambda path: write_workbook(path, _sheets(run, stability, cells), raw=raw)
    if tried is not None:
        writers["candidates.csv"] = lambda path: write_table(path, tried, raw=raw)
    for name, write in writers.items():
        write(folder / name)
        progress.advance(name, 1)
    if run.given["plot"] is not None:
        # Dots are pixels in a drawing of lines where they are many.
        drawn = EmbeddingDisplay.from_estimator(fitted, table.data, rasterized=fitted.labels.size > _DOTS)
        save_drawing(drawn.ax_, run.given["plot"])
    return list(writers)


def _writing_stages(fitted: Fitted, shape: tuple[int, int]) -> dict[str, float]:
    """What is done to write a run, in its order, and what each takes."""
    n_rows, n_features = shape
    n_clusters = int(fitted.labels.max()) + 1
    cells = min(n_rows, _LOOKED_AT[0]) * min(n_features, _LOOKED_AT[1]) / 1e6
    of_each = _OF_CLUSTER + _OF_CELLS * cells
    of_layers = _LESS * of_each * (n_clusters + _OTHERS) if isinstance(fitted.clusterer, jc.JointConsensus) else 0.0
    return {
        "clusters": of_each * n_clusters,
        **dict.fromkeys(("labels.csv", "clusters.csv", "clusters.json", embedding_name()), _OF_FILE),
        "model.skops": _OF_MODEL + _OF_MODEL_CELLS * n_rows * n_features / 1e6,
        "map": _OF_MAP + _OF_MAP_ROWS * min(n_rows, _MAPPED) / 1e3,
        "names": of_layers / 3,
        "layers": of_layers,
        "report.html": _OF_PAGE,
    }


def _sheets(run: Outcome, stability: Float | None, clusters: dict[str, list[Any]]) -> dict[str, dict[str, Any]]:
    """The sheets of the workbook."""
    fitted, how_sure = run.fitted, run.fitted.verdict(stability)
    facts = [
        ("data", run.source.path),
        ("rows", int(fitted.labels.size)),
        ("clusters", len(clusters["cluster"])),
        ("how sure", how_sure.level),
        *(("reason", reason) for reason in how_sure.reasons),
        *([] if run.number is None else [("number of clusters", verdict(run.number))]),
        *(("beware", text) for text in run.warnings),
        *(("note", text) for text in run.notes),
        ("command", command_line(run.context)),
        ("version", f"jointclust {jc.__version__}"),
        ("SHA-256 of the data", run.source.sha256),
    ]
    names, values = zip(*facts, strict=True)
    summary = {"what": list(names), "value": list(values)}
    labels = label_columns(fitted, run.source.table) | shown_columns(run)
    return {"labels": labels, "clusters": clusters, "summary": summary}


def _save_model(run: Outcome, path: Path) -> None:
    with written(path) as temporary:
        jc.save(run.fitted.model, temporary)


def _write_report(run: Outcome, stability: Float | None, path: Path) -> None:
    table = run.source.table
    shape, order = image_of(run.source, run.given)
    wanted = names_of(run.given.get("show", ())) or []
    has_views = hasattr(run.fitted.clusterer, "views_")  # which have a table of their own on the page
    chosen = {name: value for name, value in run.chosen.items() if not (has_views and name.startswith("view"))}
    with written(path) as temporary:
        jc.write_report(
            run.fitted,
            table.data,
            temporary,
            ids=table.ids,
            classes=table.classes,
            stability=stability,
            notes=run.notes,
            image_shape=shape,
            image_order=order,
            title="standard input" if run.source.path == "-" else Path(run.source.path).name,
            parameters=origins(run.context) | chosen,
            candidates=run.tried,
            warnings=run.warnings,
            command=command_line(run.context),
            checksum=run.source.sha256,
            most_megabytes=run.given["report_megabytes"],
            shown={name: column for name, column in table.beside.items() if name in wanted},
            carried={name: column for name, column in table.beside.items() if name not in wanted},
            text_name=run.source.text_name,
        )


def stability_of(fitted: Fitted, n_resamples: int, seed: int) -> Float | None:
    """How far each cluster is found again on other rows: what a consensus has measured, else by refits.

    They are those of :func:`jointclust.bootstrap_stability`, on a sample of the rows and in their leading principal
    components: their cost must not depend on the size of the file.
    """
    if isinstance(fitted.clusterer, jc.JointConsensus) or n_resamples == 0:
        return fitted.found
    rows, labels, clusterer = fitted.rows, fitted.labels, fitted.clusterer
    rng, n = np.random.RandomState(seed), rows.shape[0]
    sample = np.arange(n) if n <= STABILITY_ROWS else np.sort(rng.permutation(n)[:STABILITY_ROWS])
    n_clusters, own, small = int(labels.max()) + 1, labels[sample], rows[sample]
    if n_clusters == 1 or sample.size < max(2 * n_clusters, _FEW_ROWS):
        return None  # nothing to tell apart, or too few rows for a resample to hold it
    most = max(_STABILITY_COLUMNS, getattr(clusterer, "n_components", None) or 0)
    if small.shape[1] > most:
        reduce = TruncatedSVD if sp.issparse(small) else PCA
        small = reduce(min(most, min(small.shape) - 1), random_state=0).fit_transform(small)
    shares = stability_of_clusters(clusterer, small, own, n_clusters, n_resamples, rng)
    absent = np.bincount(own, minlength=n_clusters) == 0
    return np.where(absent, np.nan, shares)


def image_of(source: InputFile, given: dict[str, Any]) -> tuple[tuple[int, int] | None, str]:
    """Shape of rows that are images: as the user says, or as the data sets of that name are."""
    n_features, text = preparing.shape_of(source.table.data)[1], given["image_shape"]
    if source.blocks is not None:
        if text is not None:
            raise click.UsageError("--image-shape is for one table of pixels, not for --block.")
        return None, given["image_order"]
    if text is None:
        known, order = jc.datasets.image_layout(Path(source.path).name.split(".")[0])
        is_known = known is not None and known[0] * known[1] == n_features
        return (known, order) if is_known else (None, given["image_order"])
    try:
        height, width = (int(part) for part in text.lower().split("x"))
    except ValueError:
        raise click.UsageError(f"--image-shape {text}: write it as HEIGHTxWIDTH, such as 32x32.") from None
    if min(height, width) < 1:
        raise click.UsageError(f"--image-shape {text}: height and width are at least 1.")
    if height * width != n_features:
        raise click.UsageError(f"--image-shape {text} makes {height * width} pixels; the data have {n_features}.")
    return (height, width), given["image_order"]


def _check_same_data(run: Outcome) -> None:
    """Say so when a run is repeated on other data than its record names."""
    path = run.given.get("config")
    if path and path.endswith(".json"):
        recorded = runs.part_of_record(Path(path), "input").get("sha256")
        if recorded != run.source.sha256:
            run.voice.say(f"Warning: {run.source.path} is not the file of {path}; its content differs.")


def _describe(run: Outcome) -> None:
    """Print details of the method, which only --verbose shows."""
    clusterer = run.fitted.clusterer
    params = {name: value for name, value in clusterer.get_params(deep=False).items() if value is not None}
    run.voice.tell(f"{type(clusterer).__name__}({', '.join(f'{name}={value!r}' for name, value in params.items())})")
    for name, (value, _) in run.chosen.items():
        run.voice.tell(f"{name}: {value}")
    facts = {"agreement_": "agreement of the members", "n_iter_": "iterations", "objective_": "objective"}
    for attribute, name in facts.items():
        if hasattr(clusterer, attribute):
            run.voice.tell(f"{name}: {shown(getattr(clusterer, attribute))}")


def _say(run: Outcome, result: dict[str, Any], stability: Float | None, files: list[str]) -> None:
    run.voice.warn(text for text in run.others if not isinstance(text, NoticeText))
    held = [str(size) for size in result["sizes"] if size]  # a number may be free since a cluster is gone
    sizes = held[:_SIZES] + ["..."] * (len(held) > _SIZES)
    lines = [f"{result['rows']} rows in {counted(result['clusters'], 'cluster')} of {', '.join(sizes)}"]
    if result["clusters"] > 1:
        called = zip(run.fitted.cluster_names[:_NAMED], result["sizes"], strict=False)
        n_more = result["clusters"] - _NAMED
        more = f"; {n_more} more {'is' if n_more == 1 else 'are'} in clusters.csv" if n_more > 0 else ""
        lines.append(f"They are: {'; '.join(f'{name} ({size})' for name, size in called)}{more}")
    how_sure = run.fitted.verdict(stability)
    lines.append(str(how_sure))
    lines += in_doubt(run, how_sure.level)
    lines += [f"Since {run.given['like']}: {change}" for change in run.changes]
    if "rejected" in result:
        lines.append(f"{result['rejected']} of them are not sure enough: their label is -1 (reject_below)")
    if "accuracy" in result:
        left_out = {"rows_without_class": "without a class", "rows_fitted_with_class": "whose class the fit used"}
        parts = [f"{counted(result[key], 'row')} {which}" for key, which in left_out.items() if key in result]
        note = f" (left out: {', '.join(parts)})" if parts else ""
        lines.append(f"Against the known classes{note}: accuracy {result['accuracy']:.3f}, NMI {result['nmi']:.3f}")
    drawn = [] if run.given["plot"] is None else [run.given["plot"]]
    lines.append(f"Wrote {', '.join([*files, *drawn])}")
    lines.append(f"Open {(run.folder / 'report.html').resolve()}")
    facts = {"out": str(run.folder.resolve()), "files": files, "warnings": run.warnings}
    run.voice.result("\n".join(lines), result | facts)


def in_doubt(run: Outcome, level: str) -> list[str]:
    """The best other numbers, where it is not sure that these clusters are there, and how to get them."""
    others = alternatives(run.fitted.clusterer, level)
    folder = shlex.quote(str(run.folder))
    data = " --data FILE" if run.source.path == "-" else ""
    lines = [f"  {one.number}: {'; '.join(one.parts)}: {one.command(folder)}{data}" for one in others]
    return ["Other numbers to look at, the best first:", *lines] if lines else []


# -- the tables ---------------------------------------------------------------------------------------------------


def clusters_of(fitted: Fitted, table: Table, stability: Float | None) -> list[dict[str, Any]]:
    """Facts of each cluster by name, those that explain it among them; what is not known is not there."""
    classes, ids, confidence = class_names(fitted.clusterer), identities(table), confidence_of(fitted, table)
    clusters = []
    explained: Any = fitted.explanation.to_dict()["clusters"]
    for one in explained:
        number, own = one["cluster"], fitted.labels == one["cluster"]
        facts: dict[str, Any] = {"cluster": number, "name": one["name"]}
        if classes:
            facts["class"] = classes[number] if number < len(classes) else ""
        facts |= {"size": one["size"], "share": round(one["share"], 6)}
        if stability is not None:
            facts["stability"] = None if np.isnan(stability[number]) else round(float(stability[number]), 3)
            facts["found"] = steady_word(stability[number], fitted.doubtful)
        if confidence is not None:
            facts["confidence"] = round(float(np.mean(confidence[own])), 3)
        facts |= _main_class(table.classes, own)
        facts |= {"rules": one["rules"], "features": one["features"]}
        facts["typical"] = [str(ids[row]) for row in one["typical"]]
        facts["least_typical"] = [str(ids[row]) for row in fitted.profile.farthest[number]]
        clusters.append(facts)
    return clusters


def confidence_of(fitted: Fitted, table: Table) -> NDArray | None:
    """The confidence of each row, where the method has one; a consensus knows which rows had no value."""
    if fitted.confidence is None or isinstance(fitted.clusterer, jc.JointConsensus):
        return fitted.confidence
    return preparing.with_guesses(fitted.confidence, preparing.without_value(table.data), len(fitted.cluster_names))


def label_columns(fitted: Fitted, table: Table) -> dict[str, Any]:
    """What goes into labels.csv."""
    labels = np.asarray(fitted.clusterer.labels_)
    names = np.array([*fitted.cluster_names, ""], dtype=object)[labels]  # the last is for rejected rows
    columns = {"id": identities(table), "label": labels, "name": names, **class_column(fitted.clusterer, labels)}
    confidence = confidence_of(fitted, table)
    if confidence is not None:
        columns["confidence"] = np.round(confidence, 6)
    if hasattr(fitted.clusterer, "sample_weights_"):
        columns["weight"] = fitted.clusterer.sample_weights_
    return columns


def shown_columns(run: Outcome) -> dict[str, Any]:
    """Columns that a user wants to see beside the labels, which have names of their own."""
    wanted = names_of(run.given.get("show", ())) or []
    own = {"id", "label", "name", "class", "confidence", "weight"}
    return {f"data_{name}" if name in own else name: _as_text(run.source.table.beside[name]) for name in wanted}


def _as_text(column: NDArray[Any]) -> list[Any]:
    """Cells as they go into a file: numbers and text, nothing where they are empty."""
    cells = column.astype(str) if column.dtype.kind == "M" else column
    return ["" if cell is None or cell == "NaT" or cell != cell else cell for cell in cells.tolist()]


def _main_class(classes: NDArray[Any] | None, own: NDArray[np.bool_]) -> dict[str, Any]:
    """The most frequent of the classes that are only for judging, and its share of the rows that have one."""
    if classes is None:
        return {}
    known = classes[own][_is_known(classes[own])].astype(str)
    if known.size == 0:
        return {"main_class": "", "main_class_share": None}
    values, sizes = np.unique(known, return_counts=True)
    return {"main_class": str(values[sizes.argmax()]), "main_class_share": round(sizes.max() / known.size, 3)}


def _cell(name: str, value: Any) -> object:
    if name == "rules":
        rules = [f"{one['text']} (precision {one['precision']:.0%}, coverage {one['coverage']:.0%})" for one in value]
        return "; or ".join(rules[:_RULES])
    if name == "features":
        return "; ".join(f"{one['name']} ({one['effect']:+.2g})" for one in value[:_FEATURES])
    return "; ".join(value) if name in ("typical", "least_typical") else "" if value is None else value


def _said(rules: list[dict[str, Any]], language: str, word: str) -> str:
    """The rules of a cluster that its cell has, in another language; empty where that cannot say them."""
    return any_of([one[language] for one in rules[:_RULES]], word)


def evaluation(table: Table, labels: Labels) -> dict[str, float]:
    """Agreement with known classes, where there are some, on the rows whose class the fit has not seen."""
    if table.classes is None:
        return {}
    known, given = _is_known(table.classes), known_labels(table)
    seen = np.zeros_like(known) if given is None else np.array([label is not None for label in given])
    judged = known & ~seen
    if not judged.any():
        return {}
    classes, labels = np.asarray(table.classes)[judged], np.asarray(labels)[judged]
    left_out = {"rows_without_class": int((~known).sum()), "rows_fitted_with_class": int(seen.sum())}
    return {
        "accuracy": float(jc.metrics.clustering_accuracy(classes, labels)),
        "nmi": float(jc.metrics.normalized_mutual_info(classes, labels)),
        **{name: number for name, number in left_out.items() if number},
    }


def _is_known(classes: NDArray) -> NDArray[np.bool_]:
    return np.array([not is_gap(str(value)) for value in classes], dtype=bool)
