"""Workbooks with what a spreadsheet cannot hold."""

import click
import numpy as np
import pytest

from jointclust.cli import workbook

openpyxl = pytest.importorskip("openpyxl")


def test_a_long_table_goes_on_in_the_next_sheet_and_odd_cells_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(workbook, "ROWS", 3)
    cells = {"=name": np.array(["=1+1", "a\x00b", "x" * 40_000, "last"], dtype=object), "value": [1, np.nan, None, 2.5]}
    workbook.write_workbook(tmp_path / "b.xlsx", {"labels": cells, "empty": {"a": []}})
    book = openpyxl.load_workbook(tmp_path / "b.xlsx")
    assert book.sheetnames == ["labels", "labels 2", "empty"]
    assert list(book["labels"].values)[:3] == [("'=name", "value"), ("'=1+1", 1), ("a\N{REPLACEMENT CHARACTER}b", None)]
    assert book["labels"]["A1"].data_type == book["labels"]["A2"].data_type == "s"
    assert len(book["labels"]["A4"].value) == 32_767
    assert list(book["labels 2"].values) == [("'=name", "value"), ("last", 2.5)]
    assert list(book["empty"].values) == [("a",)]
    workbook.write_workbook(tmp_path / "b.xlsx", {"labels": cells}, raw=True)
    raw = openpyxl.load_workbook(tmp_path / "b.xlsx")["labels"]
    assert (raw["A1"].value, raw["A1"].data_type, raw["A2"].data_type) == ("=name", "s", "s")


def test_without_openpyxl(monkeypatch):
    monkeypatch.setattr(workbook.importlib.util, "find_spec", lambda name: None)
    workbook.claim_workbook(False)
    with pytest.raises(click.UsageError, match="--xlsx needs openpyxl"):
        workbook.claim_workbook(True)
