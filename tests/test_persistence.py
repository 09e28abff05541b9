import io
import json
import pickle
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import skops.io
from sklearn.base import BaseEstimator, clone
from sklearn.callback import ProgressBar
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jointclust as jc
from jointclust.consensus.training import Patterns
from jointclust.consensus.verdict import LEVELS
from models_0_2_0 import make
from models_0_3_0 import make_models as make_0_3
from registered import CLUSTERERS

pytestmark = pytest.mark.filterwarnings("ignore::jointclust.PlainKMeansWarning", "ignore::jointclust.CollapseWarning")


@pytest.mark.parametrize("estimator", CLUSTERERS, ids=repr)
def test_round_trip(estimator, iris, tmp_path):
    model = clone(estimator).set_params(n_clusters=3, random_state=0).fit(iris.data)
    jc.save(model, tmp_path / "model.skops")
    again = jc.load(tmp_path / "model.skops")
    assert type(again) is type(model)
    assert str(again.get_params()) == str(model.get_params())
    np.testing.assert_array_equal(again.predict(iris.data), model.labels_)
    np.testing.assert_array_equal(again.transform(iris.data), model.transform(iris.data))
    assert sorted(vars(again)) == sorted(vars(model))
    assert [path.name for path in tmp_path.iterdir()] == ["model.skops"], "no temporary file is left"


def test_labels_as_start_and_a_random_state(iris, tmp_path):
    model = jc.LDAKMeans(3, init=iris.target, random_state=np.random.RandomState(0)).fit(iris.data)
    jc.save(model, str(tmp_path / "model.skops"))
    np.testing.assert_array_equal(jc.load(str(tmp_path / "model.skops")).init, iris.target)


def test_pipeline(iris, tmp_path):
    pipeline = make_pipeline(StandardScaler(), jc.LDAKMeans(3, random_state=0)).fit(iris.data)
    jc.save(pipeline, tmp_path / "p")
    np.testing.assert_array_equal(jc.load(tmp_path / "p").predict(iris.data), pipeline.predict(iris.data))


def sparse_model():
    rows = sp.random_array((120, 30), density=0.2, format="csr", rng=np.random.default_rng(0))
    return rows, jc.OptimalDiscriminantClustering(3, kernel="nearest_neighbors", random_state=0).fit(rows)


def test_sparse_rows_in_a_model(tmp_path):
    rows, model = sparse_model()
    consensus = jc.JointConsensus(3, members=[model, jc.LDAKMeans(3)], random_state=0).fit(rows)
    for fitted in (model, consensus):
        jc.save(fitted, tmp_path / "x")
        np.testing.assert_array_equal(jc.load(tmp_path / "x").predict(rows), fitted.labels_)


def test_sparse_rows_that_point_outside_are_refused(tmp_path):
    _, model = sparse_model()
    model.landmarks_.indices[3] = 10_000_000
    jc.save(make_pipeline(StandardScaler(with_mean=False), model), tmp_path / "x")
    with pytest.raises(ValueError, match="corrupt"):
        jc.load(tmp_path / "x")


def test_what_load_would_refuse_is_not_saved(iris, tmp_path):
    with pytest.raises(TypeError, match="set_callbacks"):
        jc.save(jc.LDAKMeans(3).set_callbacks(ProgressBar()), tmp_path / "x")
    with pytest.raises(TypeError, match="NumPy arrays"):
        jc.save(jc.LDAKMeans(3, init=pd.Series(iris.target)), tmp_path / "x")
    assert not any(tmp_path.iterdir())


def test_file_has_the_usual_permissions(tmp_path):
    jc.save(jc.LDAKMeans(3), tmp_path / "x")
    (tmp_path / "y").touch()
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "y").stat().st_mode


@pytest.fixture
def saved(iris, tmp_path):
    path = tmp_path / "model.skops"
    jc.save(jc.LDAKMeans(3, random_state=0).fit(iris.data), path)
    return path


