import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import normalized_mutual_info_score

from jointclust.metrics import clustering_accuracy, clustering_error, normalized_mutual_info

labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


@given(labels)
@settings(max_examples=60, deadline=None)
def test_accuracy_is_the_best_over_all_matches(pairs):
    true, pred = np.array(pairs).T
    best = max(np.mean(true == np.array(p)[pred]) for p in itertools.permutations(range(4)))
    assert clustering_accuracy(true, pred) == pytest.approx(best)
    assert clustering_error(true, pred) == pytest.approx(1 - best)


def test_numbers_of_clusters_and_classes_may_differ():
    assert clustering_accuracy([0, 0, 1, 1], [0, 1, 2, 3]) == 0.5
    assert clustering_accuracy([0, 1, 2, 3], [0, 0, 1, 1]) == 0.5


def test_any_labels():
    assert clustering_accuracy(["b", "b", "a"], [-1, -1, 7]) == 1.0


def test_nmi_is_geometric():
    true, pred = [0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]
    assert normalized_mutual_info(true, pred) == pytest.approx(
        normalized_mutual_info_score(true, pred, average_method="geometric")
    )
    assert normalized_mutual_info(true, pred) != pytest.approx(normalized_mutual_info_score(true, pred))


@pytest.mark.parametrize("metric", [clustering_accuracy, clustering_error, normalized_mutual_info])
def test_bad_input(metric):
    with pytest.raises(ValueError, match="inconsistent"):
        metric([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="empty"):
        metric([], [])
    with pytest.raises(ValueError, match="1d|1D|shape"):
        metric(np.zeros((2, 2)), np.zeros((2, 2)))
