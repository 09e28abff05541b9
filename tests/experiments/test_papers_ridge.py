"""The rules behind the verdicts on uncorrelated ridge regression and the two statements, on made-up tables."""

import numpy as np
import pandas as pd
import pytest

from jointclust.experiments.papers import _lab, _rurr, _theory


def verdict(claim):
    return claim.verdict, claim.share


def made_up(values, dataset="imm", n_runs=8):
    """Runs of methods about a value each, without an empty cluster."""
    rows = [
        {"dataset": dataset, "method": method, "parameters": "{}", "seed": seed, "error": "", "empty": 0}
        | {"accuracy": value + 0.001 * seed, "nmi": value + 0.001 * seed, "agreement": 0.1, "seconds": 1.0}
        for method, value in values.items()
        for seed in range(n_runs)
    ]
    return pd.DataFrame(rows)


# -- table 1 ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("gain", "expected"), [(0.06, ("holds", "1 of 1")), (0.02, ("does not hold", "0 of 1"))])
def test_rule_of_the_printed_gains(gain, expected):
    """9.63 points in NMI on IMM hold from half of that; a set that is not here has no claim."""
    runs = made_up({"RURR-SL": 0.5 + gain, "RMKMC": 0.5})
    rows = [
        {"dataset": "imm", "method": m, "measure": measure, "ours": v}
        for measure in ("accuracy", "nmi")
        for m, v in {"RURR-SL": 0.5 + gain, "RMKMC": 0.5}.items()
    ]
    (claim,) = _rurr._gain_claims(pd.DataFrame(rows), runs)
    assert verdict(claim) == expected
    assert claim.evidence.startswith(f"strong (+{gain:.3f}")


def test_collapsed_rows_are_said():
    """From half of the fits on, with the accuracy of the collapsed fits alone."""
    runs = made_up({"FKM": 0.05, "RURR-SL": 0.6})
    assert _rurr._collapsed(runs) == []
    runs.loc[(runs["method"] == "FKM") & (runs["seed"] > 4), "empty"] = 39
    assert _rurr._collapsed(runs) == []
    runs.loc[(runs["method"] == "FKM") & (runs["seed"] > 3), "empty"] = 39
    (note,) = _rurr._collapsed(runs)
    assert note.endswith("FKM on imm (4 of 8 fits, accuracy 0.056).")


# -- figures ----------------------------------------------------------------------------------------------------


def ends(gaps):
    """Objectives of both methods by draw, RURR-SL's lower by the gap."""
    rows = [
        {"draw": draw, "method": method, "ours": 2.0 - (gap if method == "RURR-SL" else 0.0)}
        for draw, gap in enumerate(gaps)
        for method in ("URR-SL", "RURR-SL")
    ]
    return pd.DataFrame(rows)


def test_rule_of_the_smaller_objective():
    """Draw by draw, and rounding is no difference."""
    below = _rurr._lower_claim("", ends(np.linspace(0.1, 0.2, 8)))
    assert verdict(below) == ("holds", "8 of 8")
    assert below.evidence.startswith("strong (+0.15")
    assert below.evidence.endswith("8 paired draws)")
    assert verdict(_rurr._lower_claim("", ends([0.1, -0.1, 0.1]))) == ("holds in part", "2 of 3")
    assert verdict(_rurr._lower_claim("", ends([-0.1, 0.0, 1e-13]))) == ("does not hold", "0 of 3")


def test_rule_of_sparsity():
    for shares, expected in (((0.6, 0.9), "holds"), ((0.6, 0.5), "holds in part"), ((0.1, 0.4), "does not hold")):
        assert _rurr._sparse_claim(dict(zip("ab", shares, strict=True)), "").verdict == expected


def ridge_table(best, empty=()):
    """Curves over three ridges with a best one for each method, and plain k-means; some points with empty clusters."""
    rows = [
        {"method": method, "measure": measure, "units": "u", "ridge": ridge, "ours": 0.9 if ridge == top else 0.5}
        | {"empty clusters": int((method, ridge) in empty)}
        for method, top in best.items()
        for measure in ("accuracy", "nmi")
        for ridge in (0.01, 1.0, 100.0)
    ]
    plain = {"method": "k-means", "measure": "nmi", "units": "u", "ridge": "", "ours": 0.99, "empty clusters": 0}
    return pd.DataFrame([*rows, plain])


