"""How many clusters: the curve as text, as JSON and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from jointclust.choosing import cluster
from jointclust.choosing.number import counted_in
from jointclust.cli import commands, models, options, preparing
from jointclust.cli.console import Voice
from jointclust.cli.errors import OutputError
from jointclust.cli.models import Clusters
from jointclust.cli.runs import claim_file, write_table, written
from jointclust.exceptions import collected


@click.command()
@options.data
@options.clusters
@commands.out_file
@click.option("--plot", metavar="FILE", help="Draw the curve (.svg, .png or .pdf).")
@options.scaling
@options.seed
@options.columns
@options.reading
@options.force
@options.speaking
def number(data: str, clusters: Clusters, out: str | None, plot: str | None, **given: Any) -> None:
    """Say how many clusters DATA have: members of different kinds agree on that number most."""
    voice = Voice(quiet=given["quiet"], as_json=given["as_json"])
    if plot is not None and Path(plot).suffix not in (".svg", ".png", ".pdf"):
        raise OutputError(f"{plot}: the curve goes to a .svg, .png or .pdf file.")
    for path in filter(None, (out, plot)):
        claim_file(Path(path), force=given["force"])
    table = commands.arranged(voice, data, given).table
    X, asked = table.data, [clusters] if isinstance(clusters, int) else clusters
    with voice.step("number", f"Counting clusters in {preparing.size_of(X)}") as progress, collected() as told:
        if given["scale"] == "auto":
            rng = np.random.RandomState(given["seed"])
            found = counted_in(X, models.among(asked), rng, models.numbers_done(progress))
            found.warn()
        else:
            steps = preparing.preparation(given["scale"], given["missing"], X)
            rows = preparing.prepared(steps, X, given["scale"])
            numbers = models.numbers_done(progress)
            found = cluster.counted(rows, models.among(asked), given["seed"], numbers)[1]
    for message in told:
        voice.say(f"Warning: {message}")
    curve = {name: column for name, column in found.table.items() if name != "repeats"}
    if out is not None:
        write_table(Path(out), curve)
    if plot is not None:
        figure = found.plot().figure
        with written(Path(plot)) as temporary:
            figure.savefig(temporary, format=Path(plot).suffix[1:])
    keys = ("n_clusters", "suggestions", "scores", "confidence", "has_structure", "verdict", "table")
    lines = [
        f"{k:4d}  {score:.2f}  {'#' * round(40 * max(score, 0.0))}{'  <' if k == found.n_clusters else ''}"
        for k, score in found.scores.items()
    ]
    lines.append(f"{found.verdict}.{commands.candidates_of(found)}")
    voice.result("\n".join(lines), {key: getattr(found, key) for key in keys})
