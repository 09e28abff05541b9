"""Clusters of cells in AnnData: what is written, where from, and that nothing else is touched."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

import jointclust as jc
from jointclust.views.counts import LogCounts, ScaledGenes

anndata = pytest.importorskip("anndata")


@pytest.fixture
def cells():
    """Three kinds of cells, of which each reads other genes."""
    rng = np.random.RandomState(0)
    kind = np.repeat([0, 1, 2], [50, 40, 30])
    counts = rng.poisson(rng.gamma(0.3, 2.0, size=(3, 120))[kind] * rng.uniform(0.5, 2, (120, 1)))
    adata = anndata.AnnData(sp.csr_matrix(counts.astype(np.float32)))
    adata.obs["kind"] = kind
    return adata


def logs_of(adata):
    logs = adata.copy()
    logs.X = sp.csr_matrix(np.log1p(adata.X.toarray() / adata.X.sum(axis=1) * 100))
    return logs


def test_results_are_written_and_kept_in_a_file(cells, tmp_path):
    before = cells.X.copy()
    assert jc.sc.tl.consensus(cells, 3) is None
    assert adjusted_rand_score(cells.obs["kind"], cells.obs["jointclust"]) == 1
    assert cells.obs["jointclust"].cat.categories.tolist() == ["0", "1", "2"]
    assert cells.obs["jointclust_confidence"].between(0, 1).all()
    assert len(cells.obsm["X_jointclust"]) == cells.n_obs
    assert (before != cells.X).nnz == 0
    cells.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert read.obs["jointclust"].equals(cells.obs["jointclust"])
    assert read.uns["jointclust"]["params"]["n_clusters"] == 3
    assert read.uns["jointclust"]["views"]["weight"].sum() == pytest.approx(1)


def test_number_and_suggestions(cells, tmp_path):
    jc.sc.tl.consensus(cells)
    assert cells.obs["jointclust"].nunique() == 3
    assert 3 in cells.uns["jointclust"]["number"]["suggestions"]
    cells.write_h5ad(tmp_path / "cells.h5ad")


def test_a_copy_leaves_the_original_alone(cells):
    other = jc.sc.tl.consensus(cells, 3, key_added="groups", copy=True)
    assert {"groups", "groups_confidence"} <= set(other.obs)
    assert list(cells.obs) == ["kind"]
    assert not cells.obsm
    assert not cells.uns


def test_matrix_layer_and_representation(cells):
    """A layer is clustered as the same matrix in X would be; a representation has views of its own."""
    logs = logs_of(cells)
    cells.layers["logs"], cells.obsm["X_pca"] = logs.X, np.linalg.svd(logs.X.toarray(), full_matrices=False)[0][:, :5]
    jc.sc.tl.consensus(logs, 3)
    jc.sc.tl.consensus(cells, 3, layer="logs", key_added="a")
    jc.sc.tl.consensus(cells, 3, use_rep="X_pca", key_added="b")
    assert logs.obs["jointclust"].tolist() == cells.obs["a"].tolist()
    assert cells.uns["a"]["views"]["name"].tolist() == ["as is", "scaled genes"]
    assert "scaled genes" not in cells.uns["b"]["views"]["name"]


def test_logarithms_of_marked_genes(cells):
    """Genes that are marked are those used: what the others hold makes no difference."""
    logs = logs_of(cells)
    logs.var["highly_variable"] = np.arange(logs.n_vars) < 100
    other = logs.copy()
    other.X = sp.hstack([logs.X[:, :100], 5 * logs.X[:, 100:]], format="csr")
    for adata in (logs, other):
        jc.sc.tl.consensus(adata, 3)
    np.testing.assert_allclose(logs.obsm["X_jointclust"], other.obsm["X_jointclust"])


@pytest.mark.parametrize("dense", [False, True])
def test_backed_cells_are_read_and_that_is_said(cells, tmp_path, dense):
    cells.X = cells.X.toarray() if dense else cells.X
    cells.write_h5ad(tmp_path / "cells.h5ad")
    jc.sc.tl.consensus(cells, 3)
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with pytest.warns(UserWarning, match="read into memory"):
        jc.sc.tl.consensus(backed, 3)
    assert backed.obs["jointclust"].tolist() == cells.obs["jointclust"].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layer": "counts"}, "'counts' is not in adata.layers"),
        ({"use_rep": "X_pca"}, "'X_pca' is not in adata.obsm"),
        ({"use_rep": "X_pca", "layer": "counts"}, "two matrices"),
    ],
)
def test_what_is_not_there_is_named(cells, options, message):
    with pytest.raises((KeyError, ValueError), match=message):
        jc.sc.tl.consensus(cells, 3, **options)


def test_other_things_are_refused():
    with pytest.raises(TypeError, match="ndarray"):
        jc.sc.tl.consensus(np.eye(4), 2)


REFUSING = {
    "a single method": lambda X: jc.LDAKMeans(3).fit(X),
    "soft labels": lambda X: jc.FuzzyKMeans(3).fit(X),
    "rows as they are": lambda X: jc.JointConsensus(3, views=None).fit(X),
    "the search": lambda X: jc.LabelFreeSearch(jc.LDAKMeans(3), {"variance": [0.9]}).fit(X),
    "compare": lambda X: jc.compare(X, 3),
    "stability": lambda X: jc.bootstrap_stability(jc.LDAKMeans(3), X),
    "decompose": jc.decompose,
    "the path": lambda X: jc.trade_off_path(X, 3),
    "supervised": lambda X: jc.DiscriminantProjection().fit(X, X.obs["kind"]),
    "the encoder": lambda X: jc.MixedEncoder().fit(X),
    "the imputer": lambda X: jc.LowRankImputer().fit(X),
    "a view": lambda X: ScaledGenes().fit(X),
}


@pytest.mark.parametrize("use", REFUSING.values(), ids=REFUSING.keys())
def test_matrices_only(cells, use):
    """Who takes matrices says so at once: as a sequence, AnnData would be read cell by cell."""
    with pytest.raises(TypeError, match="AnnData"):
        use(cells)


def test_the_consensus_takes_cells_as_their_matrix(cells):
    model, same = (jc.JointConsensus(3, random_state=0).fit(data) for data in (cells, cells.X))
    assert (model.labels_ == same.labels_).all()
    assert (model.predict(cells) == same.predict(cells.X)).all()


@pytest.mark.parametrize("counts", [False, True])
def test_scaled_genes(cells, counts):
    """Sparse rows stay sparse and are those of dense rows, which are scanpy's but for their mean."""
    rows = sp.csr_array(cells.X, dtype=np.float64)
    sparse, dense = (ScaledGenes(counts).fit(data).transform(data) for data in (rows, rows.toarray()))
    assert sp.issparse(sparse)
    np.testing.assert_allclose(sparse.toarray(), dense)
    logs = LogCounts().fit_transform(rows.toarray()) if counts else rows.toarray()
    spread = logs.std(axis=0)
    expected = np.minimum((logs - logs.mean(axis=0)) / np.where(spread > 0, spread, 1.0), 10.0)
    np.testing.assert_allclose(dense - dense.mean(axis=0), expected - expected.mean(axis=0), atol=1e-12)


