"""What a model has for each row of its fit is for those rows; any others are labelled by predict, however many."""

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

import jointclust as jc
from jointclust.showing.fitted import Fitted

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
CENTERS = 8 * np.eye(3, 6)


def drawn(n, seed):
    rng = np.random.RandomState(seed)
    return CENTERS[rng.randint(3, size=n)] + rng.standard_normal((n, 6))


X, NEXT = drawn(150, 0), drawn(150, 1)
SHUFFLED = X[np.random.RandomState(2).permutation(150)]
QUICK = {"effort": "quick", "trust": False, "random_state": 0}


@pytest.fixture(scope="module")
def consensus():
    return jc.JointConsensus(3, **QUICK).fit(X)


@pytest.fixture(scope="module", params=["consensus", "ldakm", "fuzzy", "pipeline", "rounding", "search", "kmeans"])
def model(request, consensus):
    models = {
        "consensus": consensus,
        "ldakm": jc.LDAKMeans(3, random_state=0),
        "fuzzy": jc.FuzzyKMeans(3, random_state=0),
        "pipeline": make_pipeline(PCA(4), jc.LDAKMeans(3, random_state=0)),
        "rounding": make_pipeline(PCA(4), jc.JointConsensus(3, **QUICK)),  # fit_transform and transform differ a little
        "search": jc.LabelFreeSearch([(jc.LDAKMeans(3), {"variance": [0.9, 1.0]})], random_state=0),
        "kmeans": KMeans(3, n_init=1, random_state=0),
    }
    return models[request.param].fit(X)


def sizes(explanation):
    return [one.size for one in explanation]


def test_as_many_other_rows_are_labelled_by_predict(model):
    for rows in (NEXT, SHUFFLED):
        fitted = Fitted(model, rows)
        np.testing.assert_array_equal(fitted.labels, model.predict(rows))
        assert sizes(jc.explain(model, rows)) == np.bincount(model.predict(rows)).tolist()
        assert not fitted.are_of_fit
        assert fitted.tree is None
        assert fitted.outlier_scores is None
    assert Fitted(model, X).are_of_fit


def test_one_changed_cell_or_two_exchanged_rows_make_other_rows(consensus):
    changed, exchanged = X.copy(), X.copy()
    changed[5, 2] += 1e-9
    exchanged[[3, 4]] = exchanged[[4, 3]]
    assert [Fitted(consensus, rows).are_of_fit for rows in (X, X.copy(), changed, exchanged)] == [
        True,
        True,
        False,
        False,
    ]


def test_what_is_said_of_other_rows_is_of_them(consensus):
    fitted = Fitted(consensus, NEXT)
    np.testing.assert_allclose(fitted.soft_labels, consensus.predict_proba(NEXT))
    np.testing.assert_allclose(fitted.confidence, consensus.confidence(NEXT))
    with pytest.raises(ValueError, match=r"n_clusters=2: layers are of the 150 training rows; X has 150 others"):
        jc.explain(consensus, NEXT, n_clusters=2)


