"""Data sets in files: NumPy's, MATLAB's, folders of images, and the files that the public sources have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from jointclust.datasets._registry import Entry
from jointclust.readers import Columns, ReadError
from jointclust.readers import read as read_table
from jointclust.readers._mat import LABELS, ROWS, as_labels, described, n_labels, pick, rows_and_labels, variables
from jointclust.readers._matrix import npz_parts

_IMAGES = {".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff"}
_DEFAULT_SHAPE = (32, 32)
Labelled = tuple[Any, NDArray[Any]]


def possible_files(folder: Path, name: str, entry: Entry | None) -> Iterator[Path]:
    """Where in a folder a data set may be, the best first."""
    names = [f"{name}.npz", f"{name}.mat"]
    if entry is not None and name == entry.name:
        names += [] if entry.file_name is None else [entry.file_name]
        names += [] if entry.label_column is None else [f"{name}.csv"]
    try:
        yield from [folder / file for file in names if (folder / file).is_file()]
    except OSError:  # no permission to look, or too long a name
        return
    if is_image_folder(folder / name):
        yield folder / name


def sets_in(folder: Path) -> Iterator[tuple[Path, str]]:
    """Every file and folder that may be a data set, with its name."""
    try:
        paths = list(folder.iterdir())
        files = [path for path in paths if path.suffix in (".npz", ".mat") and path.is_file()]
    except OSError:  # no folder, or no permission to look into it
        return
    yield from ((path, path.stem) for path in files)
    yield from ((path, path.name) for path in paths if is_image_folder(path))


def is_image_folder(path: Path, *, flat: bool = False) -> bool:
    """Whether a folder has subfolders with images in them or, where ``flat``, images themselves."""
    try:
        folders = [path] if flat else _subfolders(path) if path.is_dir() else []
        return any(_is_image(file) for folder in folders for file in folder.iterdir())
    except OSError:  # no folder, or one that is not for us
        return False


def read(
    path: Path, entry: Entry | None, dtype: DTypeLike, shape: tuple[int, int] | None, order: str
) -> dict[str, Any]:
    """``data``, ``target`` and, where known, ``feature_names`` of a file or folder; ``shape`` is that of images."""
    parts: tuple[Any, ...]
    try:
        if path.is_dir():
            parts = read_images(path, shape or _DEFAULT_SHAPE, order)
        elif path.suffix == ".npz":
            parts = _read_npz(path)
        elif path.suffix == ".csv" and entry is not None and entry.label_column is not None:
            parts = _read_mixed(path, entry.label_column)
        elif entry is not None and path.name == entry.file_name:
            parts = read_source(path, entry)
        else:
            parts = rows_and_labels(path)
    except (ReadError, MemoryError):
        raise
    except ImportError as error:
        raise ReadError(f"{path}: {error}") from error
    except Exception as error:  # whatever a library says of a damaged file
        raise ReadError(f"{path} cannot be read: {error}") from error
    data, *rest = parts
    if 0 in data.shape:
        raise ReadError(f"{path} is empty: it holds {data.shape[0]} rows of {data.shape[1]} columns.")
    # Numbers get the type that is asked for; text stays text.
    numeric = data.select_dtypes("number").columns if hasattr(data, "columns") else None
    data = data.astype(dtype if numeric is None else dict.fromkeys(numeric, dtype))
    return dict(zip(("data", "target", "feature_names"), (data, *rest), strict=False))


def read_source(path: Path, entry: Entry) -> Labelled:
    """Rows and labels of the file that a set's public source has."""
    assert entry.format is not None
    return _FORMATS[entry.format](path, entry)


def _read_npz(path: Path) -> tuple[Any, ...]:
    data, names, parts = npz_parts(path)
    if "y" not in parts:
        raise ReadError(f"{path} holds {', '.join(parts)}: y is missing.")
    labels = as_labels(path, parts["y"])
    if labels.size != data.shape[0]:
        raise ReadError(f"{path} holds {data.shape[0]} rows but {labels.size} labels.")
    return data, labels, None if names is None else np.asarray(names)


def _read_mixed(path: Path, label_column: str) -> tuple[Any, ...]:
    """A table with columns of text."""
    table = read_table(path, label_column=label_column, categories="keep", missing="keep")
    data = table.data.to_pandas() if isinstance(table.data, Columns) else table.data
    return data, as_labels(path, table.classes), np.asarray(table.names)


# -- images -----------------------------------------------------------------------------------------------------


