"""Candidates of a search."""

import numpy as np

import jointclust as jc
from jointclust.selection.candidates import TRADE_OFF_COARSE, Candidate, finer, trade_off_fine, unfitted_candidates


def test_two_levels():
    assert TRADE_OFF_COARSE[0] == 0
    for best in TRADE_OFF_COARSE:
        fine = trade_off_fine(best)
        assert min(best, 18.0) in fine
        assert np.all(np.diff(fine) > 0)


def test_the_second_level_keeps_the_other_parameters():
    grid = {"trade_off": "two-level", "n_init": [2]}
    first = list(unfitted_candidates(jc.DiscriminativeEmbeddedClustering(4), grid))
    assert [candidate.estimator.trade_off for candidate in first] == list(TRADE_OFF_COARSE)
    second = finer(first[4])
    assert {candidate.estimator.trade_off for candidate in second} == set(trade_off_fine(2.0)) - set(TRADE_OFF_COARSE)
    assert all(candidate.estimator.n_init == candidate.params["n_init"] == 2 for candidate in second)
    assert finer(Candidate(first[0].estimator, {})) == []
