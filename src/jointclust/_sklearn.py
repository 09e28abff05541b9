"""Every private or experimental name of scikit-learn that we use, in one place; last seen in 1.9.

A new version of scikit-learn may move any of them: `tests/test_package.py` says which, and this file is all that has to
change. `sklearn.callback` is public but experimental. Beside these there are hooks, where scikit-learn and our classes
meet: it reads `_parameter_constraints` and `_n_features_out`, and the mixin gives `_init_callback_context`.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from sklearn.base import _fit_context
from sklearn.callback import CallbackContext, CallbackSupportMixin
from sklearn.cluster._k_means_lloyd import lloyd_iter_chunked_dense as lloyd_step
from sklearn.utils._param_validation import HasMethods, StrOptions, validate_params
from sklearn.utils._param_validation import Interval as _Interval
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import _get_feature_names as get_feature_names

__all__ = [
    "CallbackContext",
    "CallbackSupportMixin",
    "HasMethods",
    "Interval",
    "StrOptions",
    "check_sample_weight",
    "fit_context",
    "get_feature_names",
    "lloyd_step",
    "validate_params",
]

_Method = TypeVar("_Method", bound=Callable[..., Any])


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[_Method], _Method]:
    """The decorator of scikit-learn that checks parameters before a fit.

    In addition, a fit that fails or is interrupted leaves the estimator as it was: it has all attributes of before.
    """
    checked = _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)

    def decorate(method: _Method) -> _Method:
        fitted = checked(method)

        @wraps(method)
        def fit(self: Any, *arguments: Any, **options: Any) -> Any:
            before = dict(vars(self))
            try:
                return fitted(self, *arguments, **options)
            except BaseException:
                self.__dict__ = before
                raise

        return cast(_Method, fit)

    return decorate


class Interval(_Interval):
    """A range of numbers, which True and False are not in."""

    def is_satisfied_by(self, val: object) -> bool:
        """Whether this is a number in the range."""
        return not isinstance(val, bool) and super().is_satisfied_by(val)
