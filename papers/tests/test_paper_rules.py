"""What chooses parameters and makes the parts of claims, on made-up runs of which the answer is known."""

import json

import numpy as np
import pandas as pd
import pytest

from jointclust.datasets import Dataset
from jointclust_papers import claims, dec, dec_runs, ec, leaderboard, odc, rurr
from jointclust_papers import lab as common
from jointclust_papers.experiments import Journal
from jointclust_papers.experiments.selection import chosen_runs, whole
from jointclust_papers.findings import Findings, Reading, ahead, judged
from jointclust_papers.reproduction import Item, _honest


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")


NOISE = 0.01 * np.array([1, -1, 2, -2, 0.5, -0.5])


def runs_of(values, column="accuracy", **more):
    """Six runs for each key (dataset, method, parameters): a value, or a list of them; NaN is a fit that collapsed."""
    rows = []
    for (dataset, method, parameters), given in values.items():
        for seed, value in enumerate(np.broadcast_to(given, 6) + NOISE):
            known = {"dataset": dataset, "method": method, "parameters": parameters, "seed": seed}
            result = dict.fromkeys(("accuracy", "nmi", "agreement"), value) | {column: value}
            rows.append(known | result | {"empty": 0, "collapsed": int(np.isnan(value)), "error": ""} | more)
    return pd.DataFrame(rows)


def outcomes(parts):
    return [part.outcome for part in parts]


# -- selection ----------------------------------------------------------------------------------------------------


def test_collapsed_fits_are_no_candidates():
    """The best mean belongs to parameters all of whose fits collapsed."""
    runs = runs_of({("a", "m", json.dumps({"p": 1})): 0.9, ("a", "m", json.dumps({"p": 2})): 0.5})
    runs.loc[runs["parameters"] == '{"p": 1}', "collapsed"] = 1
    assert set(chosen_runs(runs)["parameters"]) == {'{"p": 2}'}
    assert whole(runs)["accuracy"].isna().sum() == 6


def test_one_failed_run_does_not_decide():
    runs = runs_of(
        {("a", "m", json.dumps({"p": 1})): [0.9, 0.9, 0.9, 0.9, 0.9, np.nan], ("a", "m", json.dumps({"p": 2})): 0.5}
    )
    assert set(chosen_runs(runs)["parameters"]) == {'{"p": 1}'}
    runs = runs_of(
        {("a", "m", json.dumps({"p": 1})): [0.9, 0.9, 0.9, *[np.nan] * 3], ("a", "m", json.dumps({"p": 2})): 0.5}
    )
    assert set(chosen_runs(runs)["parameters"]) == {'{"p": 2}'}


def test_rows_of_a_table_count_the_collapsed_and_have_none_where_most_are():
    runs = runs_of(
        {("a", "m", json.dumps({})): [0.5] * 4 + [np.nan] * 2, ("a", "n", json.dumps({})): [0.5] * 3 + [np.nan] * 3}
    )
    few, many = common.mean_rows(runs, "accuracy")
    assert few["collapsed"] == "2 of 6"
    assert few["ours"] == pytest.approx(0.5)
    assert np.isnan(many["ours"])
    error = common.oracle_rows(runs, ["a"], ["m", "n"], {"error": "accuracy"})
    assert error[0]["low"] < error[0]["ours"] < error[0]["high"]
    assert error[0]["ours"] == pytest.approx(0.5)
    assert (error[1]["parameters"], error[1]["collapsed"]) == ("", "3 of 6")


# -- parts --------------------------------------------------------------------------------------------------------


