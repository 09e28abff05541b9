import numpy as np
import pandas as pd
import pytest

import jointclust as jc
import jointclust.selection.trade_off_path as module
from jointclust.estimators import base


def test_one_row_per_dimension_and_trade_off(digits):
    path = jc.trade_off_path(
        digits.data, 10, trade_offs=["mmc", 0, 1, np.inf], n_components=[3, None], random_state=0, variance=0.9
    )
    table = pd.DataFrame(path.table)
    assert len(path) == len(table) == 8
    assert table.trade_off.tolist() == [0, 1, 2, np.inf] * 2
    assert table.n_components.tolist() == [3] * 4 + [9] * 4
    for model, row in zip(path.estimators, table.itertuples(), strict=True):
        assert model.objective_ == row.objective
        np.testing.assert_array_equal(model.labels_, model.predict(digits.data))
        assert 0 < row.within_share < 1
        assert 0 < row.variance_share < 1
    assert table.variance_share.iloc[0] >= table.variance_share[1:4].max()
    assert any("plain k-means" in message for message in table.warnings[5])  # trade_off 1, nine components


@pytest.mark.filterwarnings("error")
def test_warnings_are_recorded_not_raised(iris):
    path = jc.trade_off_path(iris.data, 3, trade_offs=[1], random_state=0)
    assert "plain k-means" in path.table["warnings"][0][0]


def test_decomposes_once(digits, monkeypatch):
    calls = []
    original = module.decompose
    monkeypatch.setattr(module, "decompose", lambda *a, **k: calls.append(1) or original(*a, **k))
    monkeypatch.setattr(base, "coordinates_of", lambda *a, **k: pytest.fail("decomposed again"))
    jc.trade_off_path(digits.data, 10, trade_offs=[0, 1.5, 3], random_state=0)
    assert len(calls) == 1


def test_warm_starts_are_as_good_as_cold_ones(digits):
    coordinates = jc.decompose(digits.data)

    def mean_objectives(warm):
        paths = [
            jc.trade_off_path(coordinates, 10, trade_offs=[1.5, 2, 3], warm_start=warm, random_state=seed)
            for seed in range(5)
        ]
        return np.mean([path.table["objective"] for path in paths], axis=0)

    warm, cold = mean_objectives(True), mean_objectives(False)
    assert np.all(warm > cold - 0.01 * np.abs(cold))


def test_parameters_of_the_estimators_are_the_users(digits):
    path = jc.trade_off_path(digits.data, 10, trade_offs=[0, 2], n_init=2, random_state=3)
    assert {(m.init, m.n_init, m.random_state) for m in path.estimators} == {("pca", 2, 3)}


def test_runs_beside_the_warm_start():
    X, y = jc.datasets.two_gaussians(1000, random_state=3)  # PCA, and a warm start from it, stick on this draw
    path = jc.trade_off_path(X, 2, n_components=1, trade_offs=[0, 2, 5, 8], n_init=10, random_state=0)
    accuracy = [jc.metrics.clustering_accuracy(y, model.labels_) for model in path.estimators]
    assert min(accuracy[1:]) > 0.99


@pytest.mark.parametrize("trade_offs", [5.0, "mmc"])
def test_one_trade_off(iris, trade_offs):
    assert len(jc.trade_off_path(iris.data, 3, trade_offs=trade_offs, random_state=0)) == 1


def test_bad_input(iris):
    with pytest.raises(ValueError, match="trade_offs holds None"):
        jc.trade_off_path(iris.data, 3, trade_offs=[None])
    with pytest.raises(ValueError, match="trade_offs is empty"):
        jc.trade_off_path(iris.data, 3, trade_offs=[])
    with pytest.raises(ValueError, match="trade_off"):
        jc.trade_off_path(iris.data, 3, trade_offs=[-1])
    with pytest.raises(ValueError, match="trade_offs.*'ldakm'"):
        jc.trade_off_path(iris.data, 3, trade_offs=["ldakm"])
    with pytest.raises(ValueError, match="sample_weight belongs to the coordinates"):
        jc.trade_off_path(jc.decompose(iris.data), 3, sample_weight=np.ones(150))
