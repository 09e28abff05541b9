"""A run computes each thing once: the calls of what is costly are counted."""

import inspect
import sys
import threading
from collections import Counter

import pytest
from calling import call

from jointclust import JointConsensus, LDAKMeans, LowRankImputer, MixedEncoder
from jointclust.showing import explain
from jointclust.showing.layout import neighbour_map
from jointclust.showing.profile import profile
from jointclust.views.kinds import described
from jointclust.views.preparation import Preparation

# By name, functions of which one call is the work that must not be done twice.
COSTLY = {
    "describe": [described],
    "code": [MixedEncoder.transform],
    "fill": [LowRankImputer.fill],
    "embed": [JointConsensus.transform, LDAKMeans.transform],
    "explain": [explain._groups],
    "profile of the report": [profile],
    "lay out": [neighbour_map],
}
# The explanation and the report have a profile each: of the cells as they are, and as they are coded.
EXPECTED = dict.fromkeys(COSTLY, 1) | {"profile of the report": 2}
# The page also has what makes the clusters at other numbers than the fit's. Layers and the number of clusters are
# judged in the rows that the model keeps, coded and filled once more, for both together: a saved model has no others,
# and says the same as the fit.
LAYERED = EXPECTED | {"profile of the report": 3, "explain": 2, "code": 2, "fill": 2}


@pytest.fixture
def counted():
    """How often each of them is called, under whatever name it was imported."""
    names = {inspect.unwrap(function).__code__: name for name, functions in COSTLY.items() for function in functions}
    calls = Counter()

    def count(frame, event, argument):
        if event == "call" and frame.f_code in names:
            calls[names[frame.f_code]] += 1

    threading.setprofile(count)
    sys.setprofile(count)
    yield calls
    sys.setprofile(None)
    threading.setprofile(None)


@pytest.fixture
def mixed_csv(tmp_path, rng):
    """Numbers with gaps, categories and an id."""
    with (tmp_path / "data.csv").open("w") as stream:
        stream.write("name,size,weight,colour\n")
        for row in range(60):
            group = row % 3
            size = "" if row % 11 == 0 else f"{5 * group + rng.standard_normal():.4f}"
            colour = ("red", "green", "blue")[group if row % 7 else 0]
            stream.write(f"row {row},{size},{rng.standard_normal() - 4 * group:.4f},{colour}\n")
    return tmp_path / "data.csv"


@pytest.mark.parametrize(
    "options",
    [("fit", "-k", 3), ("fit",), ("fit", "-k", 3, "--method", "ldakm"), ("select", "-k", 3, "--method", "ldakm")],
    ids=lambda options: " ".join(map(str, options)),
)
def test_everything_is_computed_once(options, mixed_csv, tmp_path, counted):
    command, *more = options
    assert call(command, mixed_csv, *more, "--resamples", 2, "--out", tmp_path / "run", "--quiet") == 0
    if "--method" not in options:
        counted["embed"] += 1  # the fit of a consensus leaves the embedding
    elif command == "select":
        counted["embed"] = 1  # a search embeds to judge candidates
    assert dict(counted) == (EXPECTED if "--method" in options else LAYERED)


def test_drawing_computes_nothing_again(mixed_csv, tmp_path, counted):
    pytest.importorskip("matplotlib")
    plot = ("--plot", tmp_path / "map.svg", "--out", tmp_path / "run", "--quiet")
    assert call("fit", mixed_csv, "-k", 3, "--method", "ldakm", "--resamples", 0, *plot) == 0
    assert dict(counted) == EXPECTED


def test_preparation_codes_the_rows_of_fit_once(counted, rng):
    rows = rng.standard_normal((20, 3))
    preparation = Preparation("standardised")
    coded, _ = preparation.fit_encode(rows)
    assert (preparation.transform(rows) == preparation.scaler_.transform(coded.rows)).all()
    assert counted["describe"] == 1