def test_against_is_the_best_rival_with_its_best_parameters():
    values = {
        ("a", "m", json.dumps({})): 0.6,
        ("a", "r", json.dumps({"p": 1})): 0.2,
        ("a", "r", json.dumps({"p": 2})): 0.7,
        ("a", "s", json.dumps({})): 0.5,
    }
    (part,) = claims.against(runs_of(values), ["a"], "m", ("r", "s"), "accuracy")
    assert (part.name, part.outcome, part.mean) == ("a, r", "against", pytest.approx(-0.1))
    (part,) = claims.against(runs_of(values), ["a"], "m", ("s",), "accuracy", 0.05)
    assert part.outcome == "for"
    (part,) = claims.against(runs_of(values), ["a"], "gone", ("s",), "accuracy")
    assert part.n == 0


def family(values):
    """Runs of figure 3, one set: accuracies by trade-off and dimension, and k-means."""
    given = {("umist", "DEC", json.dumps({"n_components": d, "trade_off": t})): v for (t, d), v in values.items()}
    given |= {("umist", "K-means", json.dumps({})): 0.5, ("umist", dec.ONE_START, json.dumps({})): 0.3}
    return runs_of(given, rows=dec.WHOLE)


def test_figure3_names_special_cases_and_chooses_within_the_papers_range():
    """Infinity is OLSDAKM and no candidate; 6 is best at one dimension and 11 at the other, 6 in the mean."""
    values = {(0.0, 4): 0.2, (0.0, 8): 0.2, (np.inf, 4): 0.9, (np.inf, 8): 0.9, (1.0, 4): 0.1, (1.0, 8): 0.1}
    values |= {(6.0, 4): 0.7, (6.0, 8): 0.55, (11.0, 4): 0.3, (11.0, 8): 0.65}
    runs = dec.chosen(dec.named(family(values)))
    each, once = (runs[runs["method"] == f"DEC, {way}"] for way in (dec.EACH, dec.ONCE))
    assert each.groupby("dimension")["trade_off"].first().to_dict() == {4: 6.0, 8: 11.0}
    assert set(once["trade_off"]) == {6.0}
    result = dec._dimension_readings(runs, "rows")
    best = {one.choice: outcomes(one.parts) for one in result["dec-best"]}
    assert set(best["rows, " + dec.EACH]) == {"against"}  # OLSDAKM is better
    assert outcomes(result["dec-joint"][0].parts) == ["for"]
    assert [one.verdict("most") for one in result["dec-umist"]] == ["holds", "holds"]
    assert result["dec-isolet"] == []


def test_figure3_without_the_collapsed_case_is_decided_by_the_start_of_kmeans():
    values = {(0.0, 4): 0.2, (0.0, 8): 0.2, (np.inf, 4): np.nan, (np.inf, 8): np.nan, (6.0, 4): 0.4, (6.0, 8): 0.4}
    result = dec._dimension_readings(dec.chosen(dec.named(family(values))), "rows")
    ten, one = result["dec-best"][:2]
    assert (ten.verdict("most"), ten.counted) == ("does not hold", True)
    assert (one.verdict("most"), one.counted) == ("holds", False)


def rule_runs(objective, accuracy):
    rows = []
    for title in dec.TITLES:
        for seed, noise in enumerate(NOISE):
            end = objective.get(title, 1.0) + noise / 100
            rows.append(
                {
                    "dataset": "a",
                    "method": title,
                    "seed": seed,
                    "trade_off": 3.0,
                    "dimension": 2,
                    "end": end,
                    "error": "",
                }
                | {"accuracy": accuracy.get(title, 0.5) + noise, "nmi": 0, "agreement": 0, "empty": 0, "collapsed": 0}
                | {"fell": title.startswith("minimization"), "rests": not title.startswith("minimization")}
            )
    return pd.DataFrame(rows)


def verdicts_of_rules(objective, accuracy):
    runs = rule_runs(objective, accuracy)
    result = dec._rule_readings(runs, runs, ["a"])
    rules = {"dec-minimization-falls": "one"}
    return {key: judged(key, "", "", "", own, rules.get(key, "every")).verdict for key, own in result.items()}


