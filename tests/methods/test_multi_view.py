"""Robust k-means of several views."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import jointclust as jc
import naive
from jointclust.methods.multi_view import best_view_weights

MVK = jc.MultiViewKMeans
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def views(rng):
    """Three views of one partition: half a clear one, a weak one in large units, one of noise."""
    X, y = jc.datasets.mixture(200, 12, 4, separation=12, n_nuisance=0, random_state=0)
    weak = 1000 * (np.eye(4)[y] @ rng.standard_normal((4, 6)) + rng.standard_normal((200, 6)))
    return {"clear": X, "weak": weak, "noise": rng.standard_normal((200, 9))}, y


def scaled(views):
    """Centred, with the mean of the total scatters."""
    centred = [X - X.mean(axis=0) for X in views]
    totals = np.array([np.sum(X**2) for X in centred])
    return [X * np.sqrt(totals.mean() / total) for X, total in zip(centred, totals, strict=True)]


@quiet
def test_against_the_textbook():
    for seed in range(20):
        rng = np.random.RandomState(seed)
        X = [rng.standard_normal((40, D)) * rng.uniform(0.1, 10) for D in (3, 5, 8)]
        start, g = rng.permutation(np.arange(40) % 3), rng.choice([1.3, 2.0, 6.0])
        model = MVK(3, exponent=g, init=start, max_iter=7, tol=0).fit(X)
        _, a, history = naive.multi_view(scaled(X), start.copy(), 3, g, model.residual_floor_, 7)
        np.testing.assert_allclose(model.objective_history_[:6], history[:6], rtol=1e-8)
        np.testing.assert_allclose(model.view_weights_, a, rtol=1e-8)
        assert np.all(np.diff(history) <= 1e-9 * history[0])
        assert model.objective_ <= history[-1] * (1 + 1e-9)


def test_a_rest_of_ours_is_one_of_the_papers(views):
    """Whose labels minimise a bound on the loss, made of the weights d: no label, weight or center would move."""
    X = scaled(views[0].values())
    model = MVK(4, tol=0, max_iter=500, random_state=0).fit(views[0])
    a, labels = model.view_weights_, model.labels_
    centers = np.split(model.cluster_centers_, [12, 18], axis=1)
    r = [np.linalg.norm(one - C[labels], axis=1) for one, C in zip(X, centers, strict=True)]
    bound = sum(
        a_v**2 / (2 * r_v[:, None]) * ((one[:, None] - C) ** 2).sum(axis=2)
        for a_v, r_v, one, C in zip(a, r, X, centers, strict=True)
    )
    np.testing.assert_array_equal(bound.argmin(axis=1), labels)
    np.testing.assert_allclose(best_view_weights(np.array([one.sum() for one in r]), 2.0), a, rtol=1e-6)
    for one, r_v, C in zip(X, r, centers, strict=True):
        means = [np.average(one[labels == k], axis=0, weights=1 / r_v[labels == k]) for k in range(4)]
        np.testing.assert_allclose(means, C, atol=1e-4 * np.abs(C).max())
    assert model.objective_ == pytest.approx(a**2 @ [one.sum() for one in r], rel=1e-10)
    assert model.score(views[0]) == pytest.approx(-model.objective_, rel=1e-10)


@pytest.mark.parametrize("given", [lambda X: X, lambda X: [X], lambda X: {"all": X}, pd.DataFrame])
def test_one_view_is_robust_kmeans(given, blobs):
    X, _ = blobs
    plain, model = jc.RobustKMeans(4, random_state=0).fit(X), MVK(4, random_state=0).fit(given(X))
    assert model.objective_ == plain.objective_
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.predict(given(X)), plain.labels_)
    np.testing.assert_array_equal(model.outlier_scores_, plain.outlier_scores_)
    assert model.view_weights_.tolist() == [1.0]


def test_equal_blocks_have_equal_weights(blobs):
    X, _ = blobs
    model, plain = MVK(4, random_state=0).fit([X, 3 * X, X + 7]), jc.RobustKMeans(4, random_state=0).fit(X)
    np.testing.assert_allclose(model.view_weights_, 1 / 3, rtol=1e-9)
    assert jc.metrics.clustering_accuracy(plain.labels_, model.labels_) == 1


def test_weights_tell_the_views_apart(views):
    """The clear view has most weight, the more the nearer the exponent is to 1; alike at a large one."""
    X, y = views
    sharp, usual, flat = (MVK(4, exponent=g, random_state=0).fit(X) for g in (1.05, 2, 100))
    for model in (sharp, usual):
        assert model.view_names_[model.view_weights_.argmax()] == "clear"
        assert jc.metrics.clustering_accuracy(y, model.labels_) > 0.97
    assert sharp.view_weights_[0] > 0.9 > usual.view_weights_[0]
    np.testing.assert_allclose(flat.view_weights_, 1 / 3, atol=1e-2)
    large = MVK(4, scale_views=False, random_state=0).fit(X)
    assert large.view_scales_.tolist() == [1, 1, 1]
    assert large.view_weights_[1] < 0.01  # in large units, it loses most


@quiet
def test_weight_is_repetition(views, rng):
    X, y = views
    weights, start = rng.randint(0, 3, 200), np.where(rng.uniform(size=200) < 0.3, rng.randint(4, size=200), y)
    model = MVK(4, init=start).fit(X, sample_weight=weights)
    twice = {name: np.repeat(block, weights, axis=0) for name, block in X.items()}
    repeated = MVK(4, init=np.repeat(start, weights)).fit(twice)
    assert model.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    np.testing.assert_allclose(model.view_weights_, repeated.view_weights_, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), repeated.predict(X))


def test_known_labels_and_groups(views):
    X, y = views
    known = np.where(np.arange(200) % 10 == 0, y, -1)
    model = MVK(4, random_state=0).fit(X, known_labels=known, groups=np.arange(200) // 2)
    np.testing.assert_array_equal(model.labels_.reshape(-1, 2)[:, 0], model.labels_.reshape(-1, 2)[:, 1])
    known_pairs = known.reshape(-1, 2).max(axis=1)
    np.testing.assert_array_equal(model.labels_[::2][known_pairs >= 0], known_pairs[known_pairs >= 0])


def test_blocks_of_new_rows(views, tmp_path):
    X, _ = views
    model = MVK(4, random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    mixed = {name: X[name] for name in ("noise", "clear", "weak")}
    for other in (mixed, list(X.values()), {name: pd.DataFrame(block) for name, block in X.items()}):
        np.testing.assert_array_equal(model.predict(other), model.labels_)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), np.hstack(list(X.values())), rtol=1e-9)
    jc.save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(jc.load(tmp_path / "model.skops").predict(X), model.labels_)
    np.testing.assert_array_equal(clone(model).fit(X).labels_, model.labels_)


BAD = {
    "no blocks": ({}, ValueError, "without blocks"),
    "rows differ": ({"a": np.ones((5, 2)), "b": np.ones((4, 2))}, ValueError, "'a' 5, 'b' 4"),
    "no columns": ({"a": np.ones((5, 2)), "b": np.ones((5, 0))}, ValueError, "0 feature"),
    "sparse": ({"a": np.ones((5, 2)), "b": sp.csr_array(np.eye(5))}, TypeError, "'b' is sparse"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_blocks(kind):
    X, error, message = BAD[kind]
    with pytest.raises(error, match=message):
        MVK(2).fit(X)


def test_errors_name_the_block_and_the_remedy(views):
    X, _ = views
    with pytest.raises(ValueError, match="Block 'weak': .*NaN"):
        MVK(4).fit(X | {"weak": np.where(X["weak"] > 0, X["weak"], np.nan)})
    with pytest.raises(ValueError, match="n_components=2 is for one view"):
        MVK(4, n_components=2).fit(X)
    model = MVK(4, random_state=0).fit(X)
    with pytest.raises(ValueError, match="The blocks of fit were 'clear', 'weak', 'noise': X lacks 'weak', 'noise'"):
        model.predict({"clear": X["clear"]})
    with pytest.raises(ValueError, match=r"'noise' 9; those of fit had \[12, 6, 9\]"):
        model.predict(X | {"weak": X["weak"][:, :2]})


@pytest.mark.filterwarnings("error::jointclust.CollapseWarning")
def test_a_block_that_does_not_vary_has_no_say(views):
    X, _ = views
    alone = MVK(4, random_state=0).fit(X)
    for constant in (np.full((200, 2), 7.3), np.full((200, 1), 1e-200), X["noise"] * 1e-200):
        with pytest.warns(UserWarning, match="Blocks that do not vary beside the others have no weight: flat"):
            model = MVK(4, random_state=0).fit({**X, "flat": constant})
        np.testing.assert_array_equal(model.labels_, alone.labels_)
        np.testing.assert_allclose(model.view_weights_, [*alone.view_weights_, 0])
        np.testing.assert_array_equal(model.predict({**X, "flat": constant}), model.labels_)


def test_names_of_rows_and_columns_are_compared(views):
    X = {name: pd.DataFrame(block).add_prefix("c") for name, block in views[0].items()}
    model = MVK(4, random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(views[0]), model.labels_)
    with pytest.raises(ValueError, match="Block 'weak': the columns should be those of fit, in that order: 'c0'.*'c5'"):
        model.predict(X | {"weak": X["weak"].iloc[:, ::-1]})
    with pytest.raises(ValueError, match="name their rows differently"):
        MVK(4).fit(X | {"weak": X["weak"].iloc[::-1]})
