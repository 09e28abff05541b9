import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jointclust as jc

mpl = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model(iris):
    return jc.DiscriminativeEmbeddedClustering(3, trade_off=2, random_state=0).fit(iris.data)


def drawn(display):
    """The display has what scikit-learn's have, and its figure can be rendered."""
    display.figure_.canvas.draw()
    return display


def test_embedding_shows_every_row(model, iris):
    display = drawn(jc.plots.EmbeddingDisplay.from_estimator(model, iris.data))
    shown = np.concatenate([points.get_offsets() for points in display.ax_.collections])
    np.testing.assert_allclose(np.sort(shown, axis=0), np.sort(model.transform(iris.data), axis=0))
    assert len(display.ax_.collections) == 3


def test_embedding_of_one_dimension_and_on_given_axes(model, iris):
    one = jc.DiscriminativeEmbeddedClustering(2, n_components=1, random_state=0).fit(iris.data)
    _, ax = plt.subplots()
    display = jc.plots.EmbeddingDisplay.from_estimator(one, iris.data, labels=iris.target, ax=ax)
    assert display.ax_ is ax
    assert len(ax.collections) == 3
    with pytest.raises(ValueError, match="the embedding has 2"):
        jc.plots.EmbeddingDisplay.from_estimator(model, iris.data, components=(0, 2))


def test_a_plane_shows_clusters_and_confidence(rng):
    """Each place has the cluster and the confidence that the model gives it, in the units of the columns."""
    X = np.vstack([rng.standard_normal((60, 2)), rng.standard_normal((60, 2)) + np.array([6, 0])])
    frame = pd.DataFrame(X, columns=["width", "height"])
    consensus = jc.JointConsensus(2, random_state=0).fit(frame)
    display = drawn(jc.plots.PlaneDisplay.from_estimator(consensus, frame, resolution=20))
    left, right, bottom, top = display.extent
    x, y = left + (right - left) * 3 / 19, bottom + (top - bottom) * 11 / 19
    place = pd.DataFrame({"width": [x], "height": [y]})
    assert display.regions[11, 3] == consensus.predict(place)[0]
    assert display.confidence[11, 3] == pytest.approx(consensus.confidence(place)[0])
    image = display.ax_.images[0].get_array()
    assert np.ptp(image[..., 3]) > 0, "what is less sure is paler"
    assert display.ax_.get_xlabel() == "width"
    np.testing.assert_allclose(display.ax_.collections[0].get_offsets(), X)
    soft = make_pipeline(StandardScaler(), jc.FuzzyKMeans(2, random_state=0)).fit(X)
    shown = jc.plots.PlaneDisplay.from_estimator(soft, X, resolution=5).confidence
    assert 0.5 <= shown.min() < shown.max() <= 1
    with pytest.raises(ValueError, match=r"shape \(120, 3\): a plane has two columns"):
        jc.plots.PlaneDisplay.from_estimator(consensus, np.column_stack([X, X[:, 0]]))
    with pytest.raises(ValueError, match="no numbers"):
        jc.plots.PlaneDisplay.from_estimator(consensus, frame.astype(str) + "m")


def test_objective(model):
    display = drawn(jc.plots.ObjectiveDisplay.from_estimator(model))
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), model.objective_history_)


def test_soft_labels(iris):
    soft = jc.FuzzyKMeans(3, random_state=0).fit(iris.data)
    display = drawn(jc.plots.SoftLabelsDisplay.from_estimator(soft))
    shown = display.ax_.images[0].get_array()
    assert shown.shape == (150, 3)
    assert (np.diff(np.argmax(shown, axis=1)) >= 0).all(), "sorted by cluster"


def test_stability(blobs):
    X, _ = blobs
    fitted = jc.LDAKMeans(4, random_state=0).fit(X)
    display = drawn(jc.plots.StabilityDisplay.from_estimator(fitted, X, n_resamples=3, random_state=0))
    assert [bar.get_height() for bar in display.ax_.patches] == display.stability.tolist()
    consensus = jc.JointConsensus(4, random_state=0).fit(X)
    assert jc.plots.StabilityDisplay.from_estimator(consensus, X).stability.shape == (4,)


def test_path(iris):
    path = jc.trade_off_path(iris.data, 3, trade_offs=[0, 1.5, 3], random_state=0)
    display = drawn(jc.plots.TradeOffPathDisplay.from_path(path))
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), path.table["variance_share"])