def test_exact_equality_of_rules_is_a_tie():
    """'comparison' as printed is 'fixed': the paper says larger, and equal is not."""
    result = verdicts_of_rules({"minimization": 0.5}, {"minimization": 0.1})
    assert result == {
        "dec-minimization-falls": "holds",
        "dec-comparison-rises": "holds",
        "dec-others-converge": "holds in part",
        "dec-rule-objective": "holds in part",
        "dec-comparison-avoids": "tie",
        "dec-rule-accuracy": "tie",
    }
    result = verdicts_of_rules({"comparison": 2.0}, {"comparison": 0.9})
    assert result["dec-rule-objective"] == result["dec-rule-accuracy"] == result["dec-comparison-avoids"] == "holds"


@pytest.mark.parametrize(
    ("history", "rests"),
    [
        ([1.0, 1.5, 1.8, 2.0], True),  # the labels were found again
        ([1.0, 2.0, *[1.5, 1.0] * 5], False),  # ended, because ten steps found nothing better
        ([1.0, 2.0, 1.5, 1.0, 1.0001], True),
        (list(range(1, 101)), False),  # the limit
    ],
)
def test_a_run_rests_when_it_ends_at_its_best_or_stands_still(history, rests):
    """'fixed' ends where its labels do, however large its last step was."""
    assert dec.rested(history) == rests


def test_range_is_best_less_worst():
    wide = pd.DataFrame({1.0: [0.1, 0.2], 2.0: [0.5, 0.7], 3.0: [0.2, 0.2]})
    np.testing.assert_allclose(dec._range(wide, [1.0, 2.0, 9.0]), [0.4, 0.5])
    assert len(dec._range(wide, [1.0, 9.0])) == 0  # one value has no range: no number, and not a tie


def test_equal_means_are_those_of_the_first_parameters():
    """Rounding tells 0.1 + 0.2 + 0.3 from 0.3 + 0.2 + 0.1, and cells that were written down from others."""
    runs = runs_of({("a", "m", json.dumps({"p": p})): v for p, v in ((1, 0.5), (2, 0.5 + 1e-9), (3, 0.4))})
    assert set(chosen_runs(runs)["parameters"]) == {'{"p": 1}'}


def test_a_dimension_that_gains_nothing_is_no_tie_counted_for_the_claim():
    """By the interval: an embedding that gains 0.2 is against, one that gains nothing for, one that scatters a tie."""
    values = {("umist", m, d): v for m, pair in {"a": (0.3, 0.5), "b": (0.5, 0.5)}.items() for d, v in enumerate(pair)}
    runs = runs_of(values).rename(columns={"parameters": "dimension"})
    loose = runs[runs["method"] == "b"].assign(method="c", accuracy=lambda t: t["accuracy"] + 9 * (-1) ** t["seed"])
    loose = loose.assign(accuracy=loose["accuracy"].where(loose["dimension"] == 1, 0.5))
    parts = dec._falls(pd.concat([runs, loose], ignore_index=True))
    assert outcomes(parts) == ["against", "for", "tie"]
    gone = runs.assign(accuracy=runs["accuracy"].where((runs["dimension"] == 0) | (runs["seed"] < 2)))
    assert dec._falls(gone) == []  # most fits at the last dimension collapsed


def test_figure5_leaves_out_trade_offs_that_collapsed(monkeypatch):
    """The best lambda by far is one at which every fit collapsed: it is no candidate, and sets no range."""
    given = {
        ("umist", "DEC", json.dumps({"trade_off": t})): v
        for t, v in {1.0: 0.4, 2.0: 0.45, 25.0: 0.9, 26.0: 0.9}.items()
    }
    given |= {("coil20", "DEC", json.dumps({"trade_off": t})): v for t, v in {1.0: 0.4, 6.0: 0.6, 26.0: 0.2}.items()}
    runs = common.with_parameter(runs_of(given), "trade_off", "trade_off")
    runs.loc[(runs["dataset"] == "umist") & (runs["trade_off"] > 24), "collapsed"] = 1
    assert dec_runs.coarse_best(runs[runs["dataset"] == "umist"]) == 1.0
    assert dec_runs.coarse_best(runs[runs["trade_off"] == 26.0].assign(collapsed=1)) == 1.0
    monkeypatch.setattr(dec_runs, "trade_off_runs", lambda lab, names: runs)
    monkeypatch.setattr(common.Lab, "find", lambda self, wanted: (["umist", "coil20"], [], []))
    claims = {claim.key: claim for claim in dec.figure5(common.Lab()).claims}
    assert claims["dec-lambda"].share == "1 of 1"  # coil20 alone; Umist has one coarse value left
    assert [part.name for part in claims["dec-two-levels"].readings[0].parts] == ["coil20, 6 and 6"]


