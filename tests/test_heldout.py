"""Held-out draws of benchmarks/heldout.py: what is planted is what is drawn."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import issparse
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import cross_val_predict

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
import heldout

SCENARIOS = [*(scenario for _, several in heldout.SCENARIOS.values() for scenario in several), heldout.continuum]


@pytest.fixture(scope="module")
def draws():
    """Of the first hundred seeds, those with few enough rows to be quick."""
    return [found for found in map(heldout.draw, range(100)) if len(found.y) <= 1000]


def as_bytes(X):
    if isinstance(X, list):
        return "\n".join(X)
    if isinstance(X, pd.DataFrame):
        return X.to_csv()
    return X.toarray().tobytes() if issparse(X) else X.tobytes()


@pytest.mark.parametrize(
    "scenario", [s for _, several in heldout.SCENARIOS.values() for s in several] + [heldout.continuum]
)
def test_every_scenario_draws_the_rows_of_its_plan_and_the_same_again(scenario):
    def drawn(single):
        rng = np.random.default_rng(3)
        plan = heldout.planned(rng, rows=(60, 150), most=8, single=single)
        return plan, scenario(rng, plan)

    for single in (False, True):
        (plan, X), (_, again) = drawn(single), drawn(single)
        assert (len(X) if isinstance(X, list) else X.shape[0]) == plan.n
        assert as_bytes(X) == as_bytes(again)


def test_same_seed_same_draw_and_other_seeds_other_draws():
    assert as_bytes(heldout.draw(9).X) == as_bytes(heldout.draw(9).X)
    assert as_bytes(heldout.draw(9).X) != as_bytes(heldout.draw(10).X)


def test_all_kinds_appear_and_come_as_people_bring_them(draws):
    assert {found.kind for found in draws} == {*heldout.SCENARIOS, "nothing"}
    bring = {"words": issparse, "texts": lambda X: isinstance(X, list), "mixed": lambda X: isinstance(X, pd.DataFrame)}
    for found in draws:
        assert bring.get(found.kind, lambda X: True)(found.X), found.kind


def test_truth_and_note_belong_together(draws):
    for found in draws:
        labels = np.unique(found.y[found.y >= 0])
        assert len(labels) == found.note["n_clusters"]
        assert (len(labels) == 1) == (found.kind == "nothing")
        if "repeated" not in found.note:
            assert (found.y == -1).sum() == found.note["strays"]


def test_numbers_are_finite_where_they_are_not_missing(draws):
    for found in draws:
        if isinstance(found.X, np.ndarray):
            assert not np.isinf(found.X).any(), found.note
            assert not np.isnan(found.X).all(1).any(), found.note


def test_clear_draws_can_be_learned(draws):
    """A linear rule learned on other rows finds clusters far apart, far better than always the largest."""
    gains = []
    for found in draws:
        if found.kind not in ("nothing", "shapes") and found.note["gap"] > 6:
            belong = found.y >= 0
            y, Z = found.y[belong], heldout.prepared(found.X)[belong]
            most = np.bincount(y).max() / len(y)
            right = np.mean(cross_val_predict(RidgeClassifier(), Z, y, cv=3) == y)
            gains.append((right - most) / (1 - most))
    assert len(gains) >= 10
    assert np.median(gains) > 0.7
