"""The methods that all transformers of this room have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted


class Transformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator, ABC):
    """Base of the transformers that code, fill or scale rows, with their common docstrings."""

    # Tags of scikit-learn: what the rows may be, and the types of numbers that stay.
    _takes: ClassVar[tuple[str, ...]] = ()
    _keeps: ClassVar[tuple[str, ...]] = ("float64",)

    @abstractmethod
    def fit(self, X: Any, y: None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows how to transform rows.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of str
            The rows, in a form that the class takes.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; a weight of 2 is the row twice.

        Returns
        -------
        self : object
            The fitted transformer.
        """

    @abstractmethod
    def transform(self, X: Any) -> Any:
        """Transform rows as learned.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of str
            Rows of the form and with the columns of fit.

        Returns
        -------
        Z : array or sparse matrix of shape (n_samples, n_features_out)
            The rows, where X is, and sparse where the class keeps them so; of a file, in memory.
        """

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray:
        """Names of the columns of the transformed rows.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of the rows; None takes those of fit.

        Returns
        -------
        names : array of str
            One per column.
        """
        check_is_fitted(self)
        return super().get_feature_names_out(input_features)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for name in self._takes:
            setattr(tags.input_tags, name, True)
        tags.transformer_tags.preserves_dtype = list(self._keeps)
        return tags
