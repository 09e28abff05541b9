"""Names that a person gave to clusters, and clusters that belong together, put into a table of labels."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from jointclust.cli import options
from jointclust.cli.console import Voice, counted
from jointclust.cli.runs import saved_labels, saved_run
from jointclust.cli.tables import STDOUT, claim_table, write_table
from jointclust.readers import ReadError
from jointclust.showing import fitted


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
@click.option(
    "-o",
    "--out",
    type=options.FILE,
    metavar="FILE",
    help="Where the labels go: .csv, .parquet, or - for standard output (default: named_labels.csv in RUN).",
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
    found = names_of(Path(names), int(fitted.labels_of(saved.model).max()) + 1)
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
    sizes: dict[str, int] = {}
    for label, name in zip(table["label"], table["name"], strict=True):
        sizes[name or str(label)] = sizes.get(name or str(label), 0) + 1
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


_EXAMPLE = '{"names": {"0": "setosa"}, "merged": [[1, 4]]}'


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
