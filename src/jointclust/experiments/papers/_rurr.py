"""Data clustering via uncorrelated ridge regression (Zhang, Li, Wu and Zhao, 2020): URR-SL and RURR-SL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.cluster import KMeans

from jointclust.datasets import Dataset
from jointclust.experiments.experiment import Experiment, Grid, Method
from jointclust.experiments.findings import Claim, Findings
from jointclust.experiments.papers import _lab as common
from jointclust.experiments.papers._lab import ONE_BUDGET, STARTS, Lab, grid_of_axes, prepared, with_baseline
from jointclust.experiments.papers._textbook import OrthogonalRidge, RidgeFromTen, RMKMCFromTen, RSFKMFromTen
from jointclust.experiments.selection import chosen_runs, paired, summary
from jointclust.experiments.verdicts import gained, judged, untestable
from jointclust.methods.fuzzy import FuzzyKMeans

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

SETS = ("imm", "orl", "flower17", "colon", "gt", "ethz53", "fei", "glioma")
RIDGES = [10.0**k for k in range(-4, 5)]
NEIGHBOURS = (10, 15, 20, 25, 30, 35, 40, 45, 50)
METHODS = ("k-means", "RMKMC", "FKM", "RSFKM", "URR-SL", "RURR-SL")
EXTRA = (
    "RSFKM (capped)",
    "URR-SL (alpha tuned)",
    "RURR-SL (as printed)",
    "RURR-SL (orthogonal)",
    "k-means (one start)",
)
# Equation 4's alpha, from far below what RURR-SL finds (about the root of c / n) to near URR-SL's 1.
ALPHAS = [0.05, 0.1, 0.2, 0.4, 0.8]
# Every second ridge, for the sake of time.
TUNED = RIDGES[::2]
STARTED = "URR-SL and RURR-SL start from k-means and stop by what their hard labels explain."
NOTES = [
    "Rows are scaled so that the mean non-zero eigenvalue of the total scatter is 1 (logarithms first for colon): "
    "the paper's ridges 10^-4 to 10^4 mean something only relative to it, and it does not give its scale.",
    f"{STARTED} 'RURR-SL (as printed)' is the paper's random start, run for 100 iterations.",
    "'URR-SL' has alpha = 1, as in the paper's table; 'URR-SL (alpha tuned)' chooses equation 4's alpha with the "
    "ridge, out of 0.05 to 0.8 and, to save time, every second ridge: it does not contain 'URR-SL', and can be below "
    "it. 'RURR-SL (orthogonal)' has the orthogonal constraint that the paper weighs and leaves (its reference 31), "
    "without a ridge, which is a constant there.",
    "RSFKM's number of neighbours, 10 to 50 in the paper, is at most c - 1: larger ones do not exist and are clipped "
    "to it. The paper's table says l2,1, its text capped l2: both are here. It runs one k-means more, for its scale.",
    "FKM has fuzzifier 2.5, as in the paper. Parameters by the oracle for each measure; 'label-free' has the value "
    "at the largest agreement.",
    "Numbers are means over the runs whose fit left no cluster empty; the column 'empty clusters' has how many did "
    "('2 of 10': a mean of eight). A method has no number on a set, and no part in its claims, where half or more of "
    "the runs left one empty, whatever the parameters; the column then counts the fits of all parameters.",
    "The paper's NMIs are not consistent with its accuracies (colon: two classes of 40 and 22, accuracy 57% with NMI "
    "69% cannot be): compare the accuracies.",
    ONE_BUDGET,
]


def _neighbours(lab: Lab, dataset: Dataset) -> dict[str, list[int]]:
    return {"n_neighbors": sorted({max(1, min(k, dataset.n_classes - 1)) for k in lab.few(NEIGHBOURS)})}


def methods(lab: Lab) -> dict[str, Method]:
    """The six methods of the paper, and the forms of URR-SL that it names; one budget."""
    ridges: Grid = {"ridge": lab.few(RIDGES, 5)}
    tuned: Grid = {"ridge": lab.few(TUNED, 3), "rescale": lab.few(ALPHAS, 3)}

    def neighbours(dataset: Dataset) -> Grid:
        return _neighbours(lab, dataset)

    return {
        "k-means": KMeans(n_init=STARTS),
        "RMKMC": RMKMCFromTen(),
        "FKM": FuzzyKMeans(fuzzifier=2.5),
        "RSFKM": (RSFKMFromTen(loss="l21"), neighbours),
        "RSFKM (capped)": (RSFKMFromTen(loss="capped"), neighbours),
        "URR-SL": (RidgeFromTen(rescale=False), ridges),
        "URR-SL (alpha tuned)": (RidgeFromTen(), tuned),
        "RURR-SL": (RidgeFromTen(), ridges),
        "RURR-SL (as printed)": (RidgeFromTen(init="random", max_iter=100), ridges),
        "RURR-SL (orthogonal)": OrthogonalRidge(),
        "k-means (one start)": KMeans(n_init=1),
    }


def _plan(lab: Lab, names: list[str]) -> Experiment:
    prepare = prepared(names, common.unit_scatter) | {"colon": common.log_unit_scatter}
    return lab.experiment(methods(lab), names, 10, shared=True, prepare=prepare)


def table1(lab: Lab) -> Findings:
    """Accuracy and NMI, eight sets, six methods."""
    names, missing, used = lab.find(SETS)
    (runs,) = lab.tables([_plan(lab, names)])
    rows = []
    for measure in ("accuracy", "nmi"):
        found = summary(runs, measure)
        rows += [common.measure_row(found, n, method, measure, measure) for n in names for method in (*METHODS, *EXTRA)]
    table = with_baseline(common.beside_paper("rurr", "table 1", rows), "k-means")
    claims = _claims(table, runs, names, missing)
    notes = [*NOTES, f"Runs for each method, set and parameters: {lab.runs(10)}.", *_collapsed(runs)]
    return Findings("rurr", "table 1", "Accuracy and NMI", table, _bars(table, names), claims, notes, missing, used)


def _collapsed(runs: DataFrame) -> list[str]:
    """Which methods left clusters empty in half of their fits or more, and what accuracy that hides."""
    found: dict[str, list[str]] = {}
    for (name, method), own in runs.groupby(["dataset", "method"], sort=False):
        fewer = own[own["empty"] > 0]
        if len(fewer) and 2 * len(fewer) >= len(own):
            text = f"{name} ({len(fewer)} of {len(own)} fits, accuracy {fewer['accuracy'].mean():.3f})"
            found.setdefault(method, []).append(text)
    texts = [f"{method} on {', '.join(names)}" for method, names in found.items()]
    said = "Collapsed: fewer clusters than asked for in half of the fits or more, over all parameters, with the mean "
    return [f"{said}accuracy of those fits: {'; '.join(texts)}."] if texts else []


def _claims(table: DataFrame, runs: DataFrame, names: list[str], missing: list[str]) -> list[Claim]:
    claims = []
    for measure, text in (
        ("accuracy", "RURR-SL is the most accurate of the six methods on every set"),
        ("nmi", "RURR-SL has the highest NMI in most cases"),
    ):
        wide, best = common.by_method(table, measure).loc[names], chosen_runs(runs, measure)
        others = list(METHODS[:5])
        claims.append(common.best_claim(text, wide, "RURR-SL", others, best, measure, most=measure == "nmi"))
    claims += [_against(table, runs, names, rival) for rival in ("URR-SL", "URR-SL (alpha tuned)", "k-means")]
    claims += _gain_claims(table, runs)
    return claims + untestable("The same on ETHZ53 and FEI", ["ethz53", "fei"], missing)


def _against(table: DataFrame, runs: DataFrame, names: list[str], rival: str) -> Claim:
    """Whether RURR-SL is better than one rival, by both measures."""
    wide = table.pivot(index="dataset", columns=["measure", "method"], values="ours")
    best = chosen_runs(runs, "accuracy")
    known = {"k-means": "plain k-means"}.get(rival, rival)
    return judged(
        f"RURR-SL is better than {known} in accuracy and NMI",
        {
            f"{n} {measure}": bool(wide.loc[n, (measure, "RURR-SL")] > wide.loc[n, (measure, rival)])
            for n in names
            for measure in ("accuracy", "nmi")
        },
        "; ".join(
            f"{n}: {wide.loc[n, ('accuracy', 'RURR-SL')]:.3f} against {wide.loc[n, ('accuracy', rival)]:.3f}"
            for n in names
        ),
        {n: paired(best, n, "RURR-SL", rival, "accuracy") for n in names},
    )


def _gain_claims(table: DataFrame, runs: DataFrame) -> list[Claim]:
    """The two gains that the paper prints in its text."""
    claims = []
    wide = table.pivot(index="dataset", columns=["measure", "method"], values="ours")
    for name, measure, claimed in (("flower17", "accuracy", 0.0268), ("imm", "nmi", 0.0963)):
        if name in wide.index:
            ours, other = (float(wide.loc[name, (measure, method)]) for method in ("RURR-SL", "RMKMC"))
            text = f"On {name} RURR-SL is {100 * claimed:.2f} points above the runner-up, RMKMC, in {measure}"
            ahead = {name: paired(chosen_runs(runs, measure), name, "RURR-SL", "RMKMC", measure)}
            claims.append(gained(text, {name: (ours - other, claimed)}, f"{ours:.4f} against {other:.4f}", ahead))
    return claims


def _bars(table: DataFrame, names: list[str]) -> Figure:
    figure, (ax,) = grid_of_axes(1, max(1.1 * len(names) + 2, 6), 3.6)
    greys = {method: f"{0.3 + 0.055 * index:.2f}" for index, method in enumerate((*METHODS, *EXTRA))}
    colours = greys | {"RURR-SL": "#c8102e", "URR-SL": "#c46a1b"}
    common.bars(ax, common.by_method(table, "accuracy").loc[names], colours, 0.08)
    ax.set_ylabel("accuracy")
    ax.legend(fontsize=7, ncols=4)
    return figure
