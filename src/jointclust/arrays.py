"""Array libraries: which one an array comes from."""

from __future__ import annotations

from typing import Any

import numpy as np


def namespace(array: Any) -> Any:
    """The functions of the library that an array comes from, by the names of the array API standard."""
    if isinstance(array, np.ndarray):
        return np
    from array_api_compat import array_namespace

    return array_namespace(array)
