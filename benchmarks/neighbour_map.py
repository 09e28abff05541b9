"""What the map of neighbours and the explanation cost beside the fit, as seconds in one run.

    OMP_NUM_THREADS=1 python benchmarks/neighbour_map.py [--map 20000 1000000] [--explain 200000] [--columns 50]

Seconds are of the process, so that other work on the machine does not count. The map of the first number of rows has to
take less than their default fit, that of the second less than a minute.
"""

from __future__ import annotations

import argparse
import functools
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sklearn.manifold import trustworthiness
from threadpoolctl import threadpool_limits

import jointclust as jc
from jointclust.showing import layout

warnings.simplefilter("ignore")
N_CLUSTERS = 10
LIBRARIES = ["openTSNE", "scikit-learn"] if layout._has_opentsne() else ["scikit-learn"]
_T = TypeVar("_T")


class Table:
    """Lines of what was measured, printed as they come."""

    def __init__(self) -> None:
        self.lines = ["what,rows,seconds,of note"]

    def timed(self, what: str, n_rows: int, run: Callable[[], _T], note: Callable[[_T], str] = lambda _: "") -> _T:
        began = time.process_time()
        result = run()
        self.lines.append(f"{what},{n_rows},{time.process_time() - began:.1f},{note(result)}")
        print(self.lines[-1], flush=True)
        return result


def rows_of(n_rows: int, n_columns: int) -> NDArray:
    return jc.datasets.mixture(n_rows, n_columns, N_CLUSTERS, random_state=0)[0]


def kept(Y: NDArray, places: NDArray) -> str:
    """How many neighbours of 3,000 rows are kept, by the map and by the two directions of most variance."""
    chosen = np.random.RandomState(0).choice(len(Y), min(len(Y), 3000), replace=False)
    centred = Y - Y.mean(axis=0)
    plane = centred @ np.linalg.eigh(centred.T @ centred)[1][:, -2:]
    scores = [trustworthiness(Y[chosen], where[chosen]) for where in (places, plane)]
    return "trustworthiness {:.3f}; of two directions {:.3f}".format(*scores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--map", type=int, nargs=2, default=[20_000, 1_000_000], help="rows that are laid out")
    parser.add_argument("--explain", type=int, default=200_000, help="rows that are explained")
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--csv", type=Path, help="a file to write the table to")
    arguments = parser.parse_args()
    table = Table()
    few, many = arguments.map

    X = rows_of(few, arguments.columns)
    model = table.timed("default fit", few, lambda: jc.JointConsensus(N_CLUSTERS, random_state=0).fit(X))
    Y = model.transform(X)
    table.timed("explain", few, lambda: jc.explain(model, X))
    repeated = np.tile(Y, (-(-many // few), 1))[:many]
    repeated += 0.01 * np.random.RandomState(0).standard_normal(repeated.shape)
    for library in LIBRARIES:
        with patch.object(layout, "_has_opentsne", lambda: library == "openTSNE"):  # noqa: B023
            for rows in (Y, repeated):
                map_of = functools.partial(layout.neighbour_map, rows)
                table.timed(f"map by {library}", len(rows), map_of, functools.partial(kept, rows))

    X = rows_of(arguments.explain, arguments.columns)
    quick = table.timed(
        "LDAKMeans", arguments.explain, lambda: jc.LDAKMeans(N_CLUSTERS, n_init=1, random_state=0).fit(X)
    )
    table.timed("explain", arguments.explain, lambda: jc.explain(quick, X))
    if arguments.csv is not None:
        arguments.csv.write_text("\n".join(table.lines) + "\n")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
