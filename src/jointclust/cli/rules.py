"""The rules of a run, to use elsewhere: in words, after WHERE in SQL, or for DataFrame.query in pandas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from jointclust.cli import options
from jointclust.cli.console import Voice, counted
from jointclust.cli.runs import in_short, read_json
from jointclust.readers import ReadError
from jointclust.showing.queries import any_of

# How a language says "or", and how its comments begin.
_SPEECH = {"text": ("or", "#"), "sql": ("OR", "--"), "query": ("or", "#")}
_TOLD = {"cluster": int, "name": str, "size": int, "rules": list}


@click.command()
@click.argument("run", metavar="RUN", type=options.FILE)
@click.option("--sql", "language", flag_value="sql", help="As conditions to put after WHERE, quoted as standard SQL.")
@click.option("--pandas", "language", flag_value="query", help="As queries for DataFrame.query.")
@options.speaking
def rules(run: str, language: str | None, **given: Any) -> None:
    """Print the rules that tell the clusters of a RUN: in words, as SQL, or for pandas.

    \b
    A row fulfils them in the table of the data where it does here: an empty cell
    fulfils none. Several rules of a cluster are joined by OR. What the columns
    of the table cannot say (words of texts, numbers of several files) is left
    out, and a comment says so.
    """
    voice, spoken = Voice(given), language or "text"
    clusters = _clusters(Path(run), spoken)
    voice.result("\n\n".join(_block(one, spoken) for one in clusters), [_facts(one, spoken) for one in clusters])


def _clusters(run: Path, spoken: str) -> list[dict[str, Any]]:
    """What the run has written of its clusters."""
    path = (run if run.is_dir() else run.parent) / "clusters.json"
    if not path.is_file():
        raise ReadError(f"{path}: there is no such file. Give the folder that a run was written to.")
    clusters = read_json(path)
    if not isinstance(clusters, list) or not all(isinstance(one, dict) for one in clusters):
        raise ReadError(
            f"{path} is damaged: it holds {in_short(clusters)}, and should be a list of clusters. Fit again."
        )
    for one in clusters:
        for key, kind in _TOLD.items():
            if not isinstance(one.get(key), kind):
                raise ReadError(f"{path} is damaged: {key!r} of a cluster is {in_short(one.get(key))}. Fit again.")
        for rule in one["rules"]:
            if not isinstance(rule, dict) or spoken not in rule:
                what = "" if spoken == "text" else f" as {'SQL' if spoken == 'sql' else 'a query'}"
                raise ReadError(f"{path} does not have its rules{what}: an earlier version wrote it. Fit again.")
    return clusters


def _facts(cluster: dict[str, Any], spoken: str) -> dict[str, Any]:
    said = [{key: rule[key] for key in (spoken, "precision", "coverage")} for rule in cluster["rules"]]
    return {"cluster": cluster["cluster"], "name": cluster["name"], "size": cluster["size"], "rules": said}


def _block(cluster: dict[str, Any], spoken: str) -> str:
    """The rules of a cluster, which can be taken as they are: all else is in comments."""
    word, comment = _SPEECH[spoken]
    lines = [f"{comment} {cluster['cluster']}: {_one_line(cluster['name'])}, {counted(cluster['size'], 'row')}"]
    said = [rule for rule in cluster["rules"] if rule[spoken] is not None]
    for rule in cluster["rules"]:
        what = "" if rule[spoken] is not None else f" of what cannot be said here: {_one_line(rule['text'])}"
        lines.append(f"{comment} precision {rule['precision']:.0%}, coverage {rule['coverage']:.0%}{what}")
    lines += [any_of([rule[spoken] for rule in said], word)] if said else []
    return "\n".join([*lines, *([] if cluster["rules"] else [f"{comment} no short rule"])])


def _one_line(text: str) -> str:
    """Text that cannot leave a comment."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
