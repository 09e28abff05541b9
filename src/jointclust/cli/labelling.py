"""What people say of the clusters of a run: names, clusters that belong together, classes of some rows."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from jointclust.cli import options
from jointclust.cli.console import Voice, counted
from jointclust.cli.runs import saved_labels, saved_run
from jointclust.cli.writing import STDOUT, claim_table, write_table
from jointclust.readers import ReadError
from jointclust.showing.fitted import Fitted, last_step

_EXAMPLE = '{"names": {"0": "setosa"}, "merged": [[1, 4]]}'


@dataclass(frozen=True)
class Names:
    """What a file of names says.

    Attributes
    ----------
    names : dict of int to str
        Names of clusters, by their numbers.
    merged : list of list of int
        Clusters that are one.
    """

    names: dict[int, str]
    merged: list[list[int]]

    def new_number(self, cluster: int) -> int:
        """The smallest number of those that a cluster is one with; its own where it is alone."""
        return next((min(group) for group in self.merged if cluster in group), cluster)

    def name(self, cluster: int) -> str:
        """The name of a cluster or of one that it is one with; empty where none has one."""
        group = next((group for group in self.merged if cluster in group), [cluster])
        return next((self.names[one] for one in group if one in self.names), "")


@click.command(name="apply-names")
@click.argument("run", metavar="RUN", type=options.FILE)
@click.argument("names", metavar="NAMES", type=options.FILE)
@options.out(
    "FILE", "Where the labels go: .csv, .parquet, or - for standard output (default: named_labels.csv in RUN)."
)
@options.writing
@options.speaking
def apply_names(run: str, names: str, out: str | None, **given: Any) -> None:
    """Name and merge the clusters of a RUN as a file of NAMES says, which its report exports.

    \b
    NAMES is JSON: {"names": {"0": "setosa", "2": "virginica"}, "merged": [[1, 4]]}
    The table is labels.csv with a column "name"; merged clusters have the
    smallest of their numbers.
    """
    saved = saved_run(run)
    path = Path(out) if out is not None else saved.folder / "named_labels.csv"
    voice = Voice.of(given, beside_output=path == STDOUT)
    clusterer = last_step(saved.model)
    found = names_of(Path(names), int(Fitted(clusterer, clusterer.labels_).labels.max()) + 1)
    claim_table(path, force=given["force"])
    columns = dict(saved_labels(saved))
    labels = [int(label) for label in columns.pop("label")]
    table = {
        "id": columns.pop("id"),
        "label": [found.new_number(label) for label in labels],
        "name": [found.name(label) for label in labels],
        **columns,
    }
    write_table(path, table, raw=given["raw_cells"])
    sizes = Counter(name or str(label) for label, name in zip(table["label"], table["name"], strict=True))
    told = ", ".join(f"{name if name.isprintable() else repr(name)} ({size})" for name, size in sizes.items())
    text = f"{counted(len(labels), 'row')} in {counted(len(sizes), 'cluster')}: {told}"
    voice.result(f"{text}\nWrote {path}", {"rows": len(labels), "sizes": sizes, "file": str(path)})


def names_of(path: Path, n_clusters: int) -> Names:
    """The names in a file, or an error that says what is wrong with it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "names.json"
    >>> _ = path.write_text('{"names": {"0": "setosa"}, "merged": [[1, 2]]}')
    >>> names_of(path, 3)
    Names(names={0: 'setosa'}, merged=[[1, 2]])
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ReadError(f"{path}: there is no such file.") from None
    except (OSError, ValueError) as error:
        raise ReadError(f"{path} is no JSON: {error}") from error
    if not isinstance(content, dict) or not ("names" in content or "merged" in content):
        raise ReadError(f'{path} needs an object with "names", "merged" or both: {_EXAMPLE}')
    merged = _merged(path, content.get("merged", []), n_clusters)
    return Names(_named(path, content.get("names", {}), merged, n_clusters), merged)


def _merged(path: Path, groups: object, n_clusters: int) -> list[list[int]]:
    if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
        raise ReadError(f'{path}: "merged" has to be a list of lists of clusters, as in {_EXAMPLE}')
    found = [[_cluster(path, number, n_clusters) for number in group] for group in groups]
    seen: set[int] = set()
    for group in found:
        if len(group) < 2:
            raise ReadError(f'{path}: "merged" has {group}: at least two clusters are merged.')
        twice = [number for number in group if number in seen or group.count(number) > 1]
        if twice:
            raise ReadError(f'{path}: "merged" has cluster {twice[0]} twice: put all that belong together in one list.')
        seen |= set(group)
    return [sorted(group) for group in found]


def _named(path: Path, names: object, merged: list[list[int]], n_clusters: int) -> dict[int, str]:
    if not isinstance(names, dict):
        raise ReadError(f'{path}: "names" has to be an object with a name for some clusters, as in {_EXAMPLE}')
    found = {}
    for key, name in names.items():
        cluster = _cluster(path, int(key) if key.isdecimal() else key, n_clusters)
        if not isinstance(name, str):
            raise ReadError(f"{path}: the name of cluster {cluster} is {json.dumps(name)}: text is needed.")
        if name.strip():
            found[cluster] = name.strip()
    for group in merged:
        different = sorted({found[number] for number in group if number in found})
        if len(different) > 1:
            raise ReadError(
                f"{path}: clusters {', '.join(map(str, group))} are merged, and have names of their own "
                f"({', '.join(map(repr, different))}): one name is needed."
            )
    return found


def _cluster(path: Path, number: object, n_clusters: int) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < n_clusters:
        raise ReadError(f"{path}: {json.dumps(number)} is no cluster of the run, which has 0 to {n_clusters - 1}.")
    return number


@click.command()
@click.argument("run", metavar="RUN", type=options.FILE)
@click.option("-n", "n_rows", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="How many rows.")
@options.out("FILE", "Where they go: .csv, .parquet, or - for standard output.", "to_label.csv")
@options.writing
@options.speaking
def suggest(run: str, n_rows: int, out: str, **given: Any) -> None:
    """Choose the rows of a RUN whose class would tell most, for someone to fill in.

    The table has the rows' id, label and confidence, and an empty column "class". With some of it filled in:
    jointclust fit DATA --known-rows to_label.csv
    """
    path = Path(out)
    voice = Voice.of(given, beside_output=path == STDOUT)
    claim_table(path, force=given["force"])
    saved = saved_run(run)
    model = last_step(saved.model)
    if not hasattr(model, "rows_to_label"):
        raise click.UsageError(
            f"{run} was fitted by {type(model).__name__}: rows to ask about are those that the members of a consensus "
            "disagree on. Fit again without --method."
        )
    columns = saved_labels(saved)
    if n_rows > len(columns["id"]):
        raise click.UsageError(f"-n {n_rows} exceeds the number of rows ({len(columns['id'])}).")
    try:
        rows = np.asarray(model.rows_to_label(n_rows)).tolist()
    except AttributeError:
        raise click.UsageError(
            f"{run} has {len(columns['id']):,} rows, too many for a saved model to know what its members say of each: "
            "fit a sample of the rows, and ask about that."
        ) from None
    kept = {name: [values[row] for row in rows] for name, values in columns.items() if name != "class"}
    write_table(path, {**kept, "class": [""] * len(rows)}, raw=given["raw_cells"])
    name = "standard output" if path == STDOUT else str(path)
    text = f"{counted(len(rows), 'row')} to label: {name}"
    voice.result(text, {"rows": rows, "ids": kept["id"], "file": None if path == STDOUT else str(path.resolve())})