def test_biplot_shows_the_longest_loadings(iris):
    frame = pd.DataFrame(iris.data, columns=iris.feature_names)
    pipeline = make_pipeline(StandardScaler(), jc.DiscriminativeEmbeddedClustering(3, random_state=0)).fit(frame)
    display = drawn(jc.plots.BiplotDisplay.from_estimator(pipeline, frame, n_features=2))
    lengths = np.linalg.norm(pipeline[-1].components_[:2], axis=0)
    assert display.feature_names == [iris.feature_names[index] for index in np.argsort(-lengths)[:2]]


def test_prototypes(digits):
    model = jc.LDAKMeans(10, random_state=0).fit(digits.data)
    display = drawn(jc.plots.PrototypesDisplay.from_estimator(model, digits.data, image_shape=(8, 8), n_prototypes=2))
    Y = model.transform(digits.data)
    own = np.flatnonzero(model.labels_ == 3)
    nearest = own[np.linalg.norm(Y[own] - Y[own].mean(axis=0), axis=1).argmin()]
    np.testing.assert_array_equal(display.images[3, 0].ravel(), digits.data[nearest])
    assert display.axes_.shape == (10, 2)


def test_what_an_estimator_lacks_is_said(model, iris):
    with pytest.raises(TypeError, match="has no soft_labels_"):
        jc.plots.SoftLabelsDisplay.from_estimator(model)
    consensus = jc.JointConsensus(3, random_state=0).fit(iris.data)
    with pytest.raises(TypeError, match="has no objective_history_"):
        jc.plots.ObjectiveDisplay.from_estimator(consensus)
    with pytest.raises(TypeError, match="has no components_"):
        jc.plots.BiplotDisplay.from_estimator(consensus, iris.data)


def test_dendrogram(iris):
    model = jc.JointConsensus(3, random_state=0).fit(iris.data)
    display = drawn(jc.plots.DendrogramDisplay.from_estimator(model, n_clusters=4))
    assert sorted(text.get_text() for text in display.ax_.get_xticklabels()) == list("0123")
    np.testing.assert_array_equal(display.linkage, model.linkage(4))
    # only the leaves of the cluster that was split have a branch of their cluster's colour
    apart = np.array([np.unique(model.labels_[model.cut(4) == leaf]).item() for leaf in range(4)])
    np.testing.assert_array_equal(display.clusters, apart)
    colours = {tuple(path.get_color()[0]) for path in display.ax_.collections}
    assert len(colours) == 2
    assert jc.plots.DendrogramDisplay.from_estimator(model, n_clusters=2).clusters is None
    with pytest.raises(ValueError, match="only one cluster"):
        jc.plots.DendrogramDisplay.from_estimator(model, n_clusters=1)
    with pytest.raises(TypeError, match="KMeans has no layers"):
        jc.plots.DendrogramDisplay.from_estimator(jc.RobustKMeans(3, random_state=0).fit(iris.data))


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.RandomState(0)
    kind = np.repeat([0, 1, 2], 40)
    frame = pd.DataFrame(
        {
            "price": np.choose(kind, [1e5, 5e5, 2e6]) * rng.uniform(0.9, 1.1, 120),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(300 * kind + rng.randint(99, size=120), unit="D"),
            "town": np.choose(kind, ["old", "new", "new"]),
            "noise": rng.standard_normal(120),
        }
    )
    frame.loc[::9, "price"] = np.nan
    return jc.JointConsensus(3, effort="quick", columns="all", random_state=0).fit(frame), frame


def test_a_profile_is_what_explain_says(mixed):
    model, frame = mixed
    display = drawn(jc.plots.ProfileDisplay.from_estimator(model, frame, n_features=3))
    explanation = jc.explain(model, frame)
    table = explanation.to_frame().pivot(index="feature", columns="cluster", values=["effect", "here"])
    shown = [feature.name for feature in display.features]
    assert shown == [group[0] for group in explanation.groups[:3]]
    np.testing.assert_array_equal(display.effects, table["effect"].loc[shown])
    np.testing.assert_array_equal(display.means, table["here"].loc[shown])
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == shown
    assert len(display.ax_.texts) == 9
    single = jc.LDAKMeans(1, random_state=0).fit(frame[["noise"]].to_numpy())
    with pytest.raises(ValueError, match="nothing to draw"):
        jc.plots.ProfileDisplay.from_estimator(single, frame[["noise"]].to_numpy())
    with pytest.raises(ValueError, match="n_features=0"):
        jc.plots.BoxesDisplay.from_estimator(model, frame, n_features=0)


