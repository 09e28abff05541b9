"""The default in one line."""

import numpy as np
import pandas as pd
import pytest

import jointclust as jc
from jointclust.consensus import views
from jointclust.estimators import base
from jointclust.metrics import clustering_accuracy
from jointclust.subspace import decomposition
from jointclust.subspace.decomposition import coordinates_of


def test_the_number_is_chosen():
    X, y = jc.datasets.mixture(200, 60, 4, n_nuisance=6, random_state=0)
    model = jc.cluster(X, random_state=0)
    assert model.n_clusters == 4
    assert clustering_accuracy(y, model.labels_) == 1
    with pytest.raises(ValueError, match="'n_clusters' parameter .* Got True"):
        jc.cluster(X, True)
    given = jc.cluster(X, 3, random_state=0)
    np.testing.assert_array_equal(given.labels_, jc.JointConsensus(3, random_state=0).fit(X).labels_)


def test_no_structure(rng):
    X = rng.standard_normal((200, 10))
    with pytest.warns(jc.CollapseWarning, match="No cluster structure found.*give n_clusters") as caught:
        model = jc.cluster(X, random_state=0)
    assert caught[0].filename == __file__  # it points at the user's line
    np.testing.assert_array_equal(model.labels_, np.zeros(200))
    np.testing.assert_array_equal(model.predict(X[:7]), np.zeros(7))
    with pytest.raises(ValueError, match="20 rows are too few.*Give n_clusters"):
        jc.cluster(X[:20])


def test_one_decomposition(monkeypatch):
    """Finds the number and is fitted, on each view; the same as one for each."""
    X, _ = jc.datasets.mixture(200, 60, 4, n_nuisance=6, random_state=0)
    frame = pd.DataFrame(X, columns=[f"feature {index}" for index in range(60)])
    expected = jc.JointConsensus(jc.number_of_clusters(X).n_clusters, random_state=0).fit(X)
    decomposed = []

    def counting(rows, *arguments, **options):
        decomposed.append(rows.X.shape)
        return coordinates_of(rows, *arguments, **options)

    for module in (base, views, decomposition):
        monkeypatch.setattr(module, "coordinates_of", counting)
    model = jc.cluster(frame, random_state=0)
    assert decomposed.count(X.shape) == len(model.views_)  # once for each view
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.number_.n_clusters == model.n_clusters


def test_a_range(tmp_path):
    X, _ = jc.datasets.mixture(120, 10, 4, n_nuisance=0, separation=20, random_state=0)
    model = jc.cluster(X, (3, 5), random_state=0)
    assert model.n_clusters == 4
    pytest.importorskip("skops")
    jc.save(model, tmp_path / "model.skops")
    assert jc.load(tmp_path / "model.skops").number_.verdict == model.number_.verdict
    assert model.number_.scores.keys() == {3, 4, 5}
    assert model.fit(X[:60]).number_.scores.keys() > {3, 4, 5}, "of these rows, whatever was allowed of others"


@pytest.mark.parametrize("levels", [False, True])
def test_columns_may_be_numbered(levels, rng):
    """As in a data frame made of an array, of which scikit-learn keeps no names; one column is not used."""
    kind = rng.randint(3, size=120)
    frame = pd.DataFrame(rng.standard_normal((120, 6)) + 4 * rng.standard_normal((3, 6))[kind])
    frame[1] = rng.choice(["north", "south"], 120) if levels else rng.standard_normal(120)
    model = jc.cluster(frame, 3, random_state=0)
    named = jc.cluster(frame.rename(columns="column {}".format), 3, random_state=0)
    assert not model.columns_[1]["used"]
    np.testing.assert_array_equal(model.labels_, named.labels_)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