def rewrite(path, name, content):
    source = zipfile.ZipFile(io.BytesIO(path.read_bytes()))
    with zipfile.ZipFile(path, "w") as target:
        for item in source.namelist():
            if item != name:
                target.writestr(item, source.read(item))
        if content is not None:
            target.writestr(name, content)


def test_every_truncation_is_an_error(saved):
    data = saved.read_bytes()
    for length in np.linspace(0, len(data) - 1, 40).astype(int):
        saved.write_bytes(data[:length])
        with pytest.raises(ValueError, match="corrupt|not a model file"):
            jc.load(saved)


def test_flipped_bytes_are_an_error_or_harmless(saved, iris):
    data, expected = saved.read_bytes(), jc.load(saved).predict(iris.data)
    failed = 0
    for position in np.linspace(0, len(data) - 1, 200).astype(int):
        spoiled = bytearray(data)
        spoiled[position] ^= 0xFF
        saved.write_bytes(bytes(spoiled))
        try:
            model = jc.load(saved)
        except ValueError:
            failed += 1
        else:  # a byte that carries nothing, such as a time stamp
            np.testing.assert_array_equal(model.predict(iris.data), expected)
    assert failed > 100


def swollen(content, compression):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression=compression) as archive:
        archive.writestr("a.npy", content)
    return buffer.getvalue()


@pytest.mark.parametrize("inside", [False, True])
def test_a_bomb_is_refused_before_it_is_unpacked(saved, inside):
    """Also one inside a part, such as sparse rows are, under any name."""
    zeros = bytes(2**28)
    with zipfile.ZipFile(saved, "a", compression=zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows", swollen(zeros, zipfile.ZIP_DEFLATED) if inside else zeros)
    del zeros
    tracemalloc.start()
    with pytest.raises(ValueError, match="would unpack to more than 100 times its size"):
        jc.load(saved)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


def test_a_forged_directory_is_a_clear_error(saved):
    """Which says that parts are shorter than they are."""
    data = bytearray(saved.read_bytes())
    place = data.index(b"PK\x01\x02")
    while data[place : place + 4] == b"PK\x01\x02":
        data[place + 24 : place + 28] = (3).to_bytes(4, "little")
        place += 46 + int.from_bytes(data[place + 28 : place + 30], "little")
    saved.write_bytes(bytes(data))
    with pytest.raises(ValueError, match="corrupt"):
        jc.load(saved)


def test_columns_of_numbers_are_saved_side_by_side(tmp_path):
    """A file of an array for each column takes minutes to write where columns are genes."""
    rng, n_files = np.random.RandomState(0), []
    words = np.array(["red", "blue"], dtype=object)[rng.randint(2, size=40)]
    for n_columns in (5, 50):
        table = pd.DataFrame(rng.standard_normal((40, n_columns))).add_prefix("c\0\ud800")
        table.insert(2, "word", words)
        table.insert(4, "day", pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.randint(99, size=40), "D"))
        model = jc.JointConsensus(2, effort="quick", columns="all", trust=False, random_state=0).fit(table)
        jc.save(model, tmp_path / "x")
        kept, again = model._kept.rows, jc.load(tmp_path / "x")._kept.rows
        assert kept.column_names == again.column_names
        assert [kept[name] for name in kept.column_names] == [again[name] for name in again.column_names]
        with zipfile.ZipFile(tmp_path / "x") as archive:
            n_files.append(len(archive.namelist()))
    assert n_files[0] == n_files[1]


def test_what_shrinks_a_lot_is_saved_and_loaded(tmp_path):
    """Labels of very many rows, all the same: what save writes, load takes."""
    model = jc.LDAKMeans(2, random_state=0).fit(np.arange(12.0).reshape(6, 2))
    model.labels_ = np.zeros(2**25, dtype=np.int32)
    jc.save(model, tmp_path / "x")
    assert jc.load(tmp_path / "x").labels_.shape == (2**25,)


def test_newer_format(saved):
    rewrite(saved, "jointclust.json", json.dumps({"library": "jointclust", "format": 99}))
    with pytest.raises(ValueError, match="format version 99.*Upgrade jointclust"):
        jc.load(saved)


