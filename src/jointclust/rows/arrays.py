"""Array libraries: which one an array comes from, and copies from and to small host matrices."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from jointclust.types import Array, Namespace, Sparse, Sweepable


def namespace(array: object) -> Namespace:
    """The functions of the library that an array comes from, by the names of the array API standard."""
    if isinstance(array, np.ndarray):
        return np
    from array_api_compat import array_namespace

    return array_namespace(array)


def like(values: object, array: Array, dtype: Any = None) -> Array:
    """Host values as an array like another one: of its library, on its device, of its precision if none is given."""
    if isinstance(array, np.ndarray):
        return np.asarray(values, dtype=array.dtype if dtype is None else dtype)
    from array_api_compat import array_namespace, device

    xp, where = array_namespace(array), device(array)
    dtype = array.dtype if dtype is None else dtype
    if not isinstance(values, np.ndarray | np.generic | float | int):
        return xp.astype(values, dtype, copy=False)
    # Converted before it is moved, and copied: not every library accepts host memory that is read-only.
    own = np.array(values, dtype=_named(dtype))
    if hasattr(xp, "from_numpy"):  # torch: do not wait until the device has finished
        return xp.from_numpy(own).to(where, non_blocking=True)
    return xp.asarray(own, device=where)


def beside(values: Any, array: Any, *, double: bool = False) -> Any:
    """Host values moved to the device of an array, once for all its blocks; as they are for other arrays.

    They have the array's precision there, or double precision.
    """
    if values is None or not is_device_array(array):
        return values
    return like(values, array, namespace(array).float64 if double else None)


def numbers_to(n: int, array: Array) -> Array:
    """The numbers from 0 to n - 1, as an array of the library, device and type of another one; no data are moved."""
    if isinstance(array, np.ndarray):
        return np.arange(n, dtype=array.dtype)
    from array_api_compat import array_namespace, device

    return array_namespace(array).arange(n, dtype=array.dtype, device=device(array))


def to_host(array: Any) -> NDArray:
    """A NumPy array; copied from the device it lies on."""
    if isinstance(array, np.ndarray | np.generic):
        return np.asarray(array)
    if hasattr(array, "compute"):  # with Dask
        return np.asarray(array)
    if hasattr(array, "get"):  # CuPy copies to the host only by this method
        return array.get()
    from array_api_compat import to_device

    try:
        host = to_device(array, "cpu")
        return host.numpy() if hasattr(host, "numpy") else np.asarray(host)
    except (TypeError, ValueError):  # array-api-strict names its devices otherwise
        return np.from_dlpack(array).copy()


def product(a: NDArray, b: Any, device: Array | None = None) -> NDArray:
    """The product of two host matrices, computed on the device of an array if one is given."""
    if device is None:
        return a @ b
    dtype = namespace(device).float64
    return to_host(like(a, device, dtype) @ like(b, device, dtype))


def described(array: object) -> str:
    """Library and device of an array, in words."""
    if not is_device_array(array):
        return "on no device"
    from array_api_compat import device

    return f"a {type(array).__module__.split('.')[0]} array on device {device(array)}"


def precision(array: Sweepable) -> np.dtype:
    """The precision of an array, as NumPy names it."""
    return _named(array.dtype)


def _named(dtype: Any) -> np.dtype:
    try:
        return np.dtype(dtype)
    except TypeError:  # "torch.float32"
        return np.dtype(str(dtype).rsplit(".", maxsplit=1)[-1])


def columns_at(array: Any, index: NDArray[np.intp]) -> Any:
    """Some of the columns of an array of any library or of Dask, by number."""
    return _taken(array, index, axis=1) if is_device_array(array) else array[:, index]


def rows_at(array: Any, index: NDArray[np.intp] | slice) -> Any:
    """Some of the rows of a matrix in memory, sparse or not, or on a device, by number."""
    if not is_device_array(array):
        return array[index]
    return array[index, ...] if isinstance(index, slice) else _taken(array, index, axis=0)


def rows_or_all(array: Any, index: NDArray[np.intp]) -> Any:
    """The same for numbers in ascending order; the matrix itself, without a copy, where these are all of its rows."""
    return array if index.size == array.shape[0] else rows_at(array, index)


def _taken(array: Array, index: NDArray[np.intp], axis: int) -> Any:
    xp = namespace(array)
    return xp.take(array, like(index, array, xp.int64), axis=axis)


def whole_numbers(array: Any) -> Any:
    """An array, of any library or of Dask, as one of int32."""
    return namespace(array).astype(array, namespace(array).int32) if is_device_array(array) else array.astype(np.int32)


def is_device_array(array: object) -> TypeGuard[Array]:
    """Whether this is an array of another library than NumPy that follows the array API standard."""
    return hasattr(array, "__dlpack__") and hasattr(array, "shape") and not isinstance(array, np.ndarray)


def is_on_gpu(array: object) -> bool:
    """Whether an array lies on a device of its own, where large matrices are solved fast."""
    if not is_device_array(array):
        return False
    from array_api_compat import device

    return "cpu" not in str(device(array)).lower()


def is_sparse(array: object) -> TypeGuard[Sparse]:
    """Whether this is a sparse array, or matrix, of SciPy."""
    return sp.issparse(array)
