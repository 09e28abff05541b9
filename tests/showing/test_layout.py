import numpy as np
import pytest
from sklearn.manifold import trustworthiness

import jointclust as jc
from jointclust.showing import layout
from jointclust.showing.features import some_of_each
from jointclust.showing.layout import neighbour_map


@pytest.fixture(params=["openTSNE", "scikit-learn"])
def library(request, monkeypatch):
    if request.param == "openTSNE":
        pytest.importorskip("openTSNE")
    else:
        monkeypatch.setattr(layout, "find_spec", lambda name: None)


@pytest.fixture
def few_landmarks(monkeypatch):
    monkeypatch.setattr(layout, "LANDMARKS", 150)
    monkeypatch.setattr(layout, "MANY_LANDMARKS", 150)


@pytest.fixture(scope="module")
def rows():
    return jc.datasets.mixture(n_samples=300, n_features=8, n_clusters=6, n_nuisance=0, random_state=1)[0]


def in_the_plane(rows):
    centred = rows - rows.mean(axis=0)
    return centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T


@pytest.mark.usefixtures("library")
def test_neighbours_are_kept_better_than_by_the_principal_plane(rows):
    assert trustworthiness(rows, neighbour_map(rows)) > trustworthiness(rows, in_the_plane(rows)) + 0.02


@pytest.mark.usefixtures("few_landmarks")
def test_landmarks_keep_neighbours_too(rows):
    result = neighbour_map(rows)
    assert np.unique(result, axis=0).shape == result.shape
    assert trustworthiness(rows, result) > trustworthiness(rows, in_the_plane(rows)) + 0.02


@pytest.mark.usefixtures("library")
def test_a_map_repeats(rows):
    np.testing.assert_array_equal(neighbour_map(rows), neighbour_map(rows))


@pytest.mark.usefixtures("few_landmarks")
def test_a_map_from_landmarks_repeats_for_a_seed(rows):
    np.testing.assert_array_equal(neighbour_map(rows, 3), neighbour_map(rows, np.random.RandomState(3)))
    assert not np.array_equal(neighbour_map(rows, 3), neighbour_map(rows, 4))


@pytest.mark.parametrize("n_copies", [2, 40])
def test_copies_are_at_one_place(rows, n_copies):
    result = neighbour_map(np.repeat(rows[:50], n_copies, axis=0)).reshape(50, n_copies, 2)
    np.testing.assert_array_equal(result, np.repeat(neighbour_map(rows[:50])[:, None], n_copies, axis=1))


@pytest.mark.usefixtures("few_landmarks")
def test_copies_are_at_one_place_among_landmarks(rows):
    result = neighbour_map(np.tile(rows, (2, 1)))
    np.testing.assert_allclose(result[:300], result[300:], atol=1e-8 * np.abs(result).max())


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_few_rows_are_in_their_own_plane(rows, n_rows):
    apart = lambda places: np.linalg.norm(places[:, None] - places, axis=2)  # noqa: E731
    result, expected = apart(neighbour_map(rows[:n_rows])), apart(rows[:n_rows])
    np.testing.assert_allclose(result * (expected.max() or 1.0), expected * (result.max() or 1.0), atol=1e-10)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("scale", [0.0, 1e-160, 1e160])
def test_equal_tiny_and_huge_rows_have_places(rows, scale):
    result = neighbour_map(scale * rows[:60])
    assert np.isfinite(result).all()
    assert (np.ptp(result) > 0) == (scale > 0)


@pytest.mark.usefixtures("library")
def test_a_line_is_unrolled(rows):
    line = np.linspace(0.0, 1.0, 60)[:, None] ** 2
    result = neighbour_map(line)
    assert np.linalg.matrix_rank(result - result.mean(axis=0), tol=1e-3 * np.abs(result).max()) == 2
    assert trustworthiness(line, result) > 0.95


def test_landmarks_stay_and_rows_go_between_them():
    rng = np.random.RandomState(0)
    landmarks, places = rng.standard_normal((40, 3)), rng.standard_normal((40, 2))
    np.testing.assert_allclose(layout._placed(landmarks, landmarks, places), places, atol=1e-9)
    rows = rng.standard_normal((30, 3))
    result = layout._placed(rows, landmarks, places)
    for row, place in zip(rows, result, strict=True):
        squares = ((landmarks - row) ** 2).sum(axis=1)
        order = np.argsort(squares)[: layout._NEAREST + 1]
        weights = squares[order[-1]] / squares[order] - 1
        np.testing.assert_allclose(place, weights @ places[order] / weights.sum(), atol=1e-4)


@pytest.mark.usefixtures("few_landmarks")
def test_a_small_cluster_has_a_place_of_its_own():
    """Of 12 rows in 3,000 a plain sample would hold half a landmark."""
    rng = np.random.RandomState(0)
    labels = np.append(np.zeros(12, dtype=int), 1 + rng.randint(3, size=2988))
    rows = rng.standard_normal((3000, 4)) + 8 * np.eye(4)[labels]
    result = neighbour_map(rows, labels=labels)
    apart = np.linalg.norm(result - result[:12].mean(axis=0), axis=1)
    assert apart[:12].max() < apart[12:].min()


def test_some_of_each_cluster():
    labels = np.repeat([0, 1, 2], [1000, 5, 500])
    chosen = some_of_each(labels, 300, 20, np.random.RandomState(0))
    assert np.bincount(labels[chosen]).tolist() == [1000 * 300 // 1505, 5, 500 * 300 // 1505]
    assert np.all(np.diff(chosen) > 0)
    np.testing.assert_array_equal(some_of_each(labels, 1505, 20, np.random.RandomState(0)), np.arange(1505))


def test_few_different_landmarks_among_many_rows(monkeypatch):
    monkeypatch.setattr(layout, "LANDMARKS", 30)
    monkeypatch.setattr(layout, "MANY_LANDMARKS", 30)
    rows = np.repeat(np.eye(3), 40, axis=0)
    assert np.unique(neighbour_map(rows), axis=0).shape == (3, 2)


def test_no_thread_limit_is_left_behind(rows):
    from threadpoolctl import threadpool_info

    before = [library["num_threads"] for library in threadpool_info()]
    neighbour_map(rows[:20])
    assert [library["num_threads"] for library in threadpool_info()] == before