HEADERS = [
    "{",
    "[]",
    "{}",
    '{"format": "x"}',
    '{"format": 1, "library": "x"}',
    '{"format": -5, "library": "jointclust"}',
]


@pytest.mark.parametrize("content", HEADERS)
def test_spoiled_header(saved, content):
    rewrite(saved, "jointclust.json", content)
    with pytest.raises(ValueError, match="corrupt"):
        jc.load(saved)


def test_file_of_another_library(tmp_path, iris):
    skops.io.dump(StandardScaler().fit(iris.data), tmp_path / "other.skops")
    with pytest.raises(ValueError, match=r"not written by jointclust\.save"):
        jc.load(tmp_path / "other.skops")
    (tmp_path / "model.pkl").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ValueError, match="not a model file"):
        jc.load(tmp_path / "model.pkl")


class Foreign(BaseEstimator):
    """A type that a file must not be able to bring to life."""

    def __setstate__(self, state):
        raise AssertionError("code of a foreign type ran")


def test_no_foreign_type_is_ever_built(tmp_path):
    with pytest.raises(TypeError, match=r"load would refuse.*Foreign"):
        jc.save(make_pipeline(Foreign()), tmp_path / "model.skops")
    skops.io.dump(make_pipeline(Foreign()), tmp_path / "model.skops")
    rewrite(tmp_path / "model.skops", "jointclust.json", json.dumps({"library": "jointclust", "format": 1}))
    with pytest.raises(ValueError, match=r"types that jointclust does not load.*Foreign"):
        jc.load(tmp_path / "model.skops")


def test_what_a_model_is_made_of_is_no_model(tmp_path):
    """A file may hold such a thing inside a model, and not in its place."""
    path = tmp_path / "model.skops"
    skops.io.dump(Patterns(np.zeros((1, 2), np.int32), np.ones(1)), path)
    rewrite(path, "jointclust.json", json.dumps({"library": "jointclust", "format": 1}))
    with pytest.raises(ValueError, match="it holds a Patterns, which is no model by itself"):
        jc.load(path)


