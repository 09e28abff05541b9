"""Parquet, through pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jointclust.readers._table import (
    Options,
    ReadError,
    Table,
    assembled,
    check_columns,
    check_memory,
    check_wanted,
    in_order,
    refuse_text,
)


def read_parquet(path: Path, options: Options) -> Table:
    """Read a Parquet file."""
    try:
        import pyarrow.parquet as parquet
        import pyarrow.types as types
    except ImportError as error:
        raise ImportError("reading Parquet needs pyarrow: pip install 'jointclust[files]'") from error
    file = parquet.ParquetFile(path)
    names = list(file.schema_arrow.names)
    check_columns(path, names, options)
    encoded = check_wanted(path, names, options.wanted) if options.wanted is not None else {}
    special = {name for name in (options.id_column, options.label_column) if name is not None}
    numeric, text = [], []
    for field in file.schema_arrow:
        if field.name in special or (options.wanted is not None and field.name not in {*options.wanted, *encoded}):
            continue
        kind = field.type
        if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
            numeric.append(field.name)
        elif options.wanted is None and options.categories == "refuse":
            raise refuse_text(path, field.name, str(kind))
        elif options.categories == "onehot" or field.name in encoded:
            text.append(field.name)
        elif options.wanted is not None:
            raise ReadError(f"{path}: column {field.name!r} holds {kind}; the model takes numbers there.")
    if not numeric and not text:
        raise ReadError(f"{path} has no numeric column.")
    check_memory(path, file.metadata.num_rows * len(numeric))
    table = file.read(columns=[*numeric, *text, *special])
    matrix = np.empty((table.num_rows, len(numeric)))
    for index, name in enumerate(numeric):
        matrix[:, index] = _numbers(table.column(name))
    columns = {name: _strings(table.column(name)) for name in [*text, *special]}
    ids, classes = (columns.get(name or "") for name in (options.id_column, options.label_column))
    kept = {name: columns[name] for name in text}
    data, found = assembled(path, names, matrix, numeric, kept, options)
    data, found = in_order(data, found, options.wanted)
    return Table(data, found, _objects(ids), _objects(classes))


def _numbers(column: Any) -> Any:
    import pyarrow as pa

    return column.cast(pa.float64(), safe=False).to_numpy()


def _strings(column: Any) -> list[str]:
    return ["" if value is None else str(value) for value in column.to_pylist()]


def _objects(column: list[str] | None) -> Any:
    return None if column is None else np.asarray(column, dtype=object)