def test_a_start_whose_fit_collapsed_has_no_number():
    """More columns than rows: at a large trade-off every row sits on its centroid, whatever the labels."""
    rng = np.random.RandomState(0)
    data = Dataset(rng.standard_normal((12, 40)), np.arange(12) % 3, "wide")
    assert {row["ours"] for row in dec._starts(data, 26.0, 3)} == {None}
    data = Dataset(rng.standard_normal((60, 5)), np.arange(60) % 3, "tall")
    assert all(row["ours"] is not None for row in dec._starts(data, 2.0, 3))


def test_costs_are_those_of_an_iteration(monkeypatch):
    """What is done once (9 s and 1 s here) is not shared out over the iterations."""
    steps = {"URR-SL": (9.0, 0.1), "RURR-SL": (1.0, 0.11)}

    def times(X, c, seed, n_iter):
        return {m: once + n_iter * each * (1 + 0.01 * seed) for m, (once, each) in steps.items()}

    monkeypatch.setattr(rurr, "fitting_times", times)
    with Journal() as journal:
        (part,) = rurr._costs(common.Lab(journal), ["iris"])
    assert (part.outcome, part.n) == ("for", 3)
    assert part.mean == pytest.approx(np.log(1.1))
    steps["RURR-SL"] = (1.0, 0.2)
    with Journal() as journal:
        assert outcomes(rurr._costs(common.Lab(journal), ["iris"])) == ["against"]


def test_outliers_are_judged_by_what_they_cost():
    """EC loses 0.1 and k-means 0.3, OLSDA as much as EC: for, for, tie; accuracy itself says otherwise."""
    clean, hit = {"EC": 0.4, "OLSDA": 0.6, "k-means": 0.7, "RMKMC": 0.7}, {"EC": 0.3, "OLSDA": 0.5, "k-means": 0.4}
    values = {("orl", m, json.dumps({"kind": "clean"})): v for m, v in clean.items()}
    values |= {("orl", m, json.dumps({"kind": "noise"})): v for m, v in (hit | {"RMKMC": 0.4}).items()}
    runs = runs_of(values)
    runs = runs.assign(kind=[json.loads(text)["kind"] for text in runs["parameters"]])
    lost = {m: ec._lost(runs, "orl", m, "noise") for m in clean}
    assert outcomes([ahead(m, lost[m] - lost["EC"]) for m in ("OLSDA", "k-means", "RMKMC")]) == ["tie", "for", "for"]
    assert outcomes(ec._higher(runs, ["orl"], "noise").parts) == ["against"] * 3


def test_readings_of_odc_by_scale():
    values = {
        ("iris", m, json.dumps({"ridge": 1.0})): v for m, v in zip(odc.METHODS, (0.5, 0.6, 0.6, 0.69, 0.7), strict=True)
    }
    values |= {
        ("iris", odc.VARIANCE_ONE, json.dumps({"ridge": 1.0})): 0.4,
        ("iris", "K-means (one start)", json.dumps({})): 0.3,
    }
    result = odc._readings(common.Lab(), runs_of(values), ["iris"])
    nmi = judged("", "", "", "", result["odc-nmi"])
    assert nmi.share == f"holds: {odc.UNIT}; does not hold: {odc.VARIANCE}"
    assert judged("", "", "", "", result["odc-almost"]).verdict == "depends on a choice"
    assert [one.kept() for one in result["odc-others"]] == [[], [], []]  # one parameter has no range
    assert outcomes(result["odc-sizes"][0].parts) == ["against"]  # iris has three classes, the paper prints four


