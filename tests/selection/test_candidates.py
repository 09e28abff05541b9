"""Candidates of a search."""

import numpy as np

import jointclust as jc
from jointclust.selection.candidates import COARSE_TRADE_OFFS, Candidate, fine_trade_offs, finer, unfitted_candidates


def test_two_levels():
    """As in the paper's figure 5: steps of 5 up to 26, then of 0.25 about the best, never down to 0."""
    assert tuple(range(1, 27, 5)) == COARSE_TRADE_OFFS
    assert fine_trade_offs(1.0) == tuple(np.arange(0.25, 2.1, 0.25))
    assert fine_trade_offs(16.0) == tuple(np.arange(15, 17.1, 0.25))


def test_the_second_level_keeps_the_other_parameters():
    grid = {"trade_off": "two-level", "n_init": [2]}
    first = list(unfitted_candidates(jc.DiscriminativeEmbeddedClustering(4), grid))
    assert [candidate.estimator.trade_off for candidate in first] == list(COARSE_TRADE_OFFS)
    second = finer(first[1])
    assert {candidate.estimator.trade_off for candidate in second} == set(fine_trade_offs(6.0)) - {6.0}
    assert all(candidate.estimator.n_init == candidate.params["n_init"] == 2 for candidate in second)
    assert finer(Candidate(first[0].estimator, {})) == []