@pytest.mark.parametrize("given", ["known_labels", "groups", "reject_below"])
def test_the_rows_of_fit_keep_what_only_the_fit_knows(given, tmp_path):
    """Labels that are known, of groups, or rejected are not those of predict, and stay, also in a saved model."""
    rng, rows = np.random.RandomState(3), rng_noise()
    options = {"known_labels": np.where(rng.uniform(size=150) < 0.3, rng.randint(3, size=150), -1)}
    options |= {"groups": np.arange(150) // 3, "reject_below": None}
    model = jc.JointConsensus(3, **QUICK, reject_below=0.6 if given == "reject_below" else 0.0)
    model.fit(rows, **{} if given == "reject_below" else {given: options[given]})
    jc.save(model, tmp_path / "model.skops")
    for one in (model, jc.load(tmp_path / "model.skops")):
        fitted = Fitted(one, rows)
        assert fitted.are_of_fit
        kept = one.labels_ >= 0
        np.testing.assert_array_equal(fitted.labels[kept], one.labels_[kept])
        assert np.any(one.labels_ != one.predict(rows)) or given == "reject_below"
        other = Fitted(one, rows[::-1].copy())
        assert not other.are_of_fit
        if given != "reject_below":
            np.testing.assert_array_equal(other.labels, one.predict(rows[::-1].copy()))


def rng_noise():
    return np.random.RandomState(4).standard_normal((150, 6)) + CENTERS[np.arange(150) % 3] / 4


def test_models_without_a_fingerprint_answer_for_other_rows_too(consensus):
    """Those of earlier versions, and of other libraries: rows are of the fit if predict says of each what it did."""
    for model in (consensus, jc.LDAKMeans(3, random_state=0).fit(X)):
        state = {name: value for name, value in vars(model).items() if name != "_fingerprint"}
        old = type(model)()
        old.__dict__ = state
        assert Fitted(old, X).are_of_fit
        np.testing.assert_array_equal(Fitted(old, NEXT).labels, model.predict(NEXT))
        np.testing.assert_array_equal(Fitted(old, SHUFFLED).labels, model.predict(SHUFFLED))
    mixture = GaussianMixture(3, random_state=0).fit(X)  # has no labels_
    np.testing.assert_array_equal(Fitted(mixture, X).labels, mixture.predict(X))


class Unpredicting(ClusterMixin, BaseEstimator):
    def fit(self, X, y=None):
        self.labels_ = np.arange(len(X)) % 2
        return self


def test_without_predict_as_many_rows_are_taken_for_those_of_fit_and_others_refused():
    model = Unpredicting().fit(X)
    np.testing.assert_array_equal(Fitted(model, X).labels, model.labels_)
    with pytest.raises(ValueError, match=r"X has 20 rows, the model was fitted on 150 others and has no predict"):
        jc.explain(model, X[:20])


def test_other_containers_hold_the_rows_of_fit(consensus, tmp_path):
    frame = pd.DataFrame(X)
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        for rows in (X.tolist(), np.asfortranarray(X), file.create_dataset("X", data=X), anndata.AnnData(X)):
            assert Fitted(consensus, rows).are_of_fit
        assert not Fitted(consensus, file.create_dataset("other", data=NEXT)).are_of_fit
    by_name = jc.JointConsensus(3, **QUICK).fit(frame.add_prefix("c"))
    assert Fitted(by_name, frame.add_prefix("c")).are_of_fit
    cells, others = anndata.AnnData(np.exp(X)), anndata.AnnData(np.exp(NEXT))
    model = jc.JointConsensus(3, **QUICK).fit(cells)
    assert sizes(jc.explain(model, others)) == np.bincount(model.predict(others)).tolist()
    blocks = {"a": X[:, :4], "b": X[:, 2:]}
    of_blocks = jc.JointConsensus(3, **QUICK).fit(blocks)
    assert Fitted(of_blocks, blocks).are_of_fit
    others = {"a": NEXT[:, :4], "b": NEXT[:, 2:]}
    np.testing.assert_array_equal(Fitted(of_blocks, others).labels, of_blocks.predict(others))


def test_an_updated_model_knows_the_rows_of_its_last_batch(consensus):
    model = jc.JointConsensus(3, **QUICK).fit(X).update(NEXT)
    assert Fitted(model, NEXT).are_of_fit
    assert not Fitted(model, X).are_of_fit


def test_the_report_of_other_rows_says_so(consensus, tmp_path):
    page = tmp_path / "page.html"
    jc.write_report(consensus, NEXT, page, neighbours=False)
    assert "These are not the rows of the fit" in page.read_text()
    jc.write_report(consensus, X, page, neighbours=False)
    assert "These are not the rows of the fit" not in page.read_text()
    only_first = NEXT[consensus.predict(NEXT) == 0]  # fewer rows, and fewer clusters
    jc.write_report(jc.LDAKMeans(3, random_state=0).fit(X), only_first, page, neighbours=False)
    assert "These are not the rows of the fit" in page.read_text()


def test_drawings_of_other_rows_have_their_labels(consensus):
    drawn_rows = jc.plots.EmbeddingDisplay.from_estimator(consensus, SHUFFLED)
    np.testing.assert_array_equal(drawn_rows.labels, consensus.predict(SHUFFLED))


def test_without_predict_and_fingerprint_nobody_knows_the_rows():
    """As many other rows are not known from those of the fit: a warning says so."""
    X = np.random.RandomState(0).standard_normal((40, 2)) + 9 * (np.arange(40) % 2)[:, None]
    model = AgglomerativeClustering(2).fit(X)
    with pytest.warns(UserWarning, match="AgglomerativeClustering has no predict .* cannot be known"):
        assert Fitted(model, X[::-1]).are_of_fit
