"""Files that appear whole or not at all, in the place of what was there."""

import os

import numpy as np
import pytest

import jointclust as jc
from jointclust.files import replacing


@pytest.fixture(scope="module")
def model():
    return jc.LDAKMeans(2, random_state=0).fit(np.random.RandomState(0).standard_normal((20, 4)))


def test_permissions_stay(tmp_path, model):
    path = tmp_path / "model.skops"
    path.touch()
    path.chmod(0o600)
    jc.save(model, path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert jc.load(path).n_clusters == 2


def test_links_stay_and_are_written_through(tmp_path, model):
    (tmp_path / "elsewhere").mkdir()
    target, link, twice = tmp_path / "elsewhere" / "a.skops", tmp_path / "b.skops", tmp_path / "c.skops"
    link.symlink_to(target)  # which is not there yet
    twice.symlink_to(link)
    jc.save(model, twice)
    assert link.is_symlink()
    assert twice.is_symlink()
    assert not target.is_symlink()
    assert jc.load(target).n_clusters == 2
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a.skops", "b.skops", "c.skops"]


def test_what_is_no_regular_file_is_refused_and_stays(tmp_path, model):
    os.mkfifo(tmp_path / "pipe")
    before = (tmp_path / "pipe").stat()
    for path in (tmp_path / "pipe", tmp_path, "/dev/null"):
        with pytest.raises(OSError, match="give the name of a file"):
            jc.save(model, path)
    assert (tmp_path / "pipe").stat() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_what_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("before")
    with pytest.raises(KeyError), replacing(path) as temporary:
        temporary.write_text("half")
        raise KeyError
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
