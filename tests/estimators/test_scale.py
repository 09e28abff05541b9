"""One column that drowns the others is told of, by every method and wherever the rows are."""

import warnings

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

import jointclust as jc
from registered import CLUSTERERS


@pytest.fixture
def drowned(rng):
    X = rng.standard_normal((120, 5))
    X[:, 3] *= 50
    return X


def messages_of(model, X):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model.fit(X)
    return [str(one.message) for one in heard if one.category is jc.ScaleWarning]


SCALED = [one for one in CLUSTERERS if not isinstance(one, jc.CorrespondenceClustering)]  # it codes levels


@pytest.mark.parametrize("estimator", SCALED, ids=repr)
def test_every_method_tells(estimator, drowned):
    model = clone(estimator).set_params(random_state=0)
    assert len(messages_of(model, drowned)) == 1
    assert not messages_of(model, StandardScaler().fit_transform(drowned))


def test_the_column_is_named_and_the_remedy(drowned):
    frame = pd.DataFrame(drowned, columns=[*"abc", "proline", "e"])
    (message,) = messages_of(jc.LDAKMeans(3, random_state=0), frame)
    share = np.var(drowned[:, 3]) / np.var(drowned, axis=0).sum()
    assert f"Column 'proline' carries {100 * share:.1f}% of the variance" in message
    assert "StandardScaler" in message
    assert len(messages_of(jc.LDAKMeans(3, random_state=0), da.from_array(drowned, chunks=(50, 5)))) == 1


def test_the_consensus_scales(drowned):
    assert not messages_of(jc.JointConsensus(3, random_state=0), drowned)


def test_no_advice_against_the_remedy(drowned):
    """A subspace that one column fills is no reason to keep more directions."""
    with pytest.warns(jc.PlainKMeansWarning, match="Scale the columns"):
        jc.LDAKMeans(3, random_state=0).fit(drowned)


def test_columns_that_share_a_scale(rng):
    """Pixels, of which one may vary most, are no table."""
    X = rng.standard_normal((300, 150))
    X[:, 0] *= 100
    assert not messages_of(jc.LDAKMeans(3, random_state=0), X)
