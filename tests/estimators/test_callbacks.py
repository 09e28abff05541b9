import numpy as np
import pytest
from sklearn.callback import ProgressBar

import jointclust as jc


class Recorder:
    """Counts what it is told, and asks to stop after some iterations."""

    def __init__(self, stop_after=None):
        self.stop_after, self.tasks = stop_after, []

    def setup(self, estimator, context):
        self.tasks.append("setup")

    def teardown(self, estimator, context):
        self.tasks.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.tasks.append(context.task_name)
        return context.task_name == "iteration" and self.tasks.count("iteration") == self.stop_after


def test_runs_and_iterations_are_reported(digits):
    recorder = Recorder()
    model = jc.DiscriminativeEmbeddedClustering(10, update_rule="fixed", n_init=3, trade_off=2, random_state=0)
    model.set_callbacks(recorder).fit(digits.data)
    assert recorder.tasks[0] == "setup"
    assert recorder.tasks[-1] == "teardown"
    assert recorder.tasks.count("run") == 3
    one = Recorder()
    model.set_params(n_init=1).set_callbacks(one).fit(digits.data)
    assert one.tasks.count("iteration") == model.n_iter_


def test_a_callback_can_stop_a_run(digits):
    model = jc.DiscriminativeEmbeddedClustering(10, update_rule="fixed", trade_off=2, random_state=0)
    with pytest.warns(UserWarning, match="callback stopped"):
        model.set_callbacks(Recorder(stop_after=2)).fit(digits.data)
    assert model.n_iter_ == 2
    assert not model.converged_
    np.testing.assert_array_equal(model.labels_, model.predict(digits.data))


def test_sparse_scoring_is_heard_and_stopped(digits):
    model = jc.SparseOptimalDiscriminantClustering(10, n_init=2, random_state=0)
    recorder = Recorder()
    model.set_callbacks(recorder).fit(digits.data)
    assert recorder.tasks.count("iteration") == model.n_iter_ > 2
    assert recorder.tasks.count("run") == 2
    assert recorder.tasks.index("iteration") < recorder.tasks.index("embedding") < recorder.tasks.index("run")
    whole = model.objective_history_
    with pytest.warns(UserWarning, match="callback stopped"):
        model.set_callbacks(Recorder(stop_after=2)).fit(digits.data)
    assert not model.converged_
    np.testing.assert_array_equal(model.objective_history_, whole[:2])
    assert model.objective_ == whole[1]
    np.testing.assert_array_equal(model.labels_, model.predict(digits.data))


def test_given_labels_are_one_run(iris):
    recorder = Recorder()
    model = jc.OptimalDiscriminantClustering(3, init=np.asarray(iris.target)).set_callbacks(recorder)
    model.fit(iris.data)
    assert recorder.tasks == ["setup", "embedding", "run", "fit", "teardown"]


def test_progress_bar(digits, capsys):
    pytest.importorskip("rich")
    jc.LDAKMeans(10, random_state=0).set_callbacks(ProgressBar()).fit(digits.data)
    assert "LDAKMeans" in capsys.readouterr().out


def test_silent_without(digits, capsys):
    jc.LDAKMeans(10, random_state=0).fit(digits.data)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
