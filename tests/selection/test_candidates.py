"""Candidates of a search."""

import numpy as np

import jointclust as jc
from jointclust.selection.candidates import Candidate, finer, trade_off_fine, unfitted_candidates
from jointclust.selection.trade_off_path import DEFAULT_TRADE_OFFS


def test_two_levels():
    assert DEFAULT_TRADE_OFFS[0] == 0
    for best in DEFAULT_TRADE_OFFS:
        fine = trade_off_fine(best)
        assert min(best, 18.0) in fine
        assert np.all(np.diff(fine) > 0)


def test_the_second_level_keeps_the_other_parameters():
    grid = {"trade_off": "two-level", "n_init": [2]}
    first = list(unfitted_candidates(jc.DiscriminativeEmbeddedClustering(4), grid))
    assert [candidate.estimator.trade_off for candidate in first] == list(DEFAULT_TRADE_OFFS)
    second = finer(first[4])
    assert {candidate.estimator.trade_off for candidate in second} == set(trade_off_fine(2.0)) - set(DEFAULT_TRADE_OFFS)
    assert all(candidate.estimator.n_init == candidate.params["n_init"] == 2 for candidate in second)
    assert finer(Candidate(first[0].estimator, {})) == []