def test_a_model_on_scaled_genes_is_saved(cells, tmp_path):
    rows = sp.csr_array(cells.X, dtype=np.float64)
    model = jc.JointConsensus(3, views=["log", ScaledGenes(counts=True)], random_state=0).fit(rows)
    jc.save(model, tmp_path / "model.skops")
    assert (jc.load(tmp_path / "model.skops").predict(rows) == model.labels_).all()


def test_plots(cells):
    pytest.importorskip("scanpy")
    jc.sc.tl.consensus(cells, 3)
    assert len(jc.sc.pl.map(cells, show=False)) == 2
    assert "mainplot_ax" in jc.sc.pl.dotplot(cells, n_genes=2, show=False)
    with pytest.raises(KeyError, match="consensus"):
        jc.sc.pl.map(cells, key="other")


def test_plots_say_what_they_need(cells, monkeypatch):
    monkeypatch.setitem(sys.modules, "scanpy", None)
    cells.obs["jointclust"] = "0"
    with pytest.raises(ImportError, match="pip install scanpy"):
        jc.sc.pl.map(cells)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pbmc3k", "worm_neuron"])
def test_real_cells_beside_leiden(real_data, name):
    """As near to the known kinds as Leiden is in the mean over resolutions; nearer where the number is given."""
    sc = pytest.importorskip("scanpy")
    data = real_data(name)
    cells = anndata.AnnData(sp.csr_matrix(data.data).astype(np.float32))
    usual = cells.copy()
    if jc.describe(data.data).kind == "counts":
        sc.pp.normalize_total(usual, target_sum=1e4)
        sc.pp.log1p(usual)
        sc.pp.highly_variable_genes(usual, n_top_genes=2000)
    sc.pp.pca(usual)
    sc.pp.neighbors(usual)
    scores = []
    for resolution in (0.4, 0.8, 1.2):
        sc.tl.leiden(usual, resolution, flavor="igraph", n_iterations=2, directed=False)
        scores.append(adjusted_rand_score(data.target, usual.obs["leiden"]))
    jc.sc.tl.consensus(cells, key_added="chosen")
    jc.sc.tl.consensus(cells, int(np.unique(data.target).size), key_added="given")
    assert adjusted_rand_score(data.target, cells.obs["chosen"]) > np.mean(scores) - 0.03
    assert adjusted_rand_score(data.target, cells.obs["given"]) > np.mean(scores)


class Modalities:
    """What MuData is, as far as it matters: modalities by name, and tables about all cells."""

    isbacked = False

    def __init__(self, names, **mod):
        frame = pytest.importorskip("pandas").DataFrame
        self.mod, self.obs, self.obsm, self.uns = mod, frame(index=names), {}, {}


def test_modalities_are_blocks(cells):
    rng = np.random.RandomState(1)
    proteins = anndata.AnnData(rng.poisson(np.eye(3)[cells.obs["kind"]] * 9 + 1, (120, 3)).astype(np.float32))
    proteins.obsm["X_pca"] = np.asarray(proteins.X, dtype=float)
    shuffled = proteins[rng.permutation(120)].copy()
    both = Modalities(cells.obs_names, rna=cells, protein=shuffled)
    assert jc.sc.tl.consensus(both, 3, use_rep={"protein": "X_pca"}) is None
    assert adjusted_rand_score(cells.obs["kind"], both.obs["jointclust"]) == 1
    assert len(both.obsm["X_jointclust"]) == 120
    names = both.uns["jointclust"]["views"]["name"].tolist()
    assert names[:2] == ["rna: topics", "rna: log"]
    assert any(name.startswith("protein: ") for name in names)
    with pytest.raises(ValueError, match="'protein' lacks 20 of the 120 cells"):
        jc.sc.tl.consensus(Modalities(cells.obs_names, rna=cells, protein=proteins[:100].copy()), 3)
    with pytest.raises(KeyError, match="no modality 'atac'"):
        jc.sc.tl.consensus(both, 3, use_rep={"atac": "X_pca"})
    with pytest.raises(TypeError, match="give one key"):
        jc.sc.tl.consensus(cells, 3, layer={"rna": "counts"})
