"""The rules behind the verdicts on DEC, EC and the leaderboard, and what chooses parameters: on made-up numbers."""

import json

import numpy as np
import pandas as pd
import pytest

from jointclust.experiments.findings import OURS, Claim, Findings
from jointclust.experiments.papers import (
    Item,
    _dec,
    _dec_dimensions,
    _ec,
    _honest,
    _lab,
    _leaderboard,
)

LAB = _lab.Lab(quick=False)


@pytest.fixture(autouse=True)
def no_window(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")


def verdicts(claims):
    return [claim.verdict for claim in claims]


# -- DEC --------------------------------------------------------------------------------------------------------


def dimension_runs(values, plain, n_runs=7):
    """Runs and means of figure 3: accuracies by method and dimension, which differ a little from run to run."""
    given = dict.fromkeys(_dec_dimensions.READINGS, values["DEC"]) | values
    rows = [
        {"dataset": "umist", "method": method, "dimension": d, "seed": seed, "accuracy": ours + 0.001 * seed}
        for method, value_of in {**given, "K-means": {"": plain}, "K-means (one start)": {"": plain - 0.05}}.items()
        for d, ours in value_of.items()
        for seed in range(n_runs)
    ]
    runs = pd.DataFrame(rows).assign(nmi=0.5)
    return pd.DataFrame(_lab.dimension_rows(runs)), runs


def test_rules_of_dec_figure3():
    low = {name: {1: 0.2, 2: 0.2, 3: 0.2} for name in _dec_dimensions.OTHERS}
    table, runs = dimension_runs({**low, "DEC": {1: 0.5, 2: 0.6, 3: 0.5}}, 0.3)
    good = _dec_dimensions._claims(table, runs, ["umist"], _dec_dimensions.WHOLE)
    assert verdicts(good) == ["holds", "holds", "holds", "holds", "cannot be tested"]
    assert good[0].share == "1 of 1"
    assert good[0].evidence.startswith("strong (+0.233")
    high = {name: {1: 0.7, 2: 0.8, 3: 0.9} for name in _dec_dimensions.OTHERS}
    table, runs = dimension_runs({**high, "DEC": {1: 0.1, 2: 0.2, 3: 0.3}}, 0.3)
    bad = _dec_dimensions._claims(table, runs, ["umist"], _dec_dimensions.WHOLE)
    assert verdicts(bad) == ["does not hold"] * 4 + ["cannot be tested"]
    assert bad[0].evidence.startswith("strong against it (-0.6")
    assert len(_dec_dimensions._claims(table, runs, ["umist"], _dec_dimensions.SHORT)) == 2


def test_figure3_tells_what_the_budget_of_kmeans_decides():
    """DEC is above k-means with one start at both dimensions, and above k-means at its own budget at one."""
    values = {name: {1: 0.2, 2: 0.2} for name in _dec_dimensions.OTHERS}
    table, runs = dimension_runs({**values, "DEC": {1: 0.42, 2: 0.38}}, 0.4)
    because = _dec_dimensions._claims(table, runs, ["umist"], _dec_dimensions.SHORT)[0].because
    assert "ties counted): umist 50.0%" in because
    assert because.endswith("With k-means of one start as its rival: umist 100.0%")


def test_figure3_tells_what_the_choice_of_the_trade_off_decides():
    """DEC at infinity is OLSDAKM, and ties with it; a trade-off of the paper's range is best at one dimension."""
    values = {name: {1: 0.2, 2: 0.2} for name in _dec_dimensions.OTHERS} | {"OLSDAKM": {1: 0.5, 2: 0.5}}
    own = {"DEC": {1: 0.5, 2: 0.6}, _dec_dimensions.RANGE: {1: 0.4, 2: 0.6}, _dec_dimensions.ONCE: {1: 0.4, 2: 0.4}}
    table, runs = dimension_runs({**values, **own, _dec_dimensions.FREE: {1: 0.5, 2: 0.5}}, 0.3)
    claim = _dec_dimensions._claims(table, runs, ["umist"], _dec_dimensions.SHORT)[0]
    said = [part.rpartition(": umist ")[2] for part in claim.because.replace(". ", "; ").split("; ")]
    assert said == ["100.0%", "50.0%", "50.0%", "0.0%", "100.0%", "100.0%"]


def test_joint_methods_of_figure3_are_all_of_them():
    """OLSDAKM counts: the other three alone would be above PCAKM."""
    values = {name: {1: 0.6, 2: 0.6} for name in ("OCMKM", "MMCKM", "DEC", "LDAKM")}
    table, runs = dimension_runs({**values, "PCAKM": {1: 0.5, 2: 0.5}, "OLSDAKM": {1: 0.1, 2: 0.1}}, 0.3)
    joint = _dec_dimensions._claims(table, runs, ["umist"], _dec_dimensions.SHORT)[1]
    assert joint.verdict == "does not hold"


def figure3_runs(accuracy, trade_offs):
    rows = [
        {"dataset": "a", "dimension": d, "seed": seed, "parameters": json.dumps({"trade_off": t}), "nmi": 0.5}
        | {"accuracy": accuracy(d, t), "agreement": -t, "error": "", "empty": 0}
        for d in (5, 10)
        for t in trade_offs
        for seed in range(2)
    ]
    return pd.DataFrame(rows)


def trade_offs_of(runs):
    found = _dec_dimensions.chosen(runs)
    assert len(found) == 4 * len(_dec_dimensions.READINGS | {"DEC": ""})
    return {m: own.set_index("dimension")["trade_off"].to_dict() for m, own in found.groupby("method")}


def test_trade_off_is_chosen_for_each_dimension():
    """The classes say 6 and infinity; the paper's range ends before; chosen once it is 6; agreement says 0."""
    best = {5: 6.0, 10: np.inf}

    def accuracy(d, t):
        return 1.0 if t == best[d] else 0.5 if t == 6 else 0.4 if t == 2 else 0.1

    found = trade_offs_of(figure3_runs(accuracy, (0.0, 1.0, 2.0, 6.0, np.inf)))
    assert found["DEC"] == best
    assert found[_dec_dimensions.RANGE] == found[_dec_dimensions.ONCE] == {5: 6.0, 10: 6.0}
    assert found[_dec_dimensions.FREE] == {5: 0.0, 10: 0.0}
    found = trade_offs_of(figure3_runs(lambda d, t: 0.9 if (d, t) == (5, 1) else 0.1 * t, (1.0, 2.0, 6.0)))
    assert found[_dec_dimensions.RANGE] == {5: 1.0, 10: 6.0}
    assert found[_dec_dimensions.ONCE] == {5: 6.0, 10: 6.0}


def test_no_trade_off_with_an_empty_cluster_is_chosen():
    runs = figure3_runs(lambda d, t: t, (1.0, 2.0, 6.0))
    runs.loc[runs["parameters"].str.contains("6.0") & (runs["seed"] == 1), "empty"] = 1
    assert trade_offs_of(runs)["DEC"] == {5: 2.0, 10: 2.0}
    levels = pd.DataFrame({"dataset": "a", "level": "coarse", "trade_off": [1.0, 6.0], "accuracy": [0.4, 0.5]})
    levels = levels.assign(seed=0, nmi=0.5, agreement=[0.4, 0.5], error="", empty=[0, 1])
    assert _dec.chosen_trade_offs(levels) == {"a": {"oracle": 1.0, "label-free": 1.0}}


def test_label_free_trade_off_does_not_see_accuracy():
    """Accuracy is best about 6, agreement about 1: neither choice may look at the other's column."""
    rows = [
        {"dataset": "a", "level": level, "trade_off": t, "accuracy": -abs(t - 6.25), "agreement": -abs(t - 1.25)}
        | {"seed": 0, "error": ""}
        for level, values in (("coarse", [1.0, 6.0, 11.0]), ("oracle", [6.0, 6.25]), ("label-free", [1.0, 1.25]))
        for t in values
    ]
    assert _dec.chosen_trade_offs(pd.DataFrame(rows)) == {"a": {"oracle": 6.25, "label-free": 1.25}}


def test_fine_level_of_the_label_free_search_is_about_its_own_best(monkeypatch):
    asked = []

    def over(lab, names, trade_offs):
        asked.append(trade_offs)
        columns = {"accuracy": [-abs(t - 16) for t in trade_offs], "agreement": [-abs(t - 6) for t in trade_offs]}
        return pd.DataFrame({"dataset": "other", "trade_off": trade_offs, "seed": 0, "error": ""} | columns)

    monkeypatch.setattr(_dec, "_over", over)
    table = _dec.trade_off_runs(_lab.Lab(quick=False), ["other"])
    assert (min(asked[1]), max(asked[1])) == (15.0, 17.0)
    assert (min(asked[2]), max(asked[2])) == (5.0, 7.0)
    assert _dec.chosen_trade_offs(table)["other"] == {"oracle": 16.0, "label-free": 6.0}


def test_fine_level_of_coil20_goes_beyond_the_papers_edge():
    assert _dec.FINE == {"umist": (17, 19), "coil20": (2, 6), "isolet5": (2, 4)}


@pytest.mark.parametrize("reading", list(_dec.READINGS))
def test_rules_of_dec_figure4(reading):
    def table(objective, accuracy):
        rows = []
        for title, (rule, _) in _dec.TITLES.items():
            at = _dec.RULES.index(rule)
            for measure, ours in (("objective at the end", objective[at]), ("accuracy", accuracy[at])):
                rows.append({"dataset": "a", "method": title, "measure": measure, "dimension": 1, "ours": ours})
        return pd.DataFrame(rows)

    for objective in ([3, 2, 1], [-1, -2, -3]):
        claims = _dec._figure4_claims(table(objective, [0.5, 0.4, 0.3]), ["a"], reading)
        assert verdicts(claims) == ["holds", "holds"]
    lower = _dec._figure4_claims(table([1, 2, 1], [0.3, 0.4, 0.3]), ["a"], reading)
    assert verdicts(lower) == ["does not hold", "does not hold"]


def test_convergence_is_asked_of_comparison_in_every_reading():
    runs = pd.DataFrame({"method": list(_dec.TITLES), "objective_history_": [[1, 2]] * len(_dec.TITLES)})
    assert _dec._convergence(runs).verdict == "holds"
    runs.at[runs.index[runs["method"] == "minimization"][0], "objective_history_"] = [2, 1]
    assert _dec._convergence(runs).verdict == "holds"
    runs.at[runs.index[runs["method"] == "comparison, as printed"][0], "objective_history_"] = [2, 1]
    assert (_dec._convergence(runs).verdict, _dec._convergence(runs).share) == ("holds in part", "2 of 3")


def test_rules_of_ec_figure1():
    def claims(ec):
        rows = [
            {"dataset": "a", "method": m, "dimension": d, "seed": seed, "accuracy": value + 0.001 * seed, "nmi": 0.5}
            for seed in range(7)
            for m, d, value in [
                *((m, "", 0.4) for m in ("k-means", "RMKMC")),
                *((m, d, ec if m == "EC" else 0.5) for m in _ec.CURVES for d in (1, 2, 3)),
            ]
        ]
        runs = pd.DataFrame(rows)
        return _ec._figure1_claims(pd.DataFrame(_lab.dimension_rows(runs)), runs, ["a"])

    assert verdicts(claims(0.6)) == ["holds"]
    assert verdicts(claims(0.45)) == ["does not hold"]


def test_rules_of_times():
    def table(ours):
        rows = [
            {
                "dataset": "coil20",
                "method": m,
                "measure": "seconds",
                "setting": 6,
                "paper": 1.0,
                "ours": ours.get(m, 1.0),
                "difference": 0.0,
            }
            for m in (*_dec.METHODS, "textbook DEC")
        ]
        return pd.DataFrame(rows)

    found = _dec._time_findings(LAB, "table 4", table({"K-means": 0.1, "PCAKM": 0.2}), 3.0, [], [], shaped=False)
    assert verdicts(found.claims) == ["holds", "holds"]
    found = _dec._time_findings(LAB, "table 4", table({"K-means": 9, "OCMKM": 5}), 3.0, [], [], shaped=False)
    assert verdicts(found.claims) == ["holds in part", "does not hold"]


def test_times_say_what_stands_in_and_how_many_runs():
    ours = {"dataset": "umist", "measure": "seconds", "setting": 2, "paper": 1.0, "ours": 1.0, "difference": 0.0}
    table = pd.DataFrame([ours | {"method": m} for m in (*_dec.METHODS, "textbook DEC")])
    found = _dec._time_findings(LAB, "table 5", table, 3.0, ["pollen"], ["umist"], shaped=True)
    assert found.notes[0] == "umist stands in for the missing data and has about their shape."
    assert "(3; of the textbook loop 1)" in found.notes[1]
    found = _dec._time_findings(LAB, "table 5", table, 3.0, ["pollen"], ["umist"], shaped=False)
    assert "another shape" in found.notes[0]


def test_rules_of_the_toy():
    plain = {"K-means": 0.6, "K-means, 10 starts": 0.5, "K-means, 100 starts": 0.5}

    def found(settings, best, **more):
        means = plain | dict(zip(("0", "1", "10", "20", "comparison"), settings, strict=True)) | more
        return verdicts(_dec._toy_claims(means, pd.Series(best)))

    assert found((0.5, 0.5, 0.8, 0.9, 0.999), [0.999, 0.998]) == ["holds", "holds"]
    assert found((0.5, 0.5, 0.8, 0.8, 0.9), [0.999, 0.998]) == ["holds in part", "does not hold"]
    assert found((0.5, 0.9, 0.8, 0.95, 0.9), [0.999, 0.99]) == ["does not hold", "does not hold"]
    assert found((0.5, 0.5, 0.8, 0.9, 0.9), [1.0, 1.0], **{"K-means": 0.95}) == ["does not hold", "holds"]


def test_rules_of_dec_figure5():
    assert verdicts(_dec._trade_off_claims({"a": 0.06}, {"a": 0.04})) == ["holds", "holds"]
    assert verdicts(_dec._trade_off_claims({"a": 0.04}, {"a": 0.06})) == ["does not hold", "does not hold"]


@pytest.mark.parametrize(("isolet", "expected"), [(0.7, "holds"), (0.51, "does not hold")])
def test_rules_of_isolet_in_figure3(isolet, expected):
    """Best by most of all sets, and above PCAKM by more than two points."""
    values = {name: {1: 0.5, 2: 0.5} for name in _dec_dimensions.OTHERS}
    _, runs = dimension_runs({**values, "DEC": {1: isolet, 2: isolet}}, 0.3)
    other = runs.assign(accuracy=runs["accuracy"].where(runs["method"] != "DEC", 0.55))
    both = pd.concat([runs.assign(dataset="isolet5"), other])
    table = pd.DataFrame(_lab.dimension_rows(both))
    wide = {name: _dec_dimensions.wide_of(table, name) for name in ("isolet5", "umist")}
    claims = _dec_dimensions._more_claims(wide, {"isolet5": 0.3, "umist": 0.3}, both)
    assert verdicts(claims[-2:]) == [expected, expected]


def test_evidence_of_figure4_is_against_the_best_other_rule():
    """Objectives by their size, accuracies as they are, run by run."""
    ours = [t for t, (rule, how) in _dec.TITLES.items() if how == "ours"]
    offset = dict(zip(ours, (0.0, -0.2, -0.1), strict=True))

    def found(sign):
        rows = [
            {"dataset": "a", "seed": seed, "method": m, "end": 100 + 100 * sign * off, "accuracy": 0.5 + sign * off}
            for m, off in offset.items()
            for seed in range(7)
        ]
        runs = pd.DataFrame(rows)
        long = [
            {"dataset": "a", "method": m, "measure": measure, "dimension": 1, "ours": own[column].mean()}
            for m, own in runs.groupby("method")
            for measure, column in (("objective at the end", "end"), ("accuracy", "accuracy"))
        ]
        return _dec._figure4_claims(pd.DataFrame(long), ["a"], "ours", runs, runs)

    for_it, against = found(1), found(-1)
    assert for_it[0].evidence.startswith("strong (+0.111")  # 10 of 90
    assert for_it[1].evidence.startswith("strong (+0.100")
    assert against[0].evidence.startswith("strong against it (-0.182")  # 20 of 110
    assert against[1].evidence.startswith("strong against it (-0.200")


# -- EC ---------------------------------------------------------------------------------------------------------


def by_runs(values, measure="nmi", n_runs=7):
    """Runs in which methods have a value each, a little more from run to run, and the table of their means."""
    rows = [
        {"dataset": "a", "method": m, "seed": seed, "nmi": value + 0.001 * seed, "accuracy": value + 0.001 * seed}
        for m, value in values.items()
        for seed in range(n_runs)
    ]
    runs = pd.DataFrame(rows)
    means = runs.groupby("method")["nmi"].mean()
    ours = 1 - means if measure == "error" else means
    return pd.DataFrame({"dataset": "a", "method": ours.index, "measure": measure, "ours": ours.to_numpy()}), runs


@pytest.mark.parametrize("measure", ["error", "nmi"])
def test_rules_of_ec_table1(measure):
    others = {"k-means": 0.5, "RMKMC": 0.6, "OLSDA": 0.4}
    better = _ec._table1_claim(*by_runs(others | {"EC": 0.7}, measure), ["a"], measure)
    worse = _ec._table1_claim(*by_runs(others | {"EC": 0.55}, measure), ["a"], measure)
    assert verdicts([better, worse]) == ["holds", "does not hold"]
    assert better.evidence.startswith("strong (+0.100")
    assert worse.evidence.startswith("strong against it (-0.050")


def test_rule_of_the_anchors_which_no_paper_has():
    good = _ec._anchor_claim(*by_runs({"anchors, 50": 0.5, "rows, 50": 0.4}), ["a"], 50)
    bad = _ec._anchor_claim(*by_runs({"anchors, 50": 0.4, "rows, 50": 0.5}), ["a"], 50)
    assert verdicts([good, bad]) == ["holds", "does not hold"]
    assert good.evidence.startswith("strong (+0.100")
    assert good.text.startswith(OURS)


# -- the leaderboard, and all items -----------------------------------------------------------------------------


def test_rule_of_the_leaderboard():
    """Data sets are what is paired, and only label-free choices count."""

    def claim(default):
        rows = [
            {"dataset": f"set {n}", "method": m, "selection": selection, "accuracy": value}
            for n, ours in enumerate(default)
            for m, value in ((_leaderboard.DEFAULT, ours), (_leaderboard.PLAIN, 0.5))
            for selection, value in (("label-free", value), ("oracle", 1 - value))
        ]
        return _leaderboard._against(pd.DataFrame(rows), _leaderboard.PLAIN)

    better, worse, part = claim([0.6] * 7), claim([0.4] * 7), claim([0.6] * 6 + [0.5])
    assert verdicts([better, worse, part]) == ["holds", "does not hold", "holds in part"]
    assert better.evidence.endswith("over 7 paired data sets)")
    assert worse.evidence.startswith("strong against it (-0.100")
    assert part.share == "6 of 7"


def test_leaderboard_says_who_reduces_the_rows():
    given = {name: method[0] for name, method in _leaderboard.methods().items() if isinstance(method, tuple)}
    assert _leaderboard.reducing() == ["LDAKMeans", "EC", "OLSDA"]
    assert all(given[name].variance is not None for name in _leaderboard.reducing())


def test_claims_on_data_of_which_most_are_missing_are_not_tested():
    item = Item("ec", "t", "t", ("a", "b", "c"), lambda lab: Findings("ec", "t", "t"))
    claims = [Claim("x", "holds", "by 0.1", "1 of 1", "strong"), Claim("y", "cannot be tested", "needs c")]
    kept = _honest(item, Findings("ec", "t", "t", claims=list(claims), missing=["a"]))
    assert kept.claims == claims
    gone = _honest(item, Findings("ec", "t", "t", claims=list(claims), missing=["a", "b"])).claims
    assert verdicts(gone) == ["cannot be tested"] * 2
    assert gone[0].because == "needs a, b. Without: by 0.1"
    assert gone[0].evidence == ""
    assert gone[1] == claims[1]
