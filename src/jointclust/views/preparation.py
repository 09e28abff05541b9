"""From data as people have them to the rows of one view, in one transformer."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from jointclust._sklearn import StrOptions, fit_context
from jointclust.rows import is_annotated, is_elsewhere, is_lazy, tidied
from jointclust.rows.arrays import columns_at, is_device_array
from jointclust.types import Float
from jointclust.views.columns import check_columns, columns_of, is_table, names_of, numbers_in, unfolded
from jointclust.views.counts import Words
from jointclust.views.encoder import MixedEncoder
from jointclust.views.gaps import LowRankImputer
from jointclust.views.kinds import as_array, describe, describe_sample, is_documents
from jointclust.views.registry import VIEWS
from jointclust.views.transformer import Transformer


class Preparation(Transformer):
    """Data as they come, made the rows of one view: described, coded, their gaps filled, then scaled.

    Ids and constant columns of tables are left out, categories and dates coded by :class:`MixedEncoder`, gaps filled by
    :class:`LowRankImputer`, words of documents counted; coded categories stay as coded when numbers are scaled.
    What was done is told in ``notes_``.

    Parameters
    ----------
    view : str, default="auto"
        "as is", "standardised", "rank-normal", "unit rows", "tf-idf", "topics", "log" or "scaled genes"; "auto" is the
        first view that :func:`jointclust.describe` names for the kind of data.

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

    Examples
    --------
    >>> import pandas as pd
    >>> from jointclust.views.preparation import Preparation
    >>> table = pd.DataFrame({"name": list("abcd"), "size": [1.0, 2.0, 3.0, 4.5], "red": [True, True, False, False]})
    >>> preparation = Preparation().fit(table)
    >>> preparation.get_feature_names_out().tolist()
    ['size', 'red = False', 'red = True']
    >>> preparation.view_
    'standardised'
    """

    _takes = ("allow_nan", "categorical", "sparse", "string")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"view": [StrOptions({"auto", *VIEWS})]}

    def __init__(self, view: str = "auto"):
        self.view = view

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

    def fit_encode(self, X: Any, sample_weight: ArrayLike | None = None, n_samples: int | None = None) -> Any:
        """Fit as :meth:`fit` does, and return what :meth:`encode` gives for the rows, without coding them twice."""
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self.description_ = describe(X) if n_samples is None else describe_sample(X, n_samples)
        self.view_ = self.description_.views[0] if self.view == "auto" else self.view
        self.notes_: list[str] = []
        self.encoder_: MixedEncoder | Words | None = None
        self.imputer_: LowRankImputer | None = None
        self.kept_: NDArray[np.intp] | None = None
        data = self._data(X, reset=True)
        self._learn_columns(data)
        if self.encoder_ is not None:
            self.encoder_.fit(data, sample_weight=sample_weight)
            # Why a column is left out by the kind given to the encoder, the description says.
            self.notes_ += [note for note in getattr(self.encoder_, "notes_", []) if "kind is given as" not in note]
        rows = self._numbers(data)
        if not sp.issparse(rows) and not is_elsewhere(rows):
            # Tables may have gaps later even if they have none now; other data are filled where they have gaps.
            has_gaps = bool(np.isnan(rows).any())
            if has_gaps or self.description_.kind in ("table", "mixed"):
                self.imputer_ = LowRankImputer().fit(rows, sample_weight=sample_weight)
            self.notes_ += ["gaps are filled with what the other columns of the row tell"] * has_gaps
        rows = self._filled(rows)
        self.numeric_: NDArray[np.bool_] | None = None
        if isinstance(self.encoder_, MixedEncoder) and self.encoder_.levels_:
            self.numeric_ = self._of_coded_columns(self.encoder_, np.zeros_like).astype(bool)
        self._learn_view(rows, sample_weight)
        return rows

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
        self.scaler_.fit(rows, sample_weight=sample_weight)
        self.reason_ = f"{self.description_.kind}: {self.description_.reasons[0]}; {view.reason}"
        self.notes_.append(f"view {self.view_!r}: {self.reason_}")

    def encode(self, X: Any) -> Any:
        """Rows of numbers without gaps, before the view scales them, of data with the columns of fit."""
        check_is_fitted(self)
        return self._filled(self._numbers(self._data(X, reset=False)))

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

    def coded_names(self) -> NDArray:
        """Names of the columns of :meth:`encode`."""
        check_is_fitted(self)
        encoder = self.encoder_
        names = super().get_feature_names_out() if encoder is None else encoder.get_feature_names_out()
        if self.kept_ is not None:
            names = names[self.kept_]
        return names if self.imputer_ is None else self.imputer_.get_feature_names_out(names)

    # -- steps --------------------------------------------------------------------------------------------------

    def _data(self, X: Any, *, reset: bool) -> Any:
        """Documents, a table, or a matrix of numbers; its columns counted and their names noted or compared."""
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
        check_columns(self, matrix, reset=reset)
        if self.description_.kind == "documents":
            position = int(np.flatnonzero(self.description_.of_kind("text"))[0])
            return matrix[names_of(matrix)[position]]
        return matrix

    def _learn_columns(self, data: Any) -> None:
        """What makes numbers of the data, and which columns are used."""
        found = self.description_
        if found.kind == "documents":
            self.encoder_ = Words()
            return
        left_out = found.of_kind("id", "text") | (found.of_kind("constant") & (found.kind in ("table", "mixed")))
        left_out &= not left_out.all()  # equal rows are equal in any column
        if is_elsewhere(data) and found.kind == "mixed":
            raise TypeError(
                f"Categories, booleans and dates are coded in memory; X is {type(data).__name__}: load it first."
            )
        if is_table(data) and not is_elsewhere(data) and found.kind in ("table", "mixed"):
            kinds = {column.name: column.kind for column in found.columns}
            sentinels: dict[str, list[float]] = {}
            for position, value in found._sentinels:
                sentinels.setdefault(found.columns[position].name, []).append(value)
            self.encoder_ = MixedEncoder(kinds, numbers="keep", sentinels=sentinels or None)
        elif left_out.any() and (is_lazy(data) or not is_elsewhere(data)):
            self.kept_ = np.flatnonzero(~left_out)
        used = self.encoder_ is None and self.kept_ is None
        dropped = [column for column, out in zip(found.columns, left_out, strict=True) if out]
        for column in dropped[:5]:
            what = "looks like it should be left out, and is not" if used else "is left out"
            self.notes_.append(f"column {column.name!r} {what} ({column.kind})")
        if len(dropped) > 5:
            self.notes_.append(f"{len(dropped) - 5} more columns likewise")

    def _numbers(self, data: Any) -> Any:
        """Numbers, perhaps with gaps."""
        if self.encoder_ is not None:
            return self.encoder_.transform(data)
        if is_elsewhere(data):
            if self.kept_ is None:
                return data
            names = names_of(data) if is_table(data) else []
            return data[[names[index] for index in self.kept_]] if names else columns_at(data, self.kept_)
        if is_table(data):
            names, columns = names_of(data), list(columns_of(data))
            used = range(len(names)) if self.kept_ is None else self.kept_
            read = [numbers_in(columns[index], names[index]) for index in used]
            found = self.description_
            return np.column_stack([found.without_sentinels(one, at) for one, at in zip(read, used, strict=True)])
        dense, marked = not sp.issparse(data), sorted({position for position, _ in self.description_._sentinels})
        data = check_array(
            data,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan" if dense else True,
            copy=bool(marked),
        )
        for at in marked:
            data[:, at] = self.description_.without_sentinels(data[:, at], at)
        return data if self.kept_ is None else data[:, self.kept_]

    def _filled(self, rows: Any) -> Any:
        if self.imputer_ is not None and is_device_array(rows):  # where there are no gaps
            return columns_at(rows, self.imputer_.kept_)
        if self.imputer_ is not None:
            return self.imputer_.fill(rows, self.coded_names())
        if not sp.issparse(rows) and not is_elsewhere(rows) and np.isnan(rows).any():
            raise ValueError("X has missing cells, and the rows of fit had none to learn from: fill them first.")
        return rows

    def _of_coded_columns(self, encoder: MixedEncoder, of_levels: Callable[[Float], Float]) -> Float:
        """A value for each coded column: 1 for numbers, a function of the shares for the levels of a category."""
        used = [name for name in encoder.kinds_ if name in encoder.levels_ or name in encoder.mean_]
        parts = [of_levels(encoder.shares_[name]) if name in encoder.levels_ else np.ones(1) for name in used]
        values = np.concatenate(parts)
        return values if self.imputer_ is None else values[self.imputer_.kept_]
