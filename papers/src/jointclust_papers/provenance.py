"""The cells behind a page, compressed beside it, with the version, date and machine that they come from."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pandas as pd
import sklearn
from pandas import DataFrame

from jointclust._version import __version__
from jointclust.files import replacing

# Columns of a cell that are shipped; the others follow from these.
_COLUMNS = (
    "dataset",
    "prepared",
    "method",
    "parameters",
    "seed",
    "accuracy",
    "nmi",
    "collapsed",
    "objective",
    "n_iter",
)
_NAME = "provenance.json"


def facts(kind: str) -> dict[str, str]:
    """Where results come from, in words."""
    return {
        "run": kind,
        "version": f"jointclust {__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}",
        "date": datetime.now(UTC).date().isoformat(),
        "cores": str(os.cpu_count()),
    }


def ship(given: Mapping[str, Sequence[DataFrame]], folder: Path, run: Mapping[str, str]) -> None:
    """Write the cells of each paper (``dec-cells.csv.gz``), and where they come from (``provenance.json``).

    Tables have a column "item", the table or figure that asked for them.
    """
    path = folder / _NAME
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for paper, tables in given.items():
        table = pd.concat(tables, ignore_index=True)
        columns = [*_COLUMNS, *(name for name in ("seconds", "weight_ratio_", "scale_") if name in table)]
        # A fit that two items share is one cell; fits that only share a name, such as LDAKM, are two.
        grouped = table.groupby(columns, dropna=False, sort=False)["item"]
        table = grouped.agg(lambda items: "; ".join(dict.fromkeys(items))).reset_index()[["item", *columns]]
        text = table.to_csv(index=False, float_format="%.9g", lineterminator="\n")
        with replacing(folder / f"{paper}-cells.csv.gz") as temporary:
            temporary.write_bytes(_compressed(text))
        known[paper] = dict(run) | {"cells": str(len(table)), "CPU minutes": f"{table['seconds'].sum() / 60:.0f}"}
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def _compressed(text: str) -> bytes:
    """The same bytes for the same text."""
    stream = io.BytesIO()
    with gzip.GzipFile(fileobj=stream, mode="wb", mtime=0) as file:
        file.write(text.encode())
    return stream.getvalue()