def read_images(folder: Path, shape: tuple[int, int], order: str) -> Labelled:
    """Grey images of one size, from a folder that has a subfolder for each class."""
    classes = [sorted(filter(_is_image, child.iterdir()), key=_counted) for child in _subfolders(folder)]
    classes = [files for files in classes if files]
    images = np.stack([_read_image(file, shape) for files in classes for file in files])
    rows = (images if order == "C" else images.transpose(0, 2, 1)).reshape(len(images), -1)
    return rows, np.repeat(np.arange(len(classes)), [len(files) for files in classes])


def _subfolders(folder: Path) -> list[Path]:
    return sorted((child for child in folder.iterdir() if child.is_dir() and child.name[0] != "."), key=_counted)


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in _IMAGES and path.name[0] != "." and path.is_file()


def _counted(path: Path) -> list[tuple[int, str]]:
    """Key that sorts s2 before s10."""
    return [(int(part or 0), text) for text, part in re.findall(r"(\D*)(\d*)", path.name)]


def _read_image(path: Path, shape: tuple[int, int]) -> NDArray[np.uint8]:
    image = _pillow()
    from PIL import ImageOps

    try:
        with image.open(path) as opened:
            upright = ImageOps.exif_transpose(opened)
            if upright.mode == "F":
                raise ReadError("its pixels are floating-point numbers, whose black and white are not known")
            grey = image.fromarray(_eight_bits(upright)) if upright.mode[0] == "I" else upright.convert("L")
            return np.asarray(grey.resize(shape[::-1], image.Resampling.LANCZOS))
    except Exception as error:
        raise ReadError(f"{path} cannot be read as an image: {error}") from error


def _eight_bits(image: object) -> NDArray[np.uint8]:
    """Pixels of 16 bits on the scale of 8, where Pillow's own conversion would cut them off."""
    pixels = np.asarray(image)
    if pixels.min() < 0 or pixels.max() > 65535:
        raise ReadError("its pixels have more than 16 bits")
    return np.round(pixels / 257).astype(np.uint8)


def _pillow() -> ModuleType:
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("reading images needs Pillow: pip install 'jointclust[datasets]'") from error
    return Image


# -- files of public sources ------------------------------------------------------------------------------------


def _faces(path: Path, entry: Entry) -> Labelled:
    """A stack of images, height x width x number, made as small as the papers have them."""
    content = variables(path)
    stack = pick(content, ROWS, lambda value: getattr(value, "ndim", 0) == 3 and value.dtype.kind in "fiub")
    if stack is None:  # someone's own file of the same name
        return rows_and_labels(path)
    labels = pick(content, LABELS, lambda value: n_labels(value) == stack.shape[2])
    if labels is None:
        raise ReadError(f"{path} holds {described(content)}: x (height x width x number) and label are expected.")
    image = _pillow()
    height, width = entry.image_shape or _DEFAULT_SHAPE
    pixels = np.clip(np.round(stack), 0, 255).astype(np.uint8)
    images = (image.fromarray(one) for one in np.moveaxis(pixels, 2, 0))
    small = [np.asarray(one.resize((width, height), image.Resampling.BICUBIC)) for one in images]
    return np.stack(small).reshape(len(small), -1), as_labels(path, labels)


def _usps(path: Path, entry: Entry) -> Labelled:
    """One matrix: pixels, and the digit as the last column."""
    content = variables(path)
    table = content.get("usps_all")
    if table is None:
        return rows_and_labels(path)
    return table[:, :-1], as_labels(path, table[:, -1])


def _text(path: Path, delimiter: str | None, label: int, first: int, n_cells: int) -> Labelled:
    """Lines of cells, one of them the label; lines of another length are no data."""
    lines = (line.split(delimiter) for line in path.read_text(encoding="utf-8").splitlines())
    cells = np.array([line for line in lines if len(line) == n_cells])
    if cells.size == 0:
        raise ReadError(f"{path} has no line of {n_cells} cells.")
    features = [column for column in range(first, n_cells) if column != label % n_cells]
    return cells[:, features].astype(np.float64), np.unique(cells[:, label], return_inverse=True)[1]


def _satellite(path: Path, entry: Entry) -> Labelled:
    X, y = _text(path, None, label=-1, first=0, n_cells=37)
    numbered = np.array_equal(X[0], np.arange(1, 37))  # some copies begin with the numbers of the columns
    return (X[1:], np.unique(y[1:], return_inverse=True)[1]) if numbered else (X, y)


_FORMATS: dict[str, Callable[[Path, Entry], Labelled]] = {
    "mat": lambda path, entry: rows_and_labels(path),
    "faces": _faces,
    "usps": _usps,
    "yeast": lambda path, entry: _text(path, None, label=-1, first=1, n_cells=10),
    "segmentation": lambda path, entry: _text(path, ",", label=0, first=1, n_cells=20),
    "satellite": _satellite,
}
