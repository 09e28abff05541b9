"""Columns written into the observations of an AnnData file, as it stores them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The column of the labels; others are called by it and their own name.
KEY = "jointclust"


def annotate_file(path: Path, columns: dict[str, NDArray[Any]]) -> None:
    """Write into ``obs`` the columns ``jointclust`` (categories), ``jointclust_confidence`` and so on.

    They take the place of those of an earlier run; ids are there already.
    """
    import h5py

    with h5py.File(path, "r+") as file:
        obs = file["obs"]
        for name, values in columns.items():
            if name != "id":
                _put(obs, KEY if name == "label" else f"{KEY}_{name}", values)


def _put(obs: Any, name: str, values: NDArray[Any]) -> None:
    """A column of a data frame as AnnData stores it: numbers as an array, anything else as categories."""
    import h5py

    if name in obs:
        del obs[name]
    if np.asarray(values).dtype.kind == "f":
        obs[name] = values
        obs[name].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
    else:
        kinds, codes = np.unique(np.asarray(values).astype(str) if name != KEY else values, return_inverse=True)
        group = obs.create_group(name)
        group.attrs.update({"encoding-type": "categorical", "encoding-version": "0.2.0", "ordered": False})
        group.create_dataset("codes", data=codes.astype(np.int8 if kinds.size < 128 else np.int32))
        group.create_dataset("categories", data=kinds.astype(str).astype(object), dtype=h5py.string_dtype())
        for part, kind in (("codes", "array"), ("categories", "string-array")):
            group[part].attrs.update({"encoding-type": kind, "encoding-version": "0.2.0"})
    order = [other for other in obs.attrs.get("column-order", []) if other != name]
    obs.attrs["column-order"] = np.array([*order, name], dtype=h5py.string_dtype())
