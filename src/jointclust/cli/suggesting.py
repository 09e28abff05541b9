"""Which rows to ask about: those whose class would tell most."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from jointclust.cli import options
from jointclust.cli.console import Voice, counted
from jointclust.cli.runs import saved_labels, saved_run
from jointclust.cli.tables import STDOUT, claim_table, write_table
from jointclust.showing import fitted


@click.command()
@click.argument("run", metavar="RUN", type=options.FILE)
@click.option("-n", "n_rows", type=click.IntRange(1), default=20, show_default=True, metavar="N", help="How many rows.")
@click.option(
    "-o",
    "--out",
    default="to_label.csv",
    show_default=True,
    type=options.FILE,
    metavar="FILE",
    help="Where they go: .csv, .parquet, or - for standard output.",
)
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
    model = fitted.last_step(saved.model)
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
