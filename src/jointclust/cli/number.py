"""How many clusters: the curve as text, as JSON and drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from jointclust import default
from jointclust.cli import commands, models, options, preparing
from jointclust.cli.console import Voice
from jointclust.cli.drawing import claim_plot, save_drawing
from jointclust.cli.models import Clusters
from jointclust.cli.reading import arranged
from jointclust.cli.tables import claim_table, write_result
from jointclust.exceptions import collected
from jointclust.number.estimate import counted_in


@click.command()
@options.data
@options.clusters
@commands.out_file
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
        claim_table(Path(out), force=given["force"], endings=commands.TABLES)
    table = arranged(voice, data, given).table
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
            found = default.counted(rows, models.among(asked), given["seed"], numbers)[1]
    voice.warn(told)
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
    lines.append(f"{found.verdict}.{commands.candidates_of(found)}")
    voice.result("\n".join(lines), facts)
