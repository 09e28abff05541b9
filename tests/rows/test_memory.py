"""Free memory is looked at before large steps."""

import numpy as np
import pandas as pd
import pytest
import torch

import jointclust as jc
from jointclust.rows import memory
from places import ROWS, rows_in


def test_of_machine_and_container(tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 900 kB\nMemAvailable:   600 kB\n")
    assert memory.of_machine(tmp_path / "meminfo") == 600 * 1024
    assert memory.of_machine(tmp_path / "none") is None
    for name, text in (("max", "1000\n"), ("current", "700\n"), ("stat", "anon 300\ninactive_file 200\n")):
        (tmp_path / f"memory.{name}").write_text(text)
    assert memory.of_container(tmp_path) == 500
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.of_container(tmp_path) is None


@pytest.fixture
def nearly_full(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 10_000)


@pytest.mark.filterwarnings("ignore")
def test_what_needs_more_is_not_begun(tmp_path, nearly_full):
    frame = pd.DataFrame(ROWS).assign(colour=["red", "green", "blue"] * 80)
    frame.columns = frame.columns.astype(str)
    with pytest.raises(MemoryError, match=r"To code 240 rows as 8 columns.*0 MiB are free: give fewer rows or columns"):
        jc.JointConsensus(3).fit(frame)
    with rows_in("Dask array", ROWS, tmp_path) as there:
        model = jc.JointConsensus(3, random_state=0).fit(torch.tensor(ROWS))
        with pytest.raises(MemoryError, match="To load X takes about.*give some of the rows"):
            jc.explain(model, there)


@pytest.mark.filterwarnings("ignore")
def test_what_can_be_smaller_is(tmp_path, nearly_full):
    """The clusters of each row in the members are not kept, and the layers are there all the same."""
    X = np.tile(ROWS, (5, 1))
    with rows_in("memory map", X, tmp_path) as there:
        model = jc.JointConsensus(3, random_state=0).fit(there)
        assert model.groups_of_members().shape == (1200, 0)
        np.testing.assert_array_equal(model.cut(5), model.predict(there, n_clusters=5))
