"""Draws with planted clusters: repeatable, of all kinds, and what they say they are."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from jointclust.judge import ingredients, plan, prior

SEEDS = range(700)
BY_KIND = {
    **dict.fromkeys(["shapes", "images", "curves", "wide", "embeddings"], np.ndarray),
    "mixed": pd.DataFrame,
    "texts": list,
    "words": sparse.csr_array,
}


@pytest.fixture(scope="module")
def draws():
    return [prior.draw(seed) for seed in SEEDS]


def as_bytes(X):
    if sparse.issparse(X):
        return b"".join(part.tobytes() for part in (X.data, X.indices, X.indptr))
    return X.to_csv().encode() if isinstance(X, pd.DataFrame) else np.asarray(X).tobytes()


def n_rows(X):
    return len(X) if isinstance(X, list) else X.shape[0]


def test_a_seed_is_one_data_set(draws):
    """Whatever was drawn before it; another seed is another one."""
    some = range(30, 60)
    for seed in some:
        again = prior.draw(seed)
        assert as_bytes(again.X) == as_bytes(draws[seed].X)
        assert (again.y == draws[seed].y).all()
        assert (again.kind, again.note) == (draws[seed].kind, draws[seed].note)
    assert len({as_bytes(draws[seed].X) for seed in some}) == len(some)


def test_all_kinds(draws):
    assert {one.kind for one in draws} == set(prior.KINDS)
    for one in draws:
        assert isinstance(one.X, BY_KIND.get(one.kind, object)), one.kind
        assert n_rows(one.X) == len(one.y)


@pytest.mark.parametrize(
    "table",
    [
        plan.WITHIN,
        ingredients.COLUMNS,
        ingredients.SILENT,
        ingredients.RELATED,
        dict.fromkeys(ingredients.INFORMATIVE),
    ],
)
def test_all_ingredients(draws, table):
    found = {name for one in draws for name in one.note["ingredients"]}
    assert {ingredient.__name__ for ingredient in table} <= found


def test_all_ways_of_no_clusters(draws):
    found = {one.note["of"] for one in draws if one.kind == "nothing"}
    assert {make.__name__ for make in prior.NOTHING} <= found
    assert {"numbers", "mixed"} <= found


def test_nothing_is_one_cluster(draws):
    nothing = [one for one in draws if one.kind == "nothing"]
    assert 0.05 < len(nothing) / len(draws) < 0.11
    for one in nothing:
        assert not one.y.any()
        assert not {rival.__name__ for rival in ingredients.RIVALS} & set(one.note["ingredients"])


def test_answers(draws):
    """Numbered from 0, -1 only for noise; the number in the note is the number in y."""
    for one in draws:
        found = np.unique(one.y[one.y >= 0])
        assert found[0] == 0
        assert len(found) == one.note["clusters"] <= 60
        assert (one.y.min() < 0) <= ("noise_rows" in one.note["ingredients"])


def test_few_clusters_more_often_than_many(draws):
    numbers = np.array([one.note["clusters"] for one in draws])
    assert np.mean((numbers > 1) & (numbers < 6)) > 0.4
    assert 0.02 < np.mean(numbers > 20) < 0.2


def test_rows(draws):
    rows = np.array([one.note["rows"] for one in draws])
    assert rows.min() >= 50
    assert rows.max() <= 5000
    assert np.mean((rows >= 100) & (rows <= 1500)) > 0.8


def test_coarse_classes_are_the_answer_about_half_of_the_time(draws):
    answers = [one.note["answer"] for one in draws]
    assert 0.4 < answers.count("coarse") / (answers.count("coarse") + answers.count("fine")) < 0.6


def test_sizes_and_spreads_differ():
    """From equal to 1:50 and to 1:5."""
    rng = np.random.default_rng(0)
    sizes = np.array([np.ptp(np.log(plan.sizes(rng, 5))) for _ in range(300)])
    spreads = np.array([np.ptp(np.log(plan.spreads(rng, np.full(5, 0.2)))) for _ in range(300)])
    for found, most in ((sizes, 50), (spreads, 5)):
        assert found.min() < 1e-9
        assert np.exp(found.max()) == pytest.approx(most, rel=0.1)


@pytest.mark.parametrize("seed", range(8))
def test_neighbours_are_as_far_apart_as_planned(seed):
    """Parts that are the answer, in the median."""
    rng = np.random.default_rng(seed)
    planned = replace(plan.plan_of_clusters(rng, 400, parts=1), coarse=False)
    rows = plan.centres(rng, planned, 10)
    own = [rows[(planned.part == part) & ~planned.noise][0] for part in range(planned.n_parts)]
    assert np.median(plan.nearest_distances(np.array(own))) == pytest.approx(planned.apart)


def agreement(one):
    """Of k-means on plain rows, with the true number."""
    rows = StandardScaler(with_mean=not sparse.issparse(one.X)).fit_transform(one.X)
    labels = KMeans(one.note["clusters"], n_init=3, random_state=0).fit_predict(rows)
    return adjusted_rand_score(one.y, labels)


def test_clear_draws_can_be_learned(draws):
    """Balls of like size that lie far apart; those that overlap much hardly can."""
    plain = [one for one in draws if one.kind in {"numbers", "curves", "embeddings", "survey"} and len(one.y) < 700]
    plain = [one for one in plain if one.note["answer"] == "plain" and one.note["clusters"] < 12]
    plain = [one for one in plain if isinstance(one.X, np.ndarray) and not np.isnan(one.X).any()]
    alike = [one for one in plain if one.note["sizes"] < 6 and one.note["spreads"] < 2.5]
    clear = [agreement(one) for one in alike if one.note["apart"] > 7]
    overlapping = [agreement(one) for one in plain if one.note["apart"] < 3.5]
    assert min(len(clear), len(overlapping)) >= 8
    assert np.median(clear) > 0.75
    assert np.median(overlapping) < 0.3
