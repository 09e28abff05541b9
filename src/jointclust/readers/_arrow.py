"""Parquet and Feather, through pyarrow: files that know the types of their columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jointclust.exceptions import Setting
from jointclust.readers import _table as shared
from jointclust.readers._columns import Columns, as_column
from jointclust.readers._table import Options, ReadError, Table, needed
from jointclust.views.columns import places_of

# Reads columns of a file by their names.
Reader = Callable[[list[str]], Any]


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
        n_rows = 0
        try:
            for index in range(file.num_record_batches):
                batch = file.get_batch(index)
                batch.validate(full=True)
                n_rows += batch.num_rows
        except pa.ArrowMemoryError as error:  # damaged files ask for too much
            raise ReadError(f"{path} is damaged: {error}") from error
        return _table(path, file.schema, n_rows, lambda names: feather.read_table(path, columns=names), options)


def _table(path: Path, schema: Any, n_rows: int, read: Reader, options: Options) -> Table:
    if any(_is_list(field.type) for field in schema):
        schema, read, options = _unfolded(path, schema, read, options)
    names = list(schema.names)
    options = shared.without_spared(options, names)
    shared.check_columns(path, names, options)
    keep, encoded = options.categories == "keep", {}
    features = shared.features_of(path, names, options, numbered=False)
    if options.wanted is not None:
        encoded = shared.check_wanted(path, names, options.wanted, encode=not keep)
        features = [name for name in features if name in {*options.wanted, *encoded}]
    kinds = {name: _kind(path, schema.field(name), options, name in encoded, read) for name in features}
    left_out = [name for name, kind in kinds.items() if kind == "left out"]
    numeric = [name for name, kind in kinds.items() if kind == "number"]
    other = [name for name, kind in kinds.items() if kind not in ("number", "left out")]
    if not numeric and not other:
        raise ReadError(f"{path} has no numeric column.")
    shared.check_memory(path, n_rows * len(numeric))
    names_beside = [*shared.carried(names, features, options), *(left_out if options.carry else [])]
    kinds_beside = {name: _own_kind(schema.field(name)) for name in names_beside}
    names_beside = [name for name in names_beside if kinds_beside[name] is not None]
    table = read([*dict.fromkeys([*numeric, *other, *options.special.values(), *names_beside])])
    matrix = np.empty((table.num_rows, len(numeric)))
    for index, name in enumerate(numeric):
        matrix[:, index] = table.column(name).cast("float64", safe=False).to_numpy()
    beside = shared.beside_features(options, lambda name: np.asarray(_strings(table.column(name)), dtype=object))
    text = {} if keep else {name: _strings(table.column(name)) for name in other}
    if options.categories == "onehot" and options.wanted is None:
        ids = {name: "text" for name, column in text.items() if shared.names_rows(column)}
        names_beside, kinds_beside = [*names_beside, *ids], {**kinds_beside, **ids}
    beside["beside"] = Columns({name: _typed(table.column(name), str(kinds_beside[name])) for name in names_beside})
    if keep:
        arrays = {name: _typed(table.column(name), kinds[name]) for name in other}
        return Table(*shared.side_by_side(matrix, numeric, arrays, list(options.wanted or features)), **beside)
    data, column_names = shared.assembled(path, names, matrix, numeric, text, options)
    return Table(data, column_names, **beside, notes=shared.dropped(left_out, options))


def _is_list(kind: Any) -> bool:
    """Whether a type is of lists of numbers."""
    import pyarrow.types as types

    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return is_list and (types.is_integer(kind.value_type) or types.is_floating(kind.value_type))


def _unfolded(path: Path, schema: Any, read: Reader, options: Options) -> tuple[Any, Reader, Options]:
    """A file whose columns of lists are one column for each place, with what reads them and what is asked of them."""
    pa = needed("pyarrow", "reading lists")
    wanted = None if options.columns is None else {name.rpartition("[")[0] or name for name in options.columns}
    unused = {*(options.drop or ()), *options.special.values()}
    folded = [
        field.name
        for field in schema
        if _is_list(field.type) and field.name not in unused and (wanted is None or field.name in wanted)
    ]
    places: dict[str, dict[str, NDArray[Any]]] = {}
    for name in folded:
        try:
            places[name] = places_of(read([name]).column(name), name)
        except ValueError as error:
            raise ReadError(f"{path}: {error}") from error
    arrays = {place: array for parts in places.values() for place, array in parts.items()}
    fields = [
        field
        for old in schema
        for field in ([pa.field(place, pa.float64()) for place in places[old.name]] if old.name in places else [old])
    ]

    def read_both(names: list[str]) -> Any:
        own = [name for name in names if name not in arrays]
        table = read(own) if own else None
        columns = {name: table.column(name) for name in own} if table is not None else {}
        return pa.table({name: columns[name] if name in columns else arrays[name] for name in names})

    def spread(names: Sequence[str] | None) -> list[str] | None:
        return None if names is None else [place for name in names for place in places.get(name, [name])]

    return pa.schema(fields), read_both, replace(options, columns=spread(options.columns))


def _own_kind(field: Any) -> str | None:
    """What a column holds by its type; None of types that nobody can use."""
    import pyarrow.types as types

    tests = {
        "number": (types.is_integer, types.is_floating, types.is_decimal, types.is_null),
        "boolean": (types.is_boolean,),
        "date": (types.is_timestamp, types.is_date),
        "text": (types.is_string, types.is_large_string, types.is_string_view, types.is_dictionary),
    }
    return next((kind for kind, each in tests.items() if any(test(field.type) for test in each)), None)


def _kind(path: Path, field: Any, options: Options, encoded: bool, read: Reader) -> str:
    """What a column holds, as it is to be read; the error for one that cannot be used shows one of its values."""
    import pyarrow.types as types

    own = _own_kind(field)
    if options.categories == "keep":
        # Text is read by what was fitted, which knows how numbers and dates were written.
        given = (options.kinds or {}).get(field.name) or own
        # So does it know whether 1 and 0 are true and false there.
        known = own if own == "text" or {own, given} <= {"number", "boolean"} else given
        if known is not None:
            return known
    elif own in ("number", "boolean") and not types.is_null(field.type):
        return "number"
    elif options.categories == "onehot" or encoded:
        return "text"
    elif options.wanted is None and options.categories == "drop":
        return "left out"
    values = (value for value in read([field.name]).column(field.name).to_pylist() if value is not None)
    example = str(next(values, ""))[:40]
    if options.categories == "refuse" and options.wanted is None:
        raise shared.refuse_text(path, field.name, example)
    what = f"{path}: column {field.name!r} holds {field.type}, such as {example!r}"
    if options.categories == "keep":
        advice = "and only numbers, text, dates and what is true or false can be used: leave it out."
        raise ReadError(f"{what}, {advice}", Setting("drop", [field.name]))
    raise ReadError(f"{what}; the model takes numbers there.")


def _typed(column: Any, kind: str) -> NDArray[Any]:
    if kind == "number":
        return np.asarray(column.cast("float64", safe=False).to_numpy())
    if kind == "date":
        return np.asarray(column.cast("timestamp[us]").to_numpy()).astype("datetime64[us]")
    values = column.to_pylist()
    return as_column([None if value is None else str(value) for value in values] if kind == "text" else values, kind)


def _strings(column: Any) -> list[str]:
    return ["" if value is None else str(value) for value in column.to_pylist()]
