"""Parquet and Feather, through pyarrow: files that know the types of their columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.readers._columns import Columns, as_column
from jointclust.readers._table import (
    Options,
    ReadError,
    Table,
    assembled,
    beside_features,
    check_columns,
    check_memory,
    check_wanted,
    dropped,
    features_of,
    in_order,
    needed,
    refuse_text,
)


def arrow_columns(path: Path, format: str) -> dict[str, list[Any]]:
    """Every column of a file that is known to be readable, as Python's values."""
    return needed(f"pyarrow.{format}", f"reading {format}").read_table(path).to_pydict()


def read_parquet(path: Path, options: Options) -> Table:
    """Read a Parquet file."""
    with needed("pyarrow.parquet", "reading Parquet").ParquetFile(path) as file:
        return _table(path, file.schema_arrow, file.metadata.num_rows, lambda names: file.read(columns=names), options)


def read_feather(path: Path, options: Options) -> Table:
    """Read a Feather file, which is an Arrow file."""
    feather, pa = needed("pyarrow.feather", "reading Feather"), needed("pyarrow", "reading Feather")
    with pa.memory_map(str(path)) as source, pa.ipc.open_file(source) as file:
        n_rows = sum(file.get_batch(index).num_rows for index in range(file.num_record_batches))
        return _table(path, file.schema, n_rows, lambda names: feather.read_table(path, columns=names), options)


def _table(path: Path, schema: Any, n_rows: int, read: Callable[[list[str]], Any], options: Options) -> Table:
    names = list(schema.names)
    check_columns(path, names, options)
    keep = options.categories == "keep"
    encoded: dict[str, list[str]] = {}
    features = features_of(path, names, options, numbered=False)
    if options.wanted is not None:
        encoded = check_wanted(path, names, options.wanted, encode=not keep)
        features = [name for name in features if name in {*options.wanted, *encoded}]
    kinds = {}
    for name in features:
        try:
            kinds[name] = _kind(schema.field(name), options, name in encoded)
        except _UnusableError as error:
            raise error.told(path, name, _example(read([name]).column(name))) from None
    left_out = [name for name, kind in kinds.items() if kind == "left out"]
    numeric = [name for name, kind in kinds.items() if kind == "number"]
    other = [name for name, kind in kinds.items() if kind not in ("number", "left out")]
    if not numeric and not other:
        raise ReadError(f"{path} has no numeric column.")
    check_memory(path, n_rows * len(numeric))
    table = read([*numeric, *other, *dict.fromkeys(options.special.values())])
    matrix = np.empty((table.num_rows, len(numeric)))
    for index, name in enumerate(numeric):
        matrix[:, index] = _numbers(table.column(name))
    beside = beside_features(options, lambda name: np.asarray(_strings(table.column(name)), dtype=object))
    if keep and other:
        arrays = dict(zip(numeric, matrix.T, strict=True))
        arrays |= {name: _typed(table.column(name), kinds[name]) for name in other}
        order = list(options.wanted or features)
        return Table(Columns({name: arrays[name] for name in order}), order, **beside)
    text = {name: _strings(table.column(name)) for name in other}
    data, found = assembled(path, names, matrix, numeric, text, options)
    data, found = in_order(data, found, options.wanted)
    return Table(data, found, **beside, notes=dropped(left_out, options))


def _kind(field: Any, options: Options, encoded: bool) -> str:
    """What a column holds, as it is to be read."""
    import pyarrow.types as types

    kind = field.type
    if options.categories == "keep":
        return (options.kinds or {}).get(field.name) or _own_kind(field)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        return "number"
    if options.wanted is None and options.categories == "refuse":
        raise _UnusableError
    if options.categories == "onehot" or encoded:
        return "text"
    if options.wanted is not None:
        raise _UnusableError(f"holds {kind}, such as {{}}; the model takes numbers there.")
    return "left out"


def _own_kind(field: Any) -> str:
    import pyarrow.types as types

    tests = {
        "number": (types.is_integer, types.is_floating, types.is_decimal, types.is_null),
        "boolean": (types.is_boolean,),
        "date": (types.is_timestamp, types.is_date),
        "text": (types.is_string, types.is_large_string, types.is_string_view, types.is_dictionary),
    }
    for kind, each in tests.items():
        if any(test(field.type) for test in each):
            return kind
    raise _UnusableError(
        f"holds {field.type}, such as {{}}, and only numbers, text, dates and what is true or false can be used: "
        f"leave it out with --drop {field.name!r}."
    )


class _UnusableError(Exception):
    """A column that cannot be used: why, with a place for one of its values; without words, for it is text."""

    def told(self, path: Path, name: str, example: str) -> ReadError:
        if not self.args:
            return refuse_text(path, name, example)
        return ReadError(f"{path}: column {name!r} {self.args[0].replace('{}', repr(example))}")


def _example(column: Any) -> str:
    """The first value of a column, as text."""
    return str(next((value for value in column.to_pylist() if value is not None), ""))[:40]


def _typed(column: Any, kind: str) -> NDArray[Any]:
    import pyarrow as pa

    if kind == "date":
        return np.asarray(column.cast(pa.timestamp("us")).to_numpy()).astype("datetime64[us]")
    values = column.to_pylist()
    return as_column([None if value is None else str(value) for value in values] if kind == "text" else values, kind)


def _numbers(column: Any) -> Any:
    import pyarrow as pa

    return column.cast(pa.float64(), safe=False).to_numpy()


def _strings(column: Any) -> list[str]:
    return ["" if value is None else str(value) for value in column.to_pylist()]
