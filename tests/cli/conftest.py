import csv

import pytest


@pytest.fixture
def iris_csv(iris, tmp_path):
    path = tmp_path / "iris.csv"
    rows = [["name", *iris.feature_names, "kind"]]
    rows += [[f"flower {i}", *row, f"kind {y}"] for i, (row, y) in enumerate(zip(iris.data, iris.target, strict=True))]
    with path.open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)
    return path