def test_bad_calls(tmp_path):
    with pytest.raises(TypeError, match="estimator instance; got int"):
        jc.save(3, tmp_path / "x")
    with pytest.raises(TypeError, match="estimator instance"):
        jc.save(jc.LDAKMeans, tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        jc.load(tmp_path / "absent")
    with pytest.raises(FileNotFoundError):
        jc.save(jc.LDAKMeans(), tmp_path / "no folder" / "x")
    assert not any(tmp_path.iterdir())


# -- files of version 0.1.0 ---------------------------------------------------------------------------------------

OLD = Path(__file__).parent / "models_0_1_0"


@pytest.mark.parametrize("path", sorted(OLD.glob("*.skops")), ids=lambda path: path.stem)
def test_models_of_version_0_1_0(path):
    """Saved at the tag v0.1.0, from rows.npy: each loads its class from where it is now, and predicts as it did."""
    X = np.load(OLD / "rows.npy")
    model = jc.load(path)
    assert str(clone(model).get_params()) == str(model.get_params())
    if path.stem == "projection":
        assert model.transform(X).shape == (36, 2)
        return
    last = model[-1] if path.stem == "pipeline" else model
    rows = {"odc_precomputed": X @ X.T, "odc_graph_sparse": sp.csr_array(np.maximum(X, 0))}.get(path.stem, X)
    np.testing.assert_array_equal(model.predict(rows), last.labels_)
    if hasattr(last, "soft_labels_"):
        np.testing.assert_allclose(model.predict_proba(rows), last.soft_labels_)


# -- files of version 0.2 -----------------------------------------------------------------------------------------

BEFORE = Path(make.__file__).parent


@pytest.fixture(scope="module")
def expected():
    return dict(np.load(BEFORE / "expected.npz"))


# Layers with more clusters than the fit are computed when they are first needed, unless they were saved.
NEW_LAYERS = {"layers", "linkage", "agreement of layers"}
# What the judge says, since 0.4.
NEW_ANSWERS = {"score", "number", "verdict"}
KEPT_LAYERS = {"consensus-layered", "consensus-many-rows", "consensus-many-rows-file"}


@pytest.mark.parametrize("path", sorted(BEFORE.glob("*.skops")), ids=lambda path: path.stem)
def test_models_of_version_0_2(path, expected):
    """Saved at commit 5996aaa: each answers as it did, of the rows of fit and of others."""
    prefix = f"{path.stem}/"
    wanted = {key.removeprefix(prefix): value for key, value in expected.items() if key.startswith(prefix)}
    model = jc.load(path)
    assert str(clone(model).get_params()) == str(model.get_params())
    if isinstance(model, jc.JointConsensus):
        with pytest.raises(AttributeError, match="reproducibility_ was not measured.*trust=True"):
            _ = model.reproducibility_
        with pytest.raises(AttributeError, match="predicted_agreement_ is not known.*keeps no rows"):
            _ = model.predicted_agreement_
        assert model.verdict_.level == "not sure"
    answers = dict(make.answers(model, make.rows_of(expected, str(wanted.pop("rows")))))
    assert answers.keys() - NEW_ANSWERS == wanted.keys() - NEW_ANSWERS
    for name, value in wanted.items():
        if name in NEW_LAYERS and path.stem not in KEPT_LAYERS:
            assert np.all(np.array(np.shape(answers[name])) >= value.shape)
        elif value.dtype.kind == "f":
            np.testing.assert_allclose(answers[name], value, rtol=1e-9, atol=1e-9, err_msg=name)
        else:
            np.testing.assert_array_equal(answers[name], value, err_msg=name)


# -- files of version 0.3, which its release makes -----------------------------------------------------------------

LATEST = Path(make_0_3.__file__).parent


@pytest.mark.parametrize("path", sorted(LATEST.glob("*.skops")), ids=lambda path: path.stem)
def test_models_of_version_0_3(path):
    """Each answers as it did, of the rows of fit and of others; how sure it is, the judge says from its kept rows."""
    expected = dict(np.load(LATEST / "expected.npz"))
    prefix = f"{path.stem}/"
    wanted = {key.removeprefix(prefix): value for key, value in expected.items() if key.startswith(prefix)}
    model, rows = jc.load(path), make_0_3.rows_of(expected, str(wanted.pop("rows")))
    answers = dict(make_0_3.answers(model, rows))
    if isinstance(model, jc.JointConsensus):
        assert answers.keys() - NEW_ANSWERS == wanted.keys() - NEW_ANSWERS
        assert answers["verdict"][0] in LEVELS
        assert 0 <= model.predicted_agreement_ <= 1
        assert {layer["split"] for layer in model.layers_[1:]} <= {"supported", "doubtful"}
        wanted = {name: value for name, value in wanted.items() if name != "verdict"}
    else:
        assert answers.keys() == wanted.keys()
    for name, value in wanted.items():
        if value.dtype.kind == "f":
            np.testing.assert_allclose(answers[name], value, rtol=1e-9, atol=1e-9, err_msg=name)
        else:
            np.testing.assert_array_equal(answers[name], value, err_msg=name)


def test_a_model_of_very_many_columns_is_as_it_was(tmp_path):
    """What is said of each column is one text in the file, not a part for each."""
    X = np.random.RandomState(0).randn(30, 2_000) + 3 * (np.arange(30) % 2)[:, None]
    model = jc.JointConsensus(2, effort="quick", trust=False, random_state=0).fit(X)
    jc.save(model, tmp_path / "model.skops")
    loaded = jc.load(tmp_path / "model.skops")
    assert str(loaded.description_) == str(model.description_)
    assert loaded.columns_[1_999]["why"] == model.columns_[1_999]["why"]
    np.testing.assert_array_equal(loaded.predict(X), model.labels_)
    with zipfile.ZipFile(tmp_path / "model.skops") as archive:
        assert archive.getinfo("schema.json").file_size < 1_000_000
