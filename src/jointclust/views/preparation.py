"""From data as people have them to the rows of one view, in one transformer."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from jointclust._sklearn import StrOptions, fit_context
from jointclust.exceptions import tell
from jointclust.rows import checked_numbers, is_annotated, is_elsewhere, is_lazy, tidied
from jointclust.rows.arrays import columns_at, is_device_array, like, namespace, to_host
from jointclust.rows.memory import check_memory
from jointclust.types import Array, Float
from jointclust.views.cells import cells_of
from jointclust.views.columns import check_columns, columns_named, columns_of, is_table, names_of, numbers_in, unfolded
from jointclust.views.counts import Words
from jointclust.views.encoder import MixedEncoder
from jointclust.views.gaps import LowRankImputer
from jointclust.views.kinds import Described, as_array, described, is_documents
from jointclust.views.level_weights import WeightedLevels, level_weights
from jointclust.views.registry import VIEWS
from jointclust.views.rule import percent
from jointclust.views.transformer import Transformer
from jointclust.views.usage import NAMED

# How the note begins on columns that are left out beyond those that have notes of their own.
FURTHER = "further columns"
# Shares of gaps, in the cells of a row and in all cells, that raise a warning.
EMPTY_ROW, _MOSTLY_GAPS = 0.9, 0.5


class Coded(NamedTuple):
    """Rows of numbers without gaps, and which of them had no value to begin with; None where each has one."""

    rows: Any
    is_empty: NDArray[np.bool_] | None


class Preparation(Transformer):
    """Makes the rows of one view from data: describes and codes them, fills their gaps, and scales them.

    Ids, constant columns and columns that depend on no others are left out of tables. Categories and dates are coded by
    :class:`jointclust.MixedEncoder`, gaps are filled by :class:`jointclust.LowRankImputer`, words of documents are
    counted. Coded categories stay as coded when numbers are scaled, and count as far as they go with other columns.
    ``notes_`` say what was done.

    Parameters
    ----------
    view : str, default="auto"
        "as is", "standardised", "rank-normal", "unit rows", "tf-idf", "topics", "log" or "scaled genes"; "auto" is the
        first view that :func:`jointclust.describe` names for the kind of data.
    columns : "related", "all" or list of str, default="related"
        The columns to use: those that depend on others, all, or these; ``["related", "city"]`` is the first and city.

    Attributes
    ----------
    description_ : Description
        What the data are, and why.
    view_, reason_ : str
        Name of the view, and why it was taken.
    notes_ : list of str
        What was done to the data, and why.
    encoder_ : MixedEncoder, Words or None
        What made numbers of the columns or documents; None where they are numbers.
    imputer_ : LowRankImputer or None
        What fills gaps.
    scaler_ : transformer
        The view itself.
    numeric_ : array of bool or None
        Which of the coded columns hold numbers; None where all do.
    weighted_ : array of bool
        Which of the coded columns have weights: levels of categories, numbers of two values.
    weights_ : array or None
        What those are multiplied by in a view; None where no columns have weights.
    kept_ : array of int or None
        Positions of the columns that are used; None where all are.

    Examples
    --------
    >>> import pandas as pd
    >>> from jointclust.views.preparation import Preparation
    >>> table = pd.DataFrame({"name": list("abcd"), "size": [9.0, 20.0, 30.0, 45.0], "red": [True, True, False, False]})
    >>> preparation = Preparation().fit(table)
    >>> preparation.get_feature_names_out().tolist()
    ['size', 'red']
    >>> preparation.view_
    'standardised'
    """

    _takes = ("allow_nan", "categorical", "sparse", "string")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "view": [StrOptions({"auto", *VIEWS})],
        "columns": [StrOptions({"related", "all"}), list, tuple],
    }

    # Models of 0.2 used all columns, and gave levels no weights.
    columns: str | list[Any] = "all"
    weights_: Float | None = None
    units_: dict[str, str] = {}  # noqa: RUF012
    weighted_: NDArray[np.bool_]
    # Whether tables may have further columns, which are left aside, and theirs in any order: as on the command line.
    takes_others_: bool = False

    def __init__(self, view: str = "auto", columns: str | list[Any] = "related"):
        self.view = view
        self.columns = columns

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None, n_samples: int | None = None) -> Self:
        """Learn what the data are, and the statistics of the view.

        Parameters
        ----------
        X : data frame, array, sparse matrix, AnnData or list of str
            The data.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; a weight of 2 is the row twice.
        n_samples : int, optional
            How many rows there are, where X is a sample of them.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self.fit_encode(X, sample_weight, n_samples)
        return self

    def fit_encode(
        self,
        X: Any,
        sample_weight: ArrayLike | None = None,
        n_samples: int | None = None,
        *,
        others_have_gaps: bool = False,
    ) -> tuple[Coded, Described]:
        """Fit as :meth:`fit` does; what :meth:`coded` gives for the rows, and the columns that were looked at.

        Of a sample, ``others_have_gaps`` says whether there may be gaps among all rows.
        """
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        looked_at = described(X, self.columns, n_samples)
        self.description_ = looked_at.description
        self.view_ = self.description_.views[0] if self.view == "auto" else self.view
        self.notes_: list[str] = list(self.description_._notes)
        self._warn_of_sentinels(is_elsewhere(X))
        self.encoder_: MixedEncoder | Words | None = None
        self.imputer_: LowRankImputer | None = None
        self.kept_: NDArray[np.intp] | None = None
        data = self._checked(X, reset=True)
        self._learn_columns(data)
        data = self._restricted(data)
        if self.encoder_ is not None:
            self.encoder_.fit(data, sample_weight=sample_weight)
            # Why a column is left out by the kind given to the encoder, the description says.
            self.notes_ += [note for note in getattr(self.encoder_, "notes_", []) if "kind is given as" not in note]
        self._check_memory(data)
        rows = self._numbers(data)
        if not sp.issparse(rows) and not is_elsewhere(rows):
            # Tables may have gaps later even if they have none now; other data are filled where they have gaps.
            has_gaps = bool(np.isnan(rows).any())
            if has_gaps or others_have_gaps or self.description_.kind in ("table", "mixed"):
                self.imputer_ = LowRankImputer().fit(rows, sample_weight=sample_weight)
            self.notes_ += ["gaps are filled in from the other columns of the row"] * (has_gaps or others_have_gaps)
            self._warn_of_gaps(rows)
        is_empty, rows = self._are_empty(rows), self._filled(rows)
        if is_empty is not None and isinstance(self.encoder_, Words):
            tell(describe_empty(is_empty), UserWarning)
        self.numeric_: NDArray[np.bool_] | None = None
        self.weights_ = None
        if isinstance(self.encoder_, MixedEncoder) and self.encoder_.levels_:
            self.numeric_ = self._of_coded_columns(self.encoder_, np.zeros_like).astype(bool)
            # Levels of columns that a user names, or that are used because none are related, count whatever they are.
            if self.description_.has_related:
                columns = self._columns_of_codes(self.encoder_)
                free = np.array([column.why != NAMED for column in self.description_.columns if column.used])
                self.weighted_ = (~self.numeric_ | looked_at.two_valued()[columns]) & free[columns]
                self.weights_ = level_weights(rows, columns, self.numeric_, self.weighted_, sample_weight)
        self._learn_view(rows, sample_weight)
        return Coded(rows, is_empty), looked_at

    def _check_memory(self, data: Any) -> None:
        """Refuse tables that need more memory than is free: coded rows are held three times."""
        if isinstance(self.encoder_, MixedEncoder):
            width = self.encoder_.get_feature_names_out().size
            what = f"To code {data.shape[0]:,} rows as {width:,} columns of numbers"
            remedy = "give fewer rows or columns, or a Dask data frame, of which only a sample is coded at once"
            check_memory(3 * 8.0 * data.shape[0] * width, what, remedy)

    def _warn_of_sentinels(self, elsewhere: bool) -> None:
        """Warn which numbers are taken for gaps. Of rows outside memory none are."""
        where: dict[float, list[str]] = {}
        for position, value in self.description_._sentinels:
            where.setdefault(value, []).append(self.description_.columns[position].name)
        listed = [
            f"{value:.10g} in {', '.join(map(repr, names[:3]))}{f' and {len(names) - 3} more' if names[3:] else ''}"
            for value, names in where.items()
        ]
        if listed:
            how = "stay numbers, as X is not in memory" if elsewhere else "are gaps"
            problem = f"Numbers that stand far outside, as marks for missing cells do, {how}"
            tell(f"{problem}: {'; '.join(listed)}.", UserWarning)
        if elsewhere:
            self.description_ = replace(self.description_, _sentinels=())

    def _warn_of_gaps(self, rows: Float) -> None:
        """Warn of rows with hardly any value, and of a table that is mostly gaps."""
        gaps = np.isnan(rows[:, self._first_of_each()])
        empty, share = int(np.sum(gaps.mean(axis=1) >= EMPTY_ROW)), float(gaps.mean())
        sentences = []
        if empty:
            sentences.append(
                f"{empty:,} of {len(gaps):,} rows have no value in {EMPTY_ROW:.0%} of the columns or more: where they "
                "belong is a guess; leave them out"
            )
        if share > _MOSTLY_GAPS:
            sentences.append(
                f"{percent(share)} of the cells are gaps: what fills them is mostly the mean; "
                "leave out columns and rows that are nearly empty"
            )
        if sentences:
            tell(f"{'. '.join(sentences)}.", UserWarning)

    def _first_of_each(self) -> Any:
        """Positions of coded columns, one for each column of the data."""
        if not isinstance(self.encoder_, MixedEncoder):
            return slice(None)
        shares = self.encoder_.shares_
        used = [name for name in self.encoder_.kinds_ if name in shares or name in self.encoder_.mean_]
        return np.cumsum([0, *[shares[name].size if name in shares else 1 for name in used]])[:-1]

    def beside(self, view: str, coded: Any, sample_weight: ArrayLike | None = None) -> Self:
        """The same data in another view, as a fitted copy that shares what codes and fills.

        ``coded`` are the data of fit as :meth:`encode` gives them.
        """
        if view not in VIEWS:
            raise ValueError(f"view={view!r} is unknown: choose from {', '.join(VIEWS)}.")
        other = copy.copy(self)
        other.view = other.view_ = view
        other.notes_ = [note for note in self.notes_ if not note.startswith("view ")]
        other._learn_view(coded, sample_weight)
        return other

    def _learn_view(self, rows: Any, sample_weight: ArrayLike | None) -> None:
        """The statistics of the view."""
        view = VIEWS[self.view_]
        if self.numeric_ is not None and "numeric" not in view.cls().get_params():
            raise ValueError(
                f"View {self.view_!r} is for counts and documents, and X has categories: use 'standardised', "
                "'rank-normal' or 'as is'."
            )
        self.scaler_ = view.cls() if self.numeric_ is None else view.cls(numeric=self.numeric_)
        if self.numeric_ is not None and self.weights_ is not None:
            self.scaler_ = WeightedLevels(self.scaler_, self.weighted_, self.weights_)
        self.scaler_.fit(rows, sample_weight=sample_weight)
        self.reason_ = f"{self.description_.kind}: {self.description_.reasons[0]}; {view.reason}"
        self.notes_.append(f"view {self.view_!r}: {self.reason_}")

    def encode(self, X: Any) -> Any:
        """Rows of numbers without gaps, before the view scales them, of data with the columns of fit."""
        return self.coded(X).rows

    def coded(self, X: Any) -> Coded:
        """The same, with the rows that have no value in any of the columns that are used."""
        check_is_fitted(self)
        if is_device_array(X) and (self.description_._sentinels or _has_gaps(X)):  # gaps are filled on the host
            coded = self.coded(to_host(X))
            return coded._replace(rows=like(coded.rows, X))
        rows = self._numbers(self.restricted(X))
        return Coded(self._filled(rows), self._are_empty(rows))

    def restricted(self, X: Any) -> Any:
        """The columns of data that are used; the text of documents."""
        return self._restricted(self._checked(X, reset=False))

    def readable(self, coded: Any) -> Any:
        """Coded rows as people read them: numbers in their own units, 1 for a level that a row has and 0 else.

        Their columns are named by :meth:`coded_names`; a gap that was filled has the shares of the levels.
        """
        if self.numeric_ is None or not isinstance(self.encoder_, MixedEncoder):
            return coded
        shares = self._of_coded_columns(self.encoder_, lambda shares: shares)
        return np.where(self.numeric_, coded, np.round(coded * np.sqrt(shares) + shares, 12))

    def transform(self, X: Any) -> Any:
        return self.scaler_.transform(self.encode(X))

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray:
        return self.scaler_.get_feature_names_out(self.coded_names())

    def coded_names(self, columns: Sequence[str] | None = None) -> NDArray:
        """Names of the columns of :meth:`encode`; the argument names the columns of data that had no names."""
        check_is_fitted(self)
        names = None if columns is None else np.asarray(columns, dtype=object)
        if self.encoder_ is not None:
            is_unnamed = names is not None and not hasattr(self.encoder_, "feature_names_in_")
            own = names if self.kept_ is None or names is None else names[self.kept_]
            names = self.encoder_.get_feature_names_out(own if is_unnamed else None)
        else:
            names = super().get_feature_names_out() if names is None else names
            names = names if self.kept_ is None else names[self.kept_]
        return names if self.imputer_ is None else self.imputer_.get_feature_names_out(names)

    # -- steps --------------------------------------------------------------------------------------------------

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Documents, a table, or a matrix of numbers; its columns counted and their names noted or compared."""
        X = X if reset else self.own_columns(X)
        documents = is_documents(X)
        if not reset and documents == hasattr(self, "n_features_in_"):
            raise TypeError("X is not of the form that fit was given: a list of strings, or a table.")
        if documents:
            return X
        matrix = X.X if is_annotated(X) else X
        if reset or not sp.issparse(matrix):
            matrix = unfolded(matrix)
        if sp.issparse(matrix):
            matrix = tidied(matrix)
        elif not (is_table(matrix) or is_elsewhere(matrix)):
            matrix = as_array(matrix)
        if reset:
            self._is_sparse = sp.issparse(matrix)
        elif self._is_sparse != sp.issparse(matrix) and not is_elsewhere(matrix) and not is_table(matrix):
            matrix = sp.csr_array(matrix) if self._is_sparse else matrix.toarray()  # views of either differ
        if reset or not self.lacks_unused(matrix):
            check_columns(self, matrix, reset=reset)
        return matrix

    def own_columns(self, X: Any) -> Any:
        """A table with the columns of fit, in that order, where it may have others; anything else as it is."""
        names = getattr(self, "feature_names_in_", None)
        if not self.takes_others_ or names is None or not is_table(X) or isinstance(X, np.ndarray):
            return X
        given = names_of(X)
        own = [name for name in names.tolist() if name in set(given)]
        return X if own in ([], given) else columns_named(X, own)

    def lacks_unused(self, X: Any) -> bool:
        """Whether a table has the columns of fit, in that order, but for some that are not used."""
        if self.kept_ is None or not hasattr(self, "feature_names_in_") or not is_table(X) or isinstance(X, np.ndarray):
            return False
        given, known = set(names_of(X)), self.feature_names_in_.tolist()
        expected = [name for name in known if name in given]
        return expected == names_of(X) and given.issuperset(self.feature_names_in_[self.kept_])

    def _restricted(self, data: Any) -> Any:
        """The columns that are used; the text, if each row of a table is a document."""
        if self.description_.kind == "documents":
            if not hasattr(data, "columns") and not hasattr(data, "column_names"):
                return data
            position = int(np.flatnonzero(self.description_.used)[0])
            return data[names_of(data)[position]]
        if self.kept_ is None:
            return data
        if not is_table(data) or isinstance(data, np.ndarray):
            return columns_at(data, self.kept_) if is_elsewhere(data) else data[:, self.kept_]
        known = getattr(self, "feature_names_in_", None)  # scikit-learn keeps no names that are numbers
        known = names_of(data) if known is None else known
        names = [known[index] for index in self.kept_]
        return data.select(names) if hasattr(data, "column_names") else data[names]

    def _learn_columns(self, data: Any) -> None:
        """What makes numbers of the data, and which columns are used."""
        description = self.description_
        if description.kind == "documents":
            self.encoder_ = Words()
            return
        if is_elsewhere(data) and description.kind == "mixed":
            raise TypeError(
                f"Categories, booleans and dates are coded in memory; X is {type(data).__name__}: load it first."
            )
        if not description.used.all() and (is_lazy(data) or not is_elsewhere(data)):
            self.kept_ = np.flatnonzero(description.used)
        self.units_ = {}
        if is_table(data) and not is_elsewhere(data) and description.kind not in ("table", "mixed"):
            named = zip(names_of(data), columns_of(data), strict=True)
            self.units_ = {str(name): cells_of(column, str(name)).unit for name, column in named}
        elif is_table(data) and not is_elsewhere(data):
            self.encoder_ = self._encoder([str(name) for name in names_of(self._restricted(data))])
        what = "is left out" if self.kept_ is not None else "looks like it should be left out, and is not"
        dropped = [column for column in description.columns if not column.used]
        self.notes_ += [f"column {one.name!r} {what} ({one.kind}): {one.why}" for one in dropped[:5]]
        if len(dropped) > 5:
            self.notes_.append(f"{FURTHER}, likewise: {len(dropped) - 5}")

    def _encoder(self, names: list[str]) -> MixedEncoder:
        """What codes the columns that are used, by their names; those of an array are numbers, counted anew."""
        description = self.description_
        used = [column for column in description.columns if column.used]
        sentinels: dict[str, list[float]] = {}
        for place, position in enumerate(np.flatnonzero(description.used)):
            values = [value for where, value in description._sentinels if where == position]
            sentinels |= {names[place]: values} if values else {}
        kinds = {name: column.kind for name, column in zip(names, used, strict=True)}
        return MixedEncoder(kinds, numbers="keep", sentinels=sentinels or None)

    def _numbers(self, data: Any) -> Any:
        """Numbers, perhaps with gaps, of the columns that are used."""
        if self.encoder_ is not None:
            return self.encoder_.transform(data)
        if is_elsewhere(data):
            return data
        description, used = self.description_, self.kept_ if self.kept_ is not None else range(data.shape[1])
        if is_table(data):
            named = zip(columns_of(data), names_of(data), strict=True)
            read = [numbers_in(column, name, self.units_.get(str(name))) for column, name in named]
            return np.column_stack([description.without_sentinels(one, at) for one, at in zip(read, used, strict=True)])
        dense, marks = not sp.issparse(data), {position for position, _ in description._sentinels}
        marked = [(place, at) for place, at in enumerate(used) if at in marks] if marks else []
        data = checked_numbers(
            data,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan" if dense else True,
            copy=bool(marked),
        )
        for place, at in marked:
            data[:, place] = description.without_sentinels(data[:, place], at)
        return data

    def _are_empty(self, rows: Any) -> NDArray[np.bool_] | None:
        """Which rows have no value, or no word that the fit knows; None where each has one, as zeros are."""
        if is_elsewhere(rows) or (sp.issparse(rows) and not isinstance(self.encoder_, Words)):
            return None
        if sp.issparse(rows):
            is_empty = np.diff(sp.csr_array(rows).indptr) == 0
        else:
            is_empty = np.isnan(rows[:, 0])
            is_empty[is_empty] = np.isnan(rows[is_empty]).all(axis=1)
        return is_empty if is_empty.any() else None

    def _filled(self, rows: Any) -> Any:
        if self.imputer_ is not None and is_device_array(rows):  # where there are no gaps
            return columns_at(rows, self.imputer_.kept_)
        if self.imputer_ is not None:
            return self.imputer_.fill(rows, self.coded_names())
        if not sp.issparse(rows) and not is_elsewhere(rows) and np.isnan(rows).any():
            raise ValueError("X has missing cells, and the rows of fit had none to learn from: fill them first.")
        return rows

    def _columns_of_codes(self, encoder: MixedEncoder) -> NDArray[np.intp]:
        """For each coded column, the position of its source among the columns that are used."""
        widths = [
            encoder.shares_[name].size if name in encoder.levels_ else name in encoder.mean_ for name in encoder.kinds_
        ]
        columns = np.repeat(np.arange(len(widths)), widths)
        return columns if self.imputer_ is None else columns[self.imputer_.kept_]

    def _of_coded_columns(self, encoder: MixedEncoder, of_levels: Callable[[Float], Float]) -> Float:
        """A value for each coded column: 1 for numbers, a function of the shares for the levels of a category."""
        used = [name for name in encoder.kinds_ if name in encoder.levels_ or name in encoder.mean_]
        parts = [of_levels(encoder.shares_[name]) if name in encoder.levels_ else np.ones(1) for name in used]
        values = np.concatenate(parts)
        return values if self.imputer_ is None else values[self.imputer_.kept_]


def describe_empty(is_empty: NDArray[np.bool_]) -> str:
    """How many rows have no value, and what that means."""
    problem = f"{is_empty.sum():,} of {is_empty.size:,} rows have no value in what the model uses, or no word of it"
    return f"{problem}: their labels are guesses; leave them out."


def _has_gaps(X: Array) -> bool:
    """Whether rows on a device have NaN."""
    return bool(namespace(X).any(namespace(X).isnan(X)))
