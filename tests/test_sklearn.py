"""What each private name of scikit-learn does for us: a new version that passes this file can be allowed."""

from numbers import Integral, Real
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import InvalidParameterError

import jointclust._sklearn as private
from jointclust._sklearn import (
    CallbackContext,
    CallbackSupportMixin,
    HasMethods,
    Interval,
    StrOptions,
    check_sample_weight,
    fit_context,
    get_feature_names,
    lloyd_step,
    validate_params,
)


class Mean(CallbackSupportMixin, BaseEstimator):
    """An estimator of the mean, with a parameter of each kind that we declare."""

    _parameter_constraints: ClassVar[dict] = {
        "times": [Interval(Integral, 1, None, closed="left")],
        "share": [Interval(Real, 0, 1, closed="both"), None],
        "how": [StrOptions({"plain", "robust"}), HasMethods(["fit"]), list],
    }

    def __init__(self, times=1, share=None, how="plain"):
        self.times, self.share, self.how = times, share, how

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y=None):
        """Fit, unless the rows are empty."""
        self.begun_ = True
        context = self._init_callback_context(max_subtasks=self.times, sequential_subtasks=False)
        context.call_on_fit_task_begin(estimator=self)
        assert isinstance(context, CallbackContext)
        for number in range(self.times):
            task = context.subcontext("time", task_id=number)
            task.call_on_fit_task_begin(estimator=self)
            if task.call_on_fit_task_end(estimator=self):
                break
        if len(X) == 0:
            raise KeyboardInterrupt
        self.mean_ = np.mean(X, axis=0)
        context.call_on_fit_task_end(estimator=self)
        return self


def test_every_name_has_a_test():
    assert set(private.__all__) <= {name for name in globals() if not name.startswith("_")}


@pytest.mark.parametrize(
    "wrong",
    [{"times": 0}, {"times": 1.5}, {"times": True}, {"share": 1.1}, {"share": np.nan}, {"how": "fast"}, {"how": 3}],
)
def test_parameters_are_checked_before_a_fit(wrong):
    name, value = next(iter(wrong.items()))
    with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter of Mean must be .* Got .*{value}"):
        Mean(**wrong).fit([[1.0]])


def test_parameters_that_are_allowed():
    for given in ({"times": np.int64(3)}, {"share": 0}, {"share": 1.0}, {"how": Mean()}, {"how": ["a"]}):
        assert Mean(**given).fit([[1.0], [3.0]]).mean_ == 2


def test_a_fit_that_ends_early_leaves_what_was():
    model = Mean().fit([[1.0]])
    with pytest.raises(KeyboardInterrupt):
        model.fit([])
    assert model.mean_ == 1
    new = clone(model)
    with pytest.raises(KeyboardInterrupt):
        new.fit([])
    assert not hasattr(new, "begun_")


class Listener:
    """A callback that stops a fit after so many tasks."""

    def __init__(self, most):
        self.most, self.heard = most, []

    def setup(self, estimator, context, **_):
        self.heard.append("setup")

    def on_fit_task_begin(self, estimator, context, **_):
        pass

    def on_fit_task_end(self, estimator, context, **_):
        self.heard.append(context.task_name)
        return len(self.heard) > self.most

    def teardown(self, estimator, context, **_):
        self.heard.append("teardown")


def test_callbacks_hear_every_task_and_may_stop_a_fit():
    heard = []
    for most in (9, 1):
        listener = Listener(most)
        Mean(times=3).set_callbacks(listener).fit([[1.0]])
        heard.append(listener.heard)
    assert heard == [["setup", *["time"] * 3, "fit", "teardown"], ["setup", "time", "fit", "teardown"]]


def test_functions_are_checked_too():
    @validate_params({"n": [Interval(Integral, 1, 3, closed="left")]}, prefer_skip_nested_validation=True)
    def twice(n):
        return 2 * n

    assert twice(2) == 4
    with pytest.raises(InvalidParameterError, match="The 'n' parameter of .*twice must be an int"):
        twice(3)


def test_weights_of_rows():
    X = np.zeros((3, 1))
    np.testing.assert_array_equal(check_sample_weight(None, X), [1, 1, 1])
    assert check_sample_weight([1, 2, 3], X, dtype=np.float64).dtype == np.float64
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(2,\), expected \(3,\)"):
        check_sample_weight([1, 2], X)


def test_names_of_columns():
    pd = pytest.importorskip("pandas")
    assert get_feature_names(pd.DataFrame({"a": [1], "b": [2]})).tolist() == ["a", "b"]
    assert get_feature_names(np.zeros((1, 2))) is None
    with pytest.raises(TypeError, match="only supported if all input features have string names"):
        get_feature_names(pd.DataFrame({"a": [1], 0: [2]}))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_step_of_lloyd(dtype, rng):
    """Labels are those of the nearest centers, new centers the weighted means of their rows."""
    X, weights = rng.standard_normal((300, 4)).astype(dtype), rng.uniform(size=300).astype(dtype)
    old, new = X[:3].copy(), np.zeros((3, 4), dtype)
    mass, labels, moved = np.zeros(3, dtype), np.full(300, -1, np.int32), np.zeros(3, dtype)
    lloyd_step(X, weights, old, new, mass, labels, moved, n_threads=1, update_centers=True)
    nearest = ((X[:, None] - old) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(labels, nearest)
    means = [np.average(X[nearest == k], axis=0, weights=weights[nearest == k]) for k in range(3)]
    np.testing.assert_allclose(new, means, rtol=1e-4)
    np.testing.assert_allclose(mass, np.bincount(nearest, weights), rtol=1e-4)
    np.testing.assert_allclose(moved, np.linalg.norm(new - old, axis=1), rtol=1e-4)