@pytest.mark.parametrize(
    ("best", "expected"),
    [
        ((1.0, 1.0), ("holds", "4 of 4")),
        ((1.0, 100.0), ("holds in part", "2 of 4")),
        ((0.01, 100.0), ("does not hold", "0 of 4")),
    ],
)
def test_rule_of_the_best_ridge(best, expected):
    table = ridge_table(dict(zip(("URR-SL", "RURR-SL"), best, strict=True)))
    assert verdict(_rurr._ridge_claim(table, "u", elsewhere=False)) == expected
    assert _rurr._ridge_claim(table, "u", elsewhere=True).verdict == "cannot be tested"
    assert _rurr._without_ridge(table) == []


def test_no_ridge_with_an_empty_cluster_is_best():
    """The next best takes its place; a method with none left is named and has no part in the claim."""
    best = {"URR-SL": 1.0, "RURR-SL": 1.0}
    table = ridge_table(best, {("URR-SL", 1.0)})
    assert _rurr._best_ridges(table, "u")["URR-SL nmi"] == 0.01
    assert _rurr._without_ridge(table) == []
    gone = {("URR-SL", ridge) for ridge in (0.01, 1.0, 100.0)}
    table = ridge_table(best, gone)
    assert verdict(_rurr._ridge_claim(table, "u", elsewhere=False)) == ("holds", "2 of 2")
    (note,) = _rurr._without_ridge(table)
    assert note.endswith(": URR-SL (u).")
    table = ridge_table(best, gone | {("RURR-SL", ridge) for ridge in (0.01, 1.0, 100.0)})
    assert _rurr._ridge_claim(table, "u", elsewhere=False).verdict == "cannot be tested"


def test_evidence_on_a_toy_is_over_draws(monkeypatch):
    """Runs on the same draw are no pairs of their own."""
    n_draws, values = 7, {"k-means (one start)": 0.5, "k-means": 0.6, "URR-SL": 0.7, "RURR-SL": 0.8}
    runs = pd.concat([made_up(values, f"nine Gaussians {draw}", n_runs=3) for draw in range(n_draws)])
    monkeypatch.setattr(_lab.Lab, "run", lambda lab, methods, data, n, **options: runs)
    by_draw, table = _rurr._toy(_lab.Lab(), "nine Gaussians")
    assert len(by_draw) == n_draws * len(values)
    assert table.set_index("method")["ours"]["RURR-SL"] == pytest.approx(0.801)
    claim = _rurr._gain(by_draw, table, "nine Gaussians", "k-means", {"URR-SL": 0.1, "RURR-SL": 0.5}, "")
    assert verdict(claim) == ("holds in part", "1 of 2")
    assert claim.evidence.endswith(f"over {n_draws} paired draws)")


# -- statements -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trivial", "rank", "expected"),
    [(0.0, 3, ["holds", "holds"]), (0.1, 3, ["does not hold", "holds"]), (0.0, 2, ["holds", "does not hold"])],
)
def test_rules_of_the_trivial_solution(trivial, rank, expected):
    objectives = {"trivial solution": (trivial, 0), "k-means' labels": (20.0, 2), "RURR-SL": (1.0, rank)}
    rows = [
        {"dataset": "iris", "method": method, "ridge": ridge, "ours": ours, _theory._RANK: r, "classes": 3}
        for ridge in (1.0, 100.0)
        for method, (ours, r) in objectives.items()
    ]
    assert [claim.verdict for claim in _theory._trivial_claims(pd.DataFrame(rows))] == expected


@pytest.mark.parametrize(
    ("sine", "value", "expected"),
    [
        (1e-9, 2.0, ["holds", "holds"]),
        (0.1, 2.0, ["does not hold", "holds"]),
        (1e-9, 1.9, ["holds", "does not hold"]),
    ],
)
def test_rules_of_theorem3(sine, value, expected):
    """With a ridge the angle counts, at the worst ridge, and not the value; without one the value and not the angle."""
    known = {"dataset": "iris", "method": "linear", "largest possible": 2.0}
    table = pd.DataFrame(
        [
            known | {"ridge": 1.0, "ours": 1e-9, "value": 1.0},
            known | {"ridge": 10.0, "ours": sine, "value": 1.0},
            known | {"ridge": 0.0, "ours": 0.9, "value": value},
        ]
    )
    assert [claim.verdict for claim in _theory._spectral_claims(table)] == expected