def test_best_ridge_is_inside_or_not():
    values = {
        ("imm", "URR-SL", json.dumps({"ridge": r})): v for r, v in {0.1: 0.3, 1.0: 0.6, 10.0: 0.5, 100.0: 0.4}.items()
    }
    runs = common.with_parameter(runs_of(values), "ridge", "ridge")
    part = rurr._middle(runs, "accuracy", "m")
    assert (part.name, part.outcome) == ("m, 1 and 100", "for")
    gone = runs.assign(accuracy=runs["accuracy"].where(runs["ridge"] > 10))
    assert rurr._middle(gone, "accuracy", "m").outcome == "against"


def test_a_smaller_objective_is_more_than_rounding():
    def ended(gap):
        rows = [
            {
                "draw": draw,
                "method": m,
                "iterations": 9,
                "ours": 1.0 + (gap if m == "URR-SL" else 0.0) * (1 + 0.1 * draw),
            }
            for draw in range(6)
            for m in ("URR-SL", "RURR-SL")
        ]
        return rurr.less(pd.DataFrame(rows), 9, "a").outcome

    assert [ended(gap) for gap in (0.01, 1e-8, 0.0, -0.01)] == ["for", "tie", "tie", "against"]


def test_gains_count_from_half_of_their_size():
    values = {
        ("a", "RURR-SL", json.dumps({})): 0.56,
        ("a", "URR-SL", json.dumps({})): 0.53,
        ("a", "k-means", json.dumps({})): 0.5,
    }
    runs = runs_of(values, spread=1.0)
    runs = runs.assign(draw=runs["seed"])
    result = rurr._gains(runs, {"URR-SL": ("k-means", 0.045), "RURR-SL": ("k-means", 0.07)})
    assert outcomes(result[1.0]) == ["for", "for"]
    assert outcomes(rurr._gains(runs, {"URR-SL": ("k-means", 0.09)})[1.0]) == ["against"]


# -- claims -------------------------------------------------------------------------------------------------------


def test_claims_on_data_of_which_most_are_missing_are_not_tested():
    item = Item("ec", "table 1", "", ("ar", "gt", "usps"), lambda lab: None)
    claim = judged("k", "", "", "rests", [Reading([ahead("gt", [0.1, 0.11, 0.12])])])
    some = _honest(item, Findings("ec", "table 1", "", claims=[claim], missing=["ar"]))
    assert some.claims[0].verdict == "holds"
    most = _honest(item, Findings("ec", "table 1", "", claims=[claim], missing=["ar", "usps"]))
    assert most.claims[0].verdict == "cannot be tested"
    assert not most.claims[0].readings[0].counted


def test_unknown_claims_are_refused():
    with pytest.raises(ValueError, match="has no claim dec-nothing"):
        claims.claims_of("dec", "figure 2", {"dec-nothing": []})


def test_rule_of_the_leaderboard():
    rows = [
        {"dataset": name, "method": m, "selection": "label-free", "accuracy": value + 0.01 * index}
        for m, value in ((leaderboard.DEFAULT, 0.6), (leaderboard.PLAIN, 0.5))
        for index, name in enumerate("abcdef")
    ]
    assert leaderboard._against(pd.DataFrame(rows), leaderboard.PLAIN).verdict == "holds"


def test_leaderboard_has_no_method_twice_and_no_set_made_to_show_the_library():
    assert not {"RMKMC, views"} & set(leaderboard.methods())
    assert {"customers", "daily_curves", "survey", "tickets"} <= set(leaderboard.LEFT_OUT)


def test_leaderboard_says_who_reduces_the_rows():
    assert "EC" in leaderboard.reducing()
