"""Prepares data as read: which column names the rows, what is done to the others, and notes on both."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple

import click
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, RobustScaler
from sklearn.utils import get_tags

import jointclust as jc
from jointclust.readers import Columns, ReadError, Table
from jointclust.showing.fitted import first_preparation, last_step
from jointclust.types import Float
from jointclust.views.blocks import BlockView
from jointclust.views.cells import cells_of
from jointclust.views.columns import is_row_name
from jointclust.views.kinds import Described, naming_column
from jointclust.views.preparation import Preparation
from jointclust.views.registry import SCALES as VIEWS_BY_SCALE

# Fitted before the clusterer, by name.
Steps = list[tuple[str, Any]]
# Ways to scale the columns: by a view of the registry, or by one of scikit-learn's transformers.
_OTHERS = {
    "robust": lambda is_sparse: RobustScaler(with_centering=not is_sparse),
    "log1p": lambda _: FunctionTransformer(np.log1p, accept_sparse=True, feature_names_out="one-to-one"),
    "l2": lambda _: Normalizer(),
}
SCALES = ("auto", *VIEWS_BY_SCALE, *_OTHERS)
# Most columns that get notes by their names: more of them are pixels, bands or genes.
_NAMED = 1000
# Columns that more often hold classes than features.
_CLASS_NAMES = {"class", "classes", "label", "labels", "target"}
# Kinds of columns as readers take them; they need not know those of columns that are not used.
_AS_READ = {"number": "number", "count": "number", "category": "text", "boolean": "boolean", "date": "date"}


def arranged(
    table: Table, *, text_column: str | None = None, missing: str = "auto", spared: Collection[str] = ()
) -> Table:
    """The table with its documents or columns by name, and without the column that names the rows.

    None of the ``spared`` columns names the rows: those that are to be clustered, or shown.
    """
    data = table.data
    if text_column is not None:
        column = data[text_column] if isinstance(data, Columns) else None
        if column is None or column.dtype != object:
            raise ReadError(f"--text-column {text_column}: the column holds no text.")
        texts = ["" if value is None else str(value) for value in column]
        return _named(replace(table, data=np.array(texts, dtype=object), names=None), table.beside, spared)
    table = by_name(table, missing)
    data = table.data
    if not isinstance(data, Columns):
        return _named(table, table.beside, spared)
    table = replace(table, data=data, names=data.column_names)
    return _named(table, Columns({**table.beside, **data}), spared)


def _named(table: Table, columns: Columns, spared: Collection[str]) -> Table:
    """The table with the names of its rows, if one of these columns that is not spared only names rows."""
    others = [name for name in columns if name not in spared]
    is_alone = len(others) == 1 and not (len(columns) == 1 and isinstance(table.data, Columns))  # beside others it may
    if table.ids is not None or not others:
        return table
    candidates = columns.select(others)
    name = naming_column(Columns({**candidates, "": np.zeros(candidates.shape[0])}) if is_alone else candidates)
    if name is None:
        return table
    ids = columns[name]
    if ids.dtype.kind == "f" and np.all(ids == np.rint(ids)):
        ids = ids.astype(np.int64)
    why = "it is their id, and no feature."
    table = replace(table, ids=ids, id_column=name, notes=[*table.notes, f"Column {name!r} names the rows: {why}"])
    if name in table.beside:
        return replace(table, beside=table.beside.select([other for other in table.beside if other != name]))
    rest = table.data.select([other for other in table.data if other != name])
    return replace(table, data=rest, names=rest.column_names)


def by_name(table: Table, missing: str = "auto") -> Table:
    """The table with its columns by name, unless they are many, and with notes on what the names suggest."""
    data, names = table.data, table.names
    if sp.issparse(data):
        return table  # its names are words, or genes
    if isinstance(data, np.ndarray) and names is not None and len(names) <= _NAMED and missing in ("auto", "refuse"):
        data = Columns(dict(zip(names, data.T, strict=True)), table.signs)
    hint = "Column {0!r} is taken as a feature. If it {1}: --{2}-column {0!r}."
    classes = [name for name in names or [] if name.strip().lower() in _CLASS_NAMES]
    table = replace(table, notes=table.notes + [hint.format(name, "holds known classes", "label") for name in classes])
    if not isinstance(data, Columns):
        notes = [hint.format(name, "names the rows", "id") for name in names or [] if is_row_name(name)]
        return replace(table, notes=table.notes + notes)
    return replace(table, data=data)


def shape_of(data: Any) -> tuple[int, int]:
    """Rows and columns; documents are one column."""
    return data.shape[0], data.shape[1] if len(data.shape) > 1 else 1


def size_of(data: Any) -> str:
    """The same in words."""
    n_rows, n_columns = shape_of(data)
    rows = "documents" if len(data.shape) == 1 else "rows"
    return f"{n_rows} {rows}, {n_columns} column{'s' if n_columns > 1 else ''}"


def preparation(
    scale: str, missing: str, data: Any, columns: str | list[str] = "related", *, has_views: bool = False
) -> Steps:
    """Steps before the clusterer; part of the saved model, so that new raw rows go through them too.

    ``columns`` are those to use. A consensus that looks at views of its own prepares the data itself.
    """
    steps: Steps = []
    is_sparse = sp.issparse(data)
    is_matrix = is_sparse or (isinstance(data, np.ndarray) and data.ndim == 2)
    if missing in ("mean", "median"):
        if not is_matrix:
            raise click.UsageError(f"--missing {missing} is for numbers, and there is text: use --missing auto.")
        steps.append(("fill", SimpleImputer(strategy=missing)))
    has_gaps = missing == "auto" and is_matrix and not is_sparse and bool(np.isnan(data).any())
    if not has_views and (scale == "auto" or not is_matrix or has_gaps):
        steps.append(("prepare", Preparation("auto" if scale == "auto" else "as is", columns)))
    if scale in _OTHERS:
        steps.append((scale, _OTHERS[scale](is_sparse)))
    elif scale not in ("auto", "none"):
        steps.append((scale, VIEWS_BY_SCALE[scale].cls()))
    return steps


def without_value(data: Any) -> NDArray[np.bool_]:
    """Which rows of data have no value at all: a step before the clusterer fills them with what is usual."""
    if isinstance(data, Columns):
        return np.logical_and.reduce([cells_of(column, name).missing for name, column in data.items()])
    is_matrix = isinstance(data, np.ndarray) and data.ndim == 2
    return np.isnan(data).all(axis=1) if is_matrix else np.zeros(data.shape[0], dtype=bool)


def with_guesses(sure: Float, is_empty: NDArray[np.bool_], n_clusters: int) -> Float:
    """Confidence, at most that of a guess for rows without a value."""
    return np.where(is_empty, np.minimum(sure, 1 / n_clusters), sure)


class Prepared(NamedTuple):
    """Rows after all steps; if the first step codes them, the coded rows and what it knows of the columns."""

    rows: Any
    coded: Any = None
    looked_at: Described | None = None


def prepared(steps: Steps, X: Any, scale: str) -> Prepared:
    """Rows after the steps, which are fitted on them."""
    coded, looked_at = None, None
    for number, (name, step) in enumerate(steps):
        if name == scale and (scale == "log1p" or get_tags(step).input_tags.positive_only):
            low = X.min() if sp.issparse(X) else np.nanmin(X)
            if low < 0:
                raise click.UsageError(f"--scale {scale} is for counts: the data hold {low:g}. Use --scale standard.")
        if isinstance(step, Preparation):
            (rows, _), described = step.fit_encode(X)
            coded, looked_at = (rows, described) if number == 0 else (None, None)
            X = step.scaler_.transform(rows)
        else:
            X = step.fit_transform(X)
    return Prepared(X, coded, looked_at)


def preparations_of(model: Any) -> list[Preparation]:
    """What prepares the data for a model: a step before it, or one for each view of a consensus."""
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
    parts = [step for step in steps if isinstance(step, Preparation)]
    if isinstance(steps[-1], jc.JointConsensus):
        own = [one.preparation if isinstance(one, BlockView) else one for one in steps[-1].preparations]
        parts += [one for one in own if isinstance(one, Preparation)]
    return parts


def views_of(model: Any) -> list[tuple[str, str]]:
    """The views that were taken, and why."""
    last, parts = last_step(model), preparations_of(model)
    own = list(getattr(last, "preparations", ()))
    if isinstance(last, jc.JointConsensus) and parts and (parts[0] in own or isinstance(own[0], BlockView)):
        return [(f"{view['name']} (weight {view['weight']:.2f})", view["reason"]) for view in last.views_]
    return [(preparation.view_, preparation.reason_) for preparation in parts]


def joined(steps: Steps, fitted: Any, names: list[str] | None) -> Any:
    """One model of fitted steps and a fitted clusterer, which knows the columns' names and leaves others aside."""
    model = Pipeline([*steps, ("cluster", fitted)]) if steps else fitted
    for one in preparations_of(model):
        one.takes_others_ = True
    first = model.steps[0][1] if steps else model
    if names is not None:
        # Objects take far more room in files than text of one width.
        first.feature_names_in_ = np.asarray(names, dtype=object if len(names) <= _NAMED else str)
    return model


def reading_for(model: Any, first: Any = None) -> dict[str, Any]:
    """How new data have to be read for a model, or for the first preparation of a block."""
    first = first or first_preparation(model) or (model.steps[0][1] if isinstance(model, Pipeline) else model)
    names = getattr(first, "feature_names_in_", None)
    wanted = None if names is None else [str(name) for name in names]
    reading: dict[str, Any] = {"wanted": wanted, "n_features": getattr(model, "n_features_in_", None)}
    if isinstance(first, Preparation) and model is not first and not hasattr(model, "n_features_in_"):
        reading["n_features"] = getattr(first, "n_features_in_", None)
    if not isinstance(first, Preparation):
        return reading | {"categories": "drop", "missing": "keep" if hasattr(first, "statistics_") else "refuse"}
    columns = first.description_.columns if names is not None else []
    if wanted is not None and first.kept_ is not None and len(wanted) <= _NAMED:
        reading["spared"] = [name for place, name in enumerate(wanted) if place not in set(first.kept_.tolist())]
    kinds = {column.name: _AS_READ[column.kind] for column in columns if column.kind in _AS_READ}
    return reading | {"categories": "keep", "missing": "keep", "kinds": kinds or None}