def test_boxes_are_those_of_the_rows(mixed):
    model, frame = mixed
    display = drawn(jc.plots.BoxesDisplay.from_estimator(model, frame, n_features=3))
    by_name = dict(zip([feature.column for feature in display.features], display.axes_, strict=True))
    assert set(by_name) == {"price", "since", "town"}
    lines = [line.get_ydata() for line in by_name["price"].lines if line.get_color() == "black"]
    level_lines = {round(line[0]) for line in lines if len(line) == 2 and line[0] == line[1]}
    assert {round(value) for value in frame["price"].groupby(model.labels_).median()} <= level_lines
    bars = [bar.get_height() for bar in by_name["town"].patches]
    level = next(feature.level for feature in display.features if feature.column == "town")
    np.testing.assert_allclose(bars, (frame["town"] == level).groupby(model.labels_).mean())


def test_all_displays_of_the_default_by_one_call(mixed):
    model, frame = mixed
    overview = drawn(jc.plots.OverviewDisplay.from_estimator(model, frame))
    assert set(overview.displays_) == {"map", "profile", "boxes", "layers", "soft labels"}
    assert all(display.ax_.get_figure(root=True) is overview.figure_ for display in overview.displays_.values())
    plain = frame[["noise"]].assign(x=model.labels_)
    other = jc.plots.OverviewDisplay.from_estimator(jc.LDAKMeans(3, random_state=0).fit(plain), plain)
    assert set(drawn(other).displays_) == {"map", "profile", "boxes"}
    # Each by itself is called alike.
    for name in ("Embedding", "Profile", "Boxes", "Dendrogram", "SoftLabels", "Overview"):
        drawn(getattr(jc.plots, f"{name}Display").from_estimator(model, frame))


def test_categories_and_clusters_on_one_plane():
    table = pd.DataFrame({"drink": ["tea", "milk", "coffee"] * 6, "time": ["late", "noon", "early"] * 6})
    model = jc.CorrespondenceClustering(3, random_state=0).fit(table)
    display = drawn(jc.plots.CategoriesDisplay.from_estimator(model, table))
    texts = [text.get_text() for text in display.ax_.texts]
    assert set(texts) >= {"drink = tea", "time = noon", "0", "1", "2"}
    np.testing.assert_allclose(display.Y, model.transform(table))
    few = drawn(jc.plots.CategoriesDisplay.from_estimator(model, table, n_levels=2))
    assert len(few.points) == 2
    two = jc.CorrespondenceClustering(2, random_state=0).fit(table)
    assert not drawn(jc.plots.CategoriesDisplay.from_estimator(two, table)).points[:, 1].any()
    with pytest.raises(ValueError, match="counted from 0"):
        jc.plots.CategoriesDisplay.from_estimator(model, table, components=(0, 7))
    with pytest.raises(TypeError, match="KMeans has no category_points_"):
        jc.plots.CategoriesDisplay.from_estimator(jc.RobustKMeans(3).fit(np.eye(6)), np.eye(6))


def test_scores_as_a_heat_map(iris):
    grid = {"n_clusters": [2, 3], "n_components": [1, 2], "variance": [None, 0.9]}
    dec = jc.DiscriminativeEmbeddedClustering(random_state=0)
    search = jc.LabelFreeSearch(dec, grid, criterion="calinski_harabasz", random_state=0).fit(iris.data)
    table = search.pivot("n_clusters", "n_components")
    assert table.index.tolist() == [2, 3]
    assert table.columns.tolist() == [1, 2]
    for row in (2, 3):
        for column in (1, 2):
            pairs = zip(search.results_["params"], search.results_["score"], strict=True)
            of = [score for one, score in pairs if (one["n_clusters"], one["n_components"]) == (row, column)]
            assert table.loc[row, column] == max(of)
    assert table.to_numpy().max() == search.best_score_
    display = drawn(jc.plots.ScoresDisplay.from_search(search, "n_clusters", "n_components"))
    bold = [text.get_text() for text in display.ax_.texts if text.get_weight() == "bold"]
    assert set(bold) == {f"{search.best_score_:.3g}"}
    with pytest.raises(ValueError, match="'ridge' is no parameter of the grid; these are: n_clusters"):
        search.pivot("ridge", "n_components")
    with pytest.raises(ValueError, match="give two parameters"):
        search.pivot("n_clusters", "n_clusters")
