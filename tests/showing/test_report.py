"""The report's content; what a browser makes of it is tested in browser/."""

import base64
import gzip
import hashlib
import inspect
import json
import re
import warnings
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jointclust as jc
from jointclust.number.estimate import ClusterNumber
from jointclust.showing.fitted import Fitted
from jointclust.showing.layout import directions
from jointclust.showing.profile import profile
from jointclust.showing.report import _sections
from jointclust.showing.report._content import natural_order
from jointclust.showing.report._payload import numbers, picture
from jointclust.showing.style import looks, resource
from registered import CLUSTERERS

pytestmark = pytest.mark.filterwarnings("ignore::jointclust.PlainKMeansWarning", "ignore::jointclust.CollapseWarning")


VOID = {"meta", "link", "img", "br", "hr", "input"}


class Balanced(HTMLParser):
    """Collects tags and text; fails on tags that close what is not open."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.links, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parsed(path):
    parser = Balanced()
    parser.feed(path.read_text())
    parser.close()
    assert parser.open == []
    return parser


def data_of(path):
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(), re.DOTALL)[1])


def unpacked(part):
    """Codes of a column or an axis; of two bytes, all low ones come first."""
    raw = np.frombuffer(gzip.decompress(base64.b64decode(part["data"])), np.uint8)
    return raw if part["bits"] == 8 else raw[: raw.size // 2] + 256 * raw[raw.size // 2 :].astype(int)


def has_cards(path, n_clusters):
    """Whether each cluster of the fit has a card, a line in the summary and one in the overview."""
    nodes, text = data_of(path)["columns"][0]["nodes"], path.read_text()
    parts = ('<details class="card" id="cluster-{0}" data-node="{0}"', '<li data-node="{0}">', '<tr data-node="{0}">')
    return len(nodes) == n_clusters and all(part.format(node) in text for part in parts for node in nodes)


@pytest.mark.parametrize("estimator", [*CLUSTERERS[::3], jc.JointConsensus()], ids=repr)
def test_every_kind_of_model(estimator, iris, tmp_path):
    model = estimator.set_params(n_clusters=3, random_state=0).fit(iris.data)
    jc.write_report(model, iris.data, tmp_path / "r.html", classes=iris.target)
    parsed(tmp_path / "r.html")
    data = data_of(tmp_path / "r.html")
    assert has_cards(tmp_path / "r.html", 3)
    np.testing.assert_array_equal(unpacked(data["columns"][0]), model.labels_)
    assert [column["name"] for column in data["columns"][:2]] == ["cluster", "class"]


def test_the_page_needs_nothing_else(iris, tmp_path):
    model = jc.LDAKMeans(3, random_state=0).fit(iris.data)
    jc.write_report(model, iris.data, tmp_path / "r.html", image_shape=(2, 2))
    page = parsed(tmp_path / "r.html")
    assert all(link.startswith(("data:", "#")) for link in page.links)
    assert not re.search(r"https?://", (tmp_path / "r.html").read_text())


def test_only_our_own_script_may_run(iris, tmp_path):
    model = jc.LDAKMeans(3, random_state=0).fit(iris.data)
    jc.write_report(model, iris.data, tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script[0].encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{digest}'" in text
    assert len(script) == 1


HOSTILE = ["<script>alert(1)</script>", "</script><b>", "\u2028'\"&amp;", "${title}$title"]


@pytest.mark.parametrize("text", HOSTILE)
def test_user_text_is_shown_as_text(text, iris, tmp_path):
    names = [f"{text}{i}" for i in range(4)]
    model = jc.LDAKMeans(3, random_state=0).fit(iris.data)
    plain, hostile = tmp_path / "plain.html", tmp_path / "hostile.html"
    kinds = np.array(["a", "b", "c"], dtype=object)[iris.target]
    jc.write_report(model, iris.data, plain, classes=kinds, title="t", warnings=["w"])
    jc.write_report(
        model,
        iris.data,
        hostile,
        ids=[text] * 150,
        classes=np.array([text, "b", "c"], dtype=object)[iris.target],
        feature_names=names,
        title=text,
        parameters={text: (text, text)},
        candidates={text: [text]},
        warnings=[text],
    )
    before, after = parsed(plain), parsed(hostile)
    shown = "".join(after.text)
    assert all(name in shown for name in names)
    assert before.tags.count("script") == after.tags.count("script") == 2
    assert before.tags.count("b") == after.tags.count("b")
    data = data_of(hostile)
    assert json.loads(gzip.decompress(base64.b64decode(data["ids"]))) == [text] * 150
    assert text in data["columns"][1]["names"]


def test_positions_keep_their_order_and_place(rng, tmp_path):
    X = rng.standard_normal((500, 6))
    model = jc.DiscriminativeEmbeddedClustering(4, n_components=2, random_state=0).fit(X)
    jc.write_report(model, X, tmp_path / "r.html")
    axes = [axis for axis in data_of(tmp_path / "r.html")["axes"] if "layout" not in axis]
    values = [axis["min"] + unpacked(axis) / 65535 * (axis["max"] - axis["min"]) for axis in axes]
    Y = model.transform(X) - model.transform(X).mean(axis=0)
    # The axes are turned, not stretched: distances are those of the embedding.
    np.testing.assert_allclose(np.linalg.norm(values, axis=0), np.linalg.norm(Y, axis=1), atol=1e-3)


def test_effects_are_cohens_d(rng):
    X = rng.standard_normal((300, 5)) + np.arange(5)
    labels = rng.randint(3, size=300).astype(np.int32)
    X[labels == 1, 2] += 3
    result = profile(X, X, labels)
    for k in range(3):
        a, b = X[labels == k], X[labels != k]
        pooled = ((len(a) - 1) * a.var(axis=0, ddof=1) + (len(b) - 1) * b.var(axis=0, ddof=1)) / (len(X) - 2)
        np.testing.assert_allclose(result.effects[k], (a.mean(axis=0) - b.mean(axis=0)) / np.sqrt(pooled))
    assert np.abs(result.effects[1]).argmax() == 2
    sparse = profile(sp.csr_array(X), X, labels)
    np.testing.assert_allclose(sparse.effects, result.effects)


def test_effects_pass_over_empty_cells_and_constants(rng):
    X = np.column_stack([rng.standard_normal(100), np.full(100, 0.1)])
    labels = np.repeat([0, 1], 50).astype(np.int32)
    holes = X.copy()
    holes[:5, 0] = np.nan
    result, kept = profile(holes, X, labels), profile(X[5:], X[5:], labels[5:])
    np.testing.assert_allclose(result.effects[:, 0], kept.effects[:, 0])
    assert (result.effects[:, 1] == 0).all()


def test_prototypes(rng):
    Y = rng.standard_normal((60, 2))
    labels = np.repeat([0, 1], 30).astype(np.int32)
    result = profile(Y, Y, labels)
    distances = np.linalg.norm(Y - np.array([Y[:30].mean(axis=0), Y[30:].mean(axis=0)])[labels], axis=1)
    assert result.nearest[1][0] == 30 + distances[30:].argmin()
    assert result.farthest[0][0] == distances[:30].argmax()


def test_embedding_of_a_consensus_is_its_transform(iris):
    model = make_pipeline(StandardScaler(), jc.JointConsensus(3, random_state=0)).fit(iris.data)
    np.testing.assert_array_equal(Fitted(model, iris.data).embedding, model.transform(iris.data))


def test_stability_of_a_consensus(blobs):
    X, _ = blobs
    model = jc.JointConsensus(4, random_state=0).fit(X)
    np.testing.assert_allclose(Fitted(model, X).found, 1.0)
    assert Fitted(jc.LDAKMeans(4, random_state=0).fit(X), X).found is None


def test_beware(tmp_path, rng):
    X = rng.standard_normal((100, 3))
    X[:2] += 50
    model = jc.LDAKMeans(2, random_state=0).fit(X)
    model.labels_ = np.r_[1, 1, np.zeros(98, int)].astype(np.int32)
    jc.write_report(model, X, tmp_path / "r.html", stability=[0.95, 0.3])
    text = "".join(parsed(tmp_path / "r.html").text)
    assert re.search(r"Cluster 1 \(.+\) is hardly found again", text)
    assert re.search(r"Cluster 1 \(.+\) has fewer than 5 rows", text)


def test_frames_pipelines_and_searches(iris, tmp_path):
    frame = pd.DataFrame(iris.data, columns=iris.feature_names)
    pipeline = make_pipeline(StandardScaler(), jc.DiscriminativeEmbeddedClustering(3, random_state=0)).fit(frame)
    jc.write_report(pipeline, frame, tmp_path / "r.html", ids=frame.index)
    assert iris.feature_names[2] in (tmp_path / "r.html").read_text()
    search = jc.LabelFreeSearch(jc.LDAKMeans(3), {"variance": [0.8, 0.95]}, random_state=0).fit(iris.data)
    jc.write_report(search, iris.data, tmp_path / "r.html")
    assert has_cards(tmp_path / "r.html", 3)


def test_sparse_rows_and_many_clusters(tmp_path):
    X = sp.random_array((900, 400), density=0.05, format="csr", rng=np.random.default_rng(0))
    model = jc.LDAKMeans(300, random_state=0, max_rank=20).fit(X)
    jc.write_report(model, X, tmp_path / "r.html")
    data = data_of(tmp_path / "r.html")
    np.testing.assert_array_equal(unpacked(data["columns"][0]), model.labels_)
    assert has_cards(tmp_path / "r.html", 300)


def test_columns_of_which_nothing_is_known_are_not_listed(tmp_path):
    rng = np.random.RandomState(0)
    X = sp.csr_array((rng.rand(120, 30) < 0.2) * (1.0 + 5 * (np.arange(120) % 2)[:, None]))
    model = jc.JointConsensus(2, views="auto", effort="quick", trust=False, random_state=0).fit(X)
    assert '<section id="columns"' not in written(tmp_path, model, X)


def test_pictures_are_png(rng):
    image = pytest.importorskip("matplotlib.image", reason="matplotlib reads the picture back")
    pixels = rng.randint(256, size=(5, 7)).astype(float)
    import io

    data = base64.b64decode(picture(pixels, (0, 255)).partition(",")[2])
    np.testing.assert_allclose(image.imread(io.BytesIO(data)), pixels / 255, atol=1e-6)
    assert image.imread(io.BytesIO(base64.b64decode(picture(pixels, (0, 255), coloured=True).partition(",")[2]))).shape[
        :2
    ] == (5, 7)


def test_bad_calls(iris, tmp_path):
    model = jc.LDAKMeans(3, random_state=0).fit(iris.data)
    for name, value in (("ids", [1, 2]), ("classes", [1, 2]), ("coordinates", np.zeros((2, 2)))):
        with pytest.raises(ValueError, match=rf"{name} must have one entry per row .*\(150\); got 2"):
            jc.write_report(model, iris.data, tmp_path / "r.html", **{name: value})
    for name, value, message in (
        ("feature_names", ["a", "b"], "feature_names must have a name for each of the 4 columns; got 2"),
        ("coordinates", np.zeros(150), r"coordinates must be a table.*\(150,\)"),
        ("coordinates", np.full((150, 2), np.nan), "coordinates must be.* not finite"),
        ("stability", [0.5, 0.7], "stability must have a value for each of the 3 clusters"),
    ):
        with pytest.raises(ValueError, match=message):
            jc.write_report(model, iris.data, tmp_path / "r.html", **{name: value})
    for unfitted in (jc.LDAKMeans(3), jc.JointConsensus(3)):
        with pytest.raises(NotFittedError):
            jc.write_report(unfitted, iris.data, tmp_path / "r.html")
    with pytest.raises(ValueError, match=r"image_shape=\(3, 3\) does not make 4 pixels"):
        jc.write_report(model, iris.data, tmp_path / "r.html", image_shape=(3, 3))
    assert not any(tmp_path.iterdir())


def test_effects_of_perfect_and_of_far_features():
    """A feature that separates without any spread is the largest of all; a large offset hides nothing."""
    rng, labels = np.random.RandomState(0), np.repeat([0, 1], 50).astype(np.int32)
    X = np.column_stack([10.0 * labels, 1e9 + 3 * labels + rng.standard_normal(100), rng.standard_normal(100)])
    effects = profile(X, X, labels).effects
    assert effects[1, 0] == 99
    assert 2 < effects[1, 1] < 4
    assert abs(effects[1, 2]) < 1


def test_numbers_are_kept_at_four_digits_and_whole_ones_as_they_are(rng):
    whole, real = rng.randint(-40, 3000, 200).astype(float), rng.standard_normal(200) * 1e5
    for values, error in ((whole, 0.0), (real, np.ptp(real) / 9999 / 2), (np.full(200, 2.5), 0.0)):
        values = np.where(np.arange(200) == 7, np.nan, values)
        part = numbers("x", values)
        codes = unpacked(part)
        known = np.isfinite(values)
        assert (codes[~known] == (255 if part["bits"] == 8 else 65535)).all()
        assert np.abs(part["min"] + part["step"] * codes[known] - values[known]).max() <= error * (1 + 1e-9)


def test_names_are_sorted_as_people_do():
    names = ["10", "9", "b2", "b10", "1.5", "a"]
    assert [names[index] for index in natural_order(names)] == ["1.5", "9", "10", "a", "b2", "b10"]


def test_no_two_of_96_clusters_look_alike():
    colours = looks()
    assert len({(colour, index // 8 % 4) for index, colour in enumerate(colours)}) == 96


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_one_direction_has_the_next_principal_one_beside_it(rng, kind):
    X = rng.standard_normal((80, 6)) * [1, 2, 3, 1, 1, 1]
    labels = np.repeat([0, 1], 40).astype(np.int32)
    Y = X[:, :1] + X[:, 2:3]
    first, second = directions(Y, labels, kind(X), kind(X))
    Yc, Xc = Y - Y.mean(axis=0), X - X.mean(axis=0)
    rest = Xc - Yc @ np.linalg.lstsq(Yc, Xc, rcond=None)[0]
    expected = rest @ np.linalg.svd(rest)[2][0]
    assert abs(np.corrcoef(second.values, expected)[0, 1]) == pytest.approx(1)
    assert abs(np.corrcoef(second.values, first.values)[0, 1]) < 1e-9
    assert first.like[0][0] == 2, "the feature that it is mostly made of"
    line = Y * [1.0, 2.0, -3.0]
    assert (directions(Y, labels, kind(line), kind(X))[1].values == 0).all(), "what rounding leaves is no direction"


def written(tmp_path, model, X, **options):
    jc.write_report(model, X, tmp_path / "r.html", **options)
    return (tmp_path / "r.html").read_text()


def test_a_small_page_carries_the_most_telling_features(rng, tmp_path):
    X = rng.standard_normal((600, 160))
    X[:300, 42] += 9
    model = jc.LDAKMeans(2, random_state=0).fit(X)
    whole = written(tmp_path, model, X)
    assert len(data_of(tmp_path / "r.html")["features"]) == 160
    small = written(tmp_path, model, X, most_megabytes=0.2)
    carried = [feature["name"] for feature in data_of(tmp_path / "r.html")["features"]]
    assert len(small) <= 200_000 < len(whole)
    assert carried[0] == "x42"
    assert 5 < len(carried) < 160


def test_nothing_is_nothing(tmp_path):
    """Counts that are zero in a cluster have the mean 0 there, not what rounding leaves."""
    X = np.zeros((90, 3))
    X[:30, 0], X[30:60, 1], X[60:, 2] = 0.1, 0.3, 0.7
    X += 0.01 * np.random.RandomState(0).rand(90, 3) * (X > 0)
    result = profile(X, X, np.repeat([0, 1, 2], 30).astype(np.int32))
    assert (result.means[~np.eye(3, dtype=bool)] == 0).all()


def test_only_uncertain_rows_are_listed(blobs, tmp_path):
    X, _ = blobs
    assert "Least certain rows" not in written(tmp_path, jc.JointConsensus(4, effort="quick", random_state=0).fit(X), X)
    noise = np.random.RandomState(0).standard_normal((60, 4))
    unsure = written(tmp_path, jc.JointConsensus(4, effort="quick", random_state=0).fit(noise), noise)
    listed = re.search(r"Least certain rows</h2>(.*?)</section>", unsure, re.DOTALL)[1]
    values = [float(value) for value in re.findall(r'class="number">([^<]*)<', listed)]
    assert values == sorted(values)
    assert max(values) < 0.8


def test_one_cluster_is_not_called_stable(rng, tmp_path):
    X = rng.standard_normal((60, 3))
    text = written(tmp_path, jc.JointConsensus(1, effort="quick", random_state=0).fit(X), X, stability=[1.0])
    assert "all rows are in one cluster" in text
    assert 'class="tag' not in text
    assert "Least certain" not in text


@pytest.mark.parametrize(
    ("stability", "sentence"),
    [
        ([0.849, 0.95], "refits on other rows find the same clusters (reproducibility 0.90)"),
        ([0.6, 0.84], "refits on other rows find much the same clusters (reproducibility 0.72)"),
        ([0.9, 0.2], "refits on other rows find other clusters (reproducibility 0.55)"),
        ([0.9, np.nan], "refits on other rows find the same clusters (reproducibility 0.90)"),
        (None, ""),
    ],
)
def test_how_sure_we_are_of_another_method(stability, sentence, rng, tmp_path):
    """The judge says it, and refits, where there were any: a cluster that they hardly find is told in the verdict."""
    X = np.r_[rng.standard_normal((50, 3)), 20 + rng.standard_normal((50, 3))]
    text = written(tmp_path, jc.LDAKMeans(2, random_state=0).fit(X), X, stability=stability)
    first = re.search(r'<p class="sure">(.*?)</p>', text, re.DOTALL)[1]
    assert sentence in first
    assert ("cluster 1 is hardly found in refits on other rows (20%)" in first) == (stability == [0.9, 0.2])
    assert ("refits" in first) == (stability is not None)


def test_how_it_was_made(iris, tmp_path):
    model = jc.JointConsensus(3, trust=False, effort="quick", random_state=0).fit(iris.data)
    text = written(tmp_path, model, iris.data, command="jointclust fit 'a & b'", checksum="abc123")
    assert "jointclust fit &#x27;a &amp; b&#x27;" in text
    assert "abc123" in text
    assert jc.__version__ in text
    assert all(view["name"] in text for view in model.views_)
    assert hashlib.sha256(iris.data.tobytes()).hexdigest() in written(tmp_path, model, iris.data)


def test_features_that_a_sparse_method_keeps(tmp_path):
    X, _ = jc.datasets.mixture(200, 30, 3, separation=25, n_nuisance=2, random_state=0)
    model = jc.SparseOptimalDiscriminantClustering(3, random_state=0).fit(X)
    text = written(tmp_path, model, X)
    listed = re.search(r'id="chosen".*?</section>', text, re.DOTALL)[0]
    assert set(map(int, re.findall(r'data-feature="(\d+)"', listed))) == set(np.flatnonzero(model.support_))


def test_headings_of_tables_say_something(iris, tmp_path):
    text = written(tmp_path, jc.LDAKMeans(3, random_state=0).fit(iris.data), iris.data, classes=iris.target)
    assert not re.search(r"<th[^>]*></th>", text)
    assert text.index("<main>") < text.index("<dl") < text.rindex("</dl>") < text.index("</main>")
    counts = np.array(re.findall(r'class="number heat"[^>]*>([^<]*)<', text))
    assert np.where(counts == "·", "0", counts).astype(int).sum() == 150


def test_the_number_of_clusters_is_told(iris, tmp_path):
    model = jc.JointConsensus(3, trust=False, effort="quick", random_state=0).fit(iris.data)
    model.number_ = ClusterNumber(3, {}, [3, 2], {2: 0.85, 3: 0.9, 5: 0.6}, 0.9, True, 10)
    text = written(tmp_path, model, iris.data)
    assert all(mark in text for mark in (">3, chosen</text>", ">2, runner-up</text>", model.number_.verdict))


def test_a_cluster_has_one_colour_also_where_another_is_empty(rng, tmp_path):
    X = rng.standard_normal((60, 3))
    model = jc.LDAKMeans(3, random_state=0).fit(X)
    model.labels_ = np.where(model.labels_ == 1, 2, model.labels_)
    jc.write_report(model, X, tmp_path / "r.html")
    clusters = data_of(tmp_path / "r.html")["columns"][0]
    assert clusters["names"] == ["0", "1", "2"]
    np.testing.assert_array_equal(unpacked(clusters), model.labels_)


def test_what_was_explained_before_is_not_asked_again(tmp_path, monkeypatch):
    X, _ = jc.datasets.mixture(60, 20, 3, random_state=0)
    model = jc.LDAKMeans(3, random_state=0).fit(X)
    explanation = jc.explain(model, X)
    jc.write_report(model, X, tmp_path / "asked.html")
    monkeypatch.setattr("jointclust.showing.fitted.explained", None)
    jc.write_report(model, X, tmp_path / "given.html", explanation=explanation)
    rules = [str(rule) for cluster in explanation for rule in cluster.rules]
    pages = [(tmp_path / f"{name}.html").read_text() for name in ("asked", "given")]
    assert rules
    assert pages[0].count("rule") == pages[1].count("rule")


def test_columns_are_listed_and_one_that_decides_is_said_first(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"<b>city": rng.choice(["Graz", "Linz", "Bern"], 150), "luck": rng.random(150)})
    with pytest.warns(jc.ColumnWarning):
        model = jc.JointConsensus(3, columns=["<b>city", "luck"], effort="quick", random_state=0).fit(table)
    text = written(tmp_path, model, table, warnings=["another warning"])
    beware, _, rest = text.partition('<section id="columns"')
    guard = "These clusters are (nearly) the values of column &#x27;&lt;b&gt;city&#x27;"
    assert beware.index(guard) < beware.index("another warning")
    section = rest.partition("</section>")[0]
    assert guard in section
    assert section.index("&lt;b&gt;city</th>") < section.index("luck</th>"), "what separates the clusters most is first"
    assert ">related<" not in section, "nobody has measured it: all columns were named"
    assert "<b>city" not in text.partition('<script type="application/json"')[0]


def test_every_control_is_used_in_the_tests_of_the_page():
    tests = "".join(path.read_text() for path in (Path(__file__).parents[1] / "browser").glob("test_*.py"))
    page = resource("showing/report/page.html") + inspect.getsource(_sections)
    controls = re.findall(r"<(?:button|input|select) [^>]*", page)
    assert len(controls) > 35
    for control in controls:
        own = dict(re.findall(r'([\w-]+)="([^"]*)"', control))
        named = (
            [f"#{own['id']}"] if "id" in own else [name for name in own if name.startswith("data-")] or ["aria-sort"]
        )
        assert re.search(rf"{named[0]}\b", tests), control


def test_names_stay_with_their_columns(rng):
    """A column that is not used takes its name along."""
    y, places = rng.randint(3, size=200), 4 * rng.standard_normal((3, 5))
    X = np.column_stack([rng.standard_normal(200), rng.standard_normal((200, 5)) + places[y]])
    with pytest.warns(UserWarning, match="'0' is not used"):
        model = jc.JointConsensus(3, effort="quick", trust=False, random_state=0).fit(X)
    assert Fitted(model, X, given_names=list("abcdef")).names == list("bcdef")


def test_clusters_of_an_embedding_have_numbers_or_names_of_texts(rng, tmp_path):
    y = np.repeat([0, 1, 2], 40)
    X = rng.standard_normal((3, 40))[y] + 0.3 * rng.standard_normal((120, 40))
    topics = [["pizza", "cheese", "oven"], ["goal", "league", "coach"], ["vote", "party", "mayor"]]
    texts = [" ".join([*rng.choice(topics[k], 2, replace=False), "is", "new"]) for k in y]
    model = jc.JointConsensus(3, effort="quick", random_state=0).fit(X)
    bare, named = written(tmp_path, model, X), written(tmp_path, model, X, names_from=texts)
    listed = [re.findall(r'data-name="\d+">([^<]*)<', page[: page.index('id="map"')]) for page in (bare, named)]
    assert all(name.startswith("cluster") for name in listed[0]), "at every number of clusters"
    assert {"cluster 0", "cluster 1", "cluster 2"} <= set(listed[0])
    assert set(map(frozenset, topics)) <= {frozenset(name.split(", ")) for name in listed[1]}
    assert not re.search(r'class="phrase">x\d', bare), "one coordinate says nothing"


def test_splits_of_the_tree_are_those_of_the_layers(blobs, tmp_path):
    X, _ = blobs
    model = jc.JointConsensus(3, random_state=0).fit(X)
    written(tmp_path, model, X)
    tree = data_of(tmp_path / "r.html")["tree"]
    assert len(tree["splits"]) == len(tree["joins"])
    for (split, predicted), layer in zip(tree["splits"][::-1], model.layers_[1:], strict=True):
        assert split == layer["split"]
        assert predicted == pytest.approx(layer["predicted_agreement"], abs=0.005)
    assert {split for split, _ in tree["splits"]} == {"supported", "doubtful"}


def test_what_is_said_first_counts_columns_as_people_do(tmp_path):
    """A category is one column, however many numbers code it; those that are not used are told."""
    table, _ = jc.datasets.everyday("customers", 150, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = jc.JointConsensus(4, effort="quick", trust=False, random_state=0).fit(table)
    used = sum(one["used"] for one in model.columns_)
    assert used < len(model.columns_)
    assert f"<dt>columns</dt><dd>{used} of {len(model.columns_)}</dd>" in written(tmp_path, model, table)


def test_parameters_that_nobody_chose_stand_aside(blobs, tmp_path):
    X, _ = blobs
    text = written(tmp_path, jc.LDAKMeans(3, random_state=0).fit(X), X)
    chosen, _, usual = text.partition('<section id="parameters"')[2].partition("</section>")[0].partition("<details>")
    assert "random_state" in chosen
    assert "n_init" in usual
    assert "n_init" not in chosen
