"""A refit that fails, is refused or is interrupted leaves the model as it was."""

import numpy as np
import pytest

import jointclust as jc
from jointclust.consensus import fitting, members
from jointclust.consensus.embedding import DiscriminantMap

N_CLUSTERS = 3


@pytest.fixture
def data(rng):
    centers = 8 * rng.standard_normal((N_CLUSTERS, 6))
    return centers[np.arange(90) % N_CLUSTERS] + rng.standard_normal((90, 6))


@pytest.fixture
def model(data):
    known = np.where(np.arange(90) < 12, np.array(["a", "b", "c"])[np.arange(90) % 3], None)
    return jc.JointConsensus(N_CLUSTERS, random_state=0).fit(data, known_labels=known)


def state_of(model, X):
    """All that a user can see of a fitted model."""
    seen = {name: np.array(getattr(model, name)) for name in ("labels_", "soft_labels_", "confidence_", "classes_")}
    answers = {"predict": model.predict(X), "transform": model.transform(X), "cut": model.cut(2)}
    return seen | answers | {"attributes": np.array(sorted(vars(model)))}


def assert_unchanged(before, after):
    assert before.keys() == after.keys()
    for name, value in before.items():
        np.testing.assert_array_equal(value, after[name], err_msg=name)


# Early, in the middle and at the end of a fit.
MOMENTS = [(fitting, "members_on"), (members, "alternate"), (DiscriminantMap, "fit"), (fitting, "FittedConsensus")]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize(("module", "function"), MOMENTS, ids=lambda value: getattr(value, "__name__", value))
def test_interrupted(model, data, monkeypatch, module, function, error):
    before = state_of(model, data)

    def interrupt(*_, **__):
        raise error

    monkeypatch.setattr(module, function, interrupt)
    with pytest.raises(error):
        model.fit(data[:, :4] + 100.0)
    with pytest.raises(error):
        model.fit_predict(data[:, :4] + 100.0)
    with pytest.raises(error):
        model.fit_transform(data[:, :4] + 100.0)
    monkeypatch.undo()
    assert_unchanged(before, state_of(model, data))


@pytest.mark.parametrize(
    "arguments",
    [
        {"known_labels": ["a", "b"]},  # too few
        {"known_labels": list("abcde") * 18},  # more classes than clusters
        {"sample_weight": -np.ones(90)},
        {"groups": np.zeros(5)},
    ],
    ids=lambda arguments: next(iter(arguments)),
)
def test_refused(model, data, arguments):
    before = state_of(model, data)
    with pytest.raises(ValueError):  # noqa: PT011 - four messages, each of which has a test of its own
        model.fit(data, **arguments)
    assert_unchanged(before, state_of(model, data))


def test_a_wrong_parameter(model, data):
    before = state_of(model, data)
    model.set_params(n_clusters=1000)
    with pytest.raises(ValueError, match="n_clusters"):
        model.fit(data)
    chunked = pytest.importorskip("dask.array").from_array(data, chunks=(45, 6))
    assert model.predict_proba(chunked).shape == (90, N_CLUSTERS)
    model.set_params(n_clusters=N_CLUSTERS)
    assert_unchanged(before, state_of(model, data))


def test_a_refit_forgets_the_known_classes(model, data):
    assert not hasattr(model.fit(data), "classes_")


@pytest.mark.parametrize("cls", [jc.LDAKMeans, jc.OptimalDiscriminantClustering, jc.FuzzyKMeans])
def test_other_estimators(cls, data):
    model = cls(N_CLUSTERS, random_state=0).fit(data)
    before = model.predict(data)
    with pytest.raises(ValueError, match="known_labels"):
        model.fit(data[:, :4], known_labels=["a"])
    np.testing.assert_array_equal(model.predict(data), before)
    assert model.n_features_in_ == 6
