"""Clusters of categories."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans

import jointclust as jc
import naive
from jointclust.methods.categories import cut_points

CC = jc.CorrespondenceClustering
METHODS = ("clusca", "mca", "i-fcb", "mixed")
quiet = pytest.mark.filterwarnings(
    "ignore::jointclust.CollapseWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)


def coded(seed, n=60, q=5, n_levels=4, n_classes=3, noise=0.3):
    """Codes of categories with a profile for each class, some of them drawn at random."""
    rng = np.random.RandomState(seed)
    y = np.arange(n) % n_classes
    profile = rng.randint(n_levels, size=(n_classes, q))
    return np.where(rng.uniform(size=(n, q)) < noise, rng.randint(n_levels, size=(n, q)), profile[y]), y


def table(codes):
    return pd.DataFrame({f"v{j}": [f"L{code}" for code in column] for j, column in enumerate(codes.T)})


# -- objectives ---------------------------------------------------------------------------------------------------


def test_clusca_is_the_best_of_many_naive_starts():
    for seed in range(2):
        codes, _ = coded(seed)
        rng = np.random.RandomState(seed)
        starts = (rng.permutation(np.arange(60) % 3) for _ in range(200))
        best = max(naive.cluster_correspondence(codes, start, 3, 2)[1] for start in starts)
        model = CC(3, n_components=2, random_state=0).fit(table(codes))
        assert model.objective_ >= best * (1 - 1e-9)
        labels, criterion = naive.cluster_correspondence(codes, model.labels_, 3, 2)
        np.testing.assert_array_equal(labels, model.labels_)
        assert criterion == pytest.approx(model.objective_, rel=1e-8)


@pytest.mark.parametrize("n_components", [1, 2])
def test_clusca_finds_the_optimum_of_all_partitions(n_components):
    """Of eight rows there are 127 partitions into two clusters."""
    for seed in range(2):
        codes = np.random.RandomState(seed).randint(3, size=(8, 3))
        codes[:3] = np.arange(3)[:, None]  # so that all levels are there
        every = ((np.arange(1, 128)[:, None] >> np.arange(8)) & 1).astype(int)
        values = [naive.cluster_correspondence(codes, labels, 2, n_components, max_iter=1)[1] for labels in every]
        model = CC(2, n_components=n_components, random_state=0).fit(table(codes))
        assert model.objective_ == pytest.approx(max(values), rel=1e-8)


@quiet
@pytest.mark.parametrize("method", METHODS)
def test_objectives_never_fall_and_are_what_they_say(method):
    for seed in range(8):
        codes, _ = coded(seed, n=50, noise=0.7)
        start = np.random.RandomState(seed).permutation(np.arange(50) % 3)
        X = table(codes)
        model = CC(3, n_components=2, method=method, init=start, n_init=1, alpha=0.4).fit(X)
        history, labels = model.objective_history_, model.labels_
        assert np.all(np.diff(history) >= -1e-9 * history[0])
        assert model.objective_ == pytest.approx(_objective(method, codes, model), rel=1e-8)
        assert model.score(X) == pytest.approx(model.objective_, rel=1e-8)
        np.testing.assert_array_equal(model.predict(X), labels)


def _objective(method, codes, model):
    """From the definitions, with the labels and directions that were found."""
    labels = model.labels_
    if method == "mca":
        return naive.mca_objective(codes, labels, 3, 2, 0.4)[0].sum()
    Z = np.hstack(naive.dummies(codes))
    X = (Z - Z.mean(axis=0)) / np.sqrt(Z.mean(axis=0) * (1 if method == "mixed" else codes.shape[1]))
    sums = np.array([X[labels == k].sum(axis=0) for k in range(3)]) @ model.components_.T
    if method == "i-fcb":
        return np.sum(sums**2) / len(X) ** 2
    return np.sum(sums**2 / np.bincount(labels)[:, None])


@quiet
def test_mca_against_the_textbook():
    """Eigenvectors of n x n projectors; rows in the middle of their categories; k-means there; no step down."""
    for seed in range(20):
        codes, _ = coded(seed, n=50)
        labels = np.random.RandomState(seed).permutation(np.arange(50) % 3)
        model = CC(3, n_components=2, method="mca", init=labels, n_init=1, tol=0).fit(table(codes))
        values = []
        while not values or len(values) < model.n_iter_:
            _, F = naive.mca_objective(codes, labels, 3, 2, 0.5)
            places = [Z @ np.linalg.lstsq(Z, F - F.mean(axis=0))[0] for Z in naive.dummies(codes)]
            labels = (
                KMeans(3, init=naive.means(np.mean(places, axis=0), labels, 3), n_init=1, tol=0)
                .fit(np.mean(places, axis=0))
                .labels_
            )
            value = naive.mca_objective(codes, labels, 3, 2, 0.5)[0].sum()
            if values and value < values[-1]:
                value = values[-1]
            values.append(value)
        np.testing.assert_allclose(model.objective_history_, values, rtol=1e-8)


def test_i_fcb_directions_are_those_of_nonsymmetric_correspondence_analysis():
    """Of the table of clusters by levels: ``P / c - r``, weighted by the roots of the shares c."""
    codes, _ = coded(0)
    model = CC(3, n_components=2, method="i-fcb", random_state=0).fit(table(codes))
    Z, F = np.hstack(naive.dummies(codes)), np.eye(3)[model.labels_]
    P = F.T @ Z / (60 * 5)
    c, r = P.sum(axis=0), P.sum(axis=1)
    singular = np.linalg.svd(np.sqrt(5) * (P / c - r[:, None]) * np.sqrt(c), compute_uv=False)
    assert model.objective_ == pytest.approx(np.sum(singular[:2] ** 2) / 5, rel=1e-8)


def test_mixed_of_numbers_is_reduced_kmeans_of_standardised_columns(blobs):
    X, _ = blobs
    model = CC(4, n_components=2, method="mixed", n_init=5, random_state=0).fit(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    other = jc.DiscriminativeEmbeddedClustering(4, n_components=2, trade_off="ocm", n_init=5, random_state=0).fit(Z)
    assert model.objective_ >= other.objective_ * (1 - 1e-9)
    encoded = jc.MixedEncoder(min_share=0).fit_transform(table(coded(0)[0]))
    other = jc.DiscriminativeEmbeddedClustering(3, n_components=1, trade_off="ocm", n_init=60, random_state=0)
    mixed = CC(3, n_components=1, method="mixed", random_state=0).fit(table(coded(0)[0]))
    assert mixed.objective_ >= other.fit(encoded).objective_ * (1 - 1e-9)


# -- points -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["clusca", "mca", "i-fcb"])
def test_a_row_is_in_the_middle_of_its_categories(method):
    codes, _ = coded(1)
    X = table(codes)
    model = CC(3, method=method, random_state=0, n_init=3).fit(X)
    place = dict(zip(model.level_names_, model.category_points_, strict=True))
    middle = [np.mean([place[f"{c} = {row[c]}"] for c in X.columns], axis=0) for _, row in X.iterrows()]
    np.testing.assert_allclose(model.transform(X), middle, atol=1e-9)


# -- weights, known labels ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_weight_is_repetition(method, rng):
    codes, y = coded(3, n=80, noise=0.15)
    X = table(codes).assign(cut=10 * y + rng.randint(7, size=80))
    weights = rng.randint(0, 3, 80)
    index = np.repeat(np.arange(80), weights)
    model = CC(3, method=method, n_init=5, random_state=0).fit(X, sample_weight=weights)
    repeated = CC(3, method=method, n_init=5, random_state=0).fit(X.iloc[index])
    assert model.objective_ == pytest.approx(repeated.objective_, rel=1e-9)
    np.testing.assert_array_equal(model.labels_[index], repeated.labels_)
    np.testing.assert_allclose(np.abs(model.category_points_), np.abs(repeated.category_points_), atol=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_known_labels_and_groups(method):
    codes, y = coded(0, n=90, noise=0.6)
    known = np.where(np.arange(90) % 9 < 3, y, -1)
    model = CC(3, method=method, n_init=3, random_state=0)
    grouped = model.fit(table(codes), groups=np.arange(90) // 2).labels_
    np.testing.assert_array_equal(grouped[::2], grouped[1::2])
    with_known = model.fit(table(codes), known_labels=known)
    np.testing.assert_array_equal(with_known.labels_[known >= 0], known[known >= 0])
    free = CC(3, method=method, n_init=3, random_state=0).fit(table(codes))
    assert jc.metrics.clustering_accuracy(y, with_known.labels_) >= jc.metrics.clustering_accuracy(y, free.labels_)


# -- tables -------------------------------------------------------------------------------------------------------


def test_tables_of_all_libraries(tmp_path):
    pl, pa = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    X = table(coded(0)[0]).assign(age=np.random.RandomState(0).uniform(20, 60, 60), member=np.arange(60) % 2 == 0)
    model = CC(3, random_state=0, n_init=3).fit(X)
    for other in (pl.from_pandas(X), pa.Table.from_pandas(X)):
        again = CC(3, random_state=0, n_init=3).fit(other)
        np.testing.assert_array_equal(again.labels_, model.labels_)
        assert again.level_names_ == model.level_names_
    objects = CC(3, random_state=0, n_init=3).fit(X.to_numpy(dtype=object))
    np.testing.assert_array_equal(objects.labels_, model.labels_)
    jc.save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(jc.load(tmp_path / "model.skops").predict(X), model.labels_)
    cuts = model.cuts_["age"]
    assert f"age = up to {cuts[0]:g}" in model.level_names_
    assert np.bincount(np.searchsorted(cuts, X["age"], side="left")).tolist() == [15, 15, 15, 15]
    kept = CC(3, method="mixed", random_state=0, n_init=3).fit(X)
    assert "age" in kept.level_names_
    assert kept.numbers_["age"] == pytest.approx([X["age"].mean(), X["age"].std(ddof=0)])


def test_cut_points_count_weights(rng):
    values, weights = rng.standard_normal(50), rng.randint(0, 4, 50).astype(float)
    repeated = np.repeat(values, weights.astype(int))
    np.testing.assert_array_equal(cut_points(values, weights, 5), cut_points(repeated, np.ones(repeated.size), 5))
    assert cut_points(np.arange(4.0), np.ones(4), 4) is None
    assert cut_points(np.r_[np.zeros(90), np.arange(1.0, 11)], np.ones(100), 4).tolist() == [0.0]


def test_codes_of_a_category_are_numbers_unless_said():
    codes, _ = coded(0, n_levels=9)
    as_numbers, as_codes = CC(3, n_init=1).fit(codes), CC(3, n_init=1, columns={0: "category"}).fit(codes)
    assert "0" in as_numbers.cuts_
    assert "0" not in as_codes.cuts_
    assert as_codes.levels_["0"] == sorted(set(codes[:, 0].tolist()))


def test_new_levels_are_told():
    X = table(coded(0)[0])
    model = CC(3, n_init=2, random_state=0).fit(X)
    new = X.assign(v0="never seen")
    with pytest.warns(UserWarning, match="column 'v0' has 'never seen'"):
        Y = model.transform(new)
    without = [name for name in model.level_names_ if name.startswith("v0")]
    assert np.isfinite(Y).all()
    assert len(without) == len(model.levels_["v0"])


def test_bad_tables():
    X = table(coded(0)[0])
    for gap in (None, np.nan, ""):
        with pytest.raises(ValueError, match="NaN, or other gaps: column 'v1' has 1"):
            CC(3).fit(X.assign(v1=[gap, *X["v1"][1:]]))
    with pytest.raises(ValueError, match="columns names 'w', which X lacks"):
        CC(3, columns={"w": "category"}).fit(X)
    with pytest.raises(ValueError, match="give one of category, number"):
        CC(3, columns={"v0": "text"}).fit(X)
    with pytest.raises(ValueError, match="'v0' is to hold numbers"):
        CC(3, columns={"v0": "number"}).fit(X)
    with pytest.raises(TypeError, match="codes the table itself"):
        CC(3).fit(jc.decompose(np.random.RandomState(0).standard_normal((20, 3))))
    with pytest.warns(jc.CollapseWarning, match="All rows of X are equal"):
        CC(2).fit(X.iloc[[0] * 5])
