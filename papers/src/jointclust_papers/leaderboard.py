"""All methods on all data sets: what no paper has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.pipeline import Pipeline

from jointclust import datasets, registry
from jointclust.consensus.estimator import JointConsensus
from jointclust.selection.baseline import UsualRows
from jointclust.views.preparation import Preparation
from jointclust_papers.experiments.experiment import Grid, Method
from jointclust_papers.experiments.ranking import CriticalDifferenceDisplay, rank
from jointclust_papers.experiments.selection import SELECTIONS, scores, summary
from jointclust_papers.findings import Claim, Findings, Reading, ahead, judged
from jointclust_papers.lab import STARTS, Lab, grid_of_axes, unit_scatter
from jointclust_papers.opponents import installed

# Too large for every method on two cores, the same data again, toys, or made to show what the library does.
LARGE = ("coil100", "mnist", "newsgroups20")
TOYS = ("two_gaussians", "three_clusters", "multi_clusters")
SHOWN = ("customers", "daily_curves", "survey", "tickets")
LEFT_OUT = (*LARGE, "satellite_train", *TOYS, *SHOWN)
# With one view it is RMKMC, which is there.
SAME = ("RMKMC, views",)
DEFAULT, PLAIN, PREPARED = "default (consensus)", "k-means", "prepared k-means"


def usual(X: Any) -> NDArray:
    """Rows as a practised user prepares them for k-means, scaled to unit scatter, which k-means does not see."""
    return unit_scatter(np.asarray(UsualRows().fit_transform(X)))


def methods() -> dict[str, Method]:
    """The library's methods with a few values of their main parameter, the default among them, and the usual ones."""
    by_title: dict[str, Method] = {
        PREPARED: KMeans(n_init=STARTS),
        "spectral clustering": (SpectralClustering(affinity="nearest_neighbors"), {"n_neighbors": [5, 10, 20]}),
        **installed(),
    }
    for entry in (one for one in registry.METHODS if one.cls is not JointConsensus):
        for setting in entry.settings:
            if setting.title is not None and setting.title not in SAME:
                estimator = entry.cls(**setting.params)
                by_title[setting.title] = estimator if setting.grid is None else (estimator, _of_dataset(setting.grid))
    return by_title


def reducing() -> list[str]:
    """Methods that keep only directions with a share of the variance, whatever rows they are given."""
    given = {name: method[0] if isinstance(method, tuple) else method for name, method in methods().items()}
    return [name for name, estimator in given.items() if getattr(estimator, "variance", None) is not None]


def _of_dataset(grid: registry.Grid) -> Grid | Callable[[datasets.Dataset], Grid]:
    """A grid, or a function of the data set that gives one."""
    return (lambda dataset: grid(dataset.n_classes)) if callable(grid) else grid


def _runs(lab: Lab) -> DataFrame:
    names = [name for name in datasets.names(lab.data_home) if name in datasets.registry() and name not in LEFT_OUT]
    names = [name for name in names if name in ("iris", "wine", "mixture")] if lab.quick else names
    # What takes the data as they come: the default, which prepares them itself, and k-means, which does not.
    kmeans = Pipeline([("numbers", Preparation("as is")), ("k-means", KMeans(n_init=STARTS))])
    own = lab.experiment({DEFAULT: JointConsensus(), PLAIN: kmeans}, names, 3, label_free=False)
    ours = lab.experiment(methods(), names, 3, prepare=usual, label_free=True)
    taken, given = lab.tables([own, ours])
    # They have no grid, so that both ways of choosing choose the same.
    either = [summary(taken, selections=("oracle",)).assign(selection=selection) for selection in SELECTIONS]
    return pd.concat([*either, summary(given)], ignore_index=True)


def leaderboard(lab: Lab) -> Findings:
    """Mean ranks and times over all data sets."""
    summary = _runs(lab)
    # A method that left clusters empty in all fits on a data set comes last there.
    rankings = {selection: rank(scores(summary, selection).fillna(0.0)) for selection in SELECTIONS}
    seconds = scores(summary, "label-free", "seconds")
    times = np.exp(np.log(seconds.div(seconds[PLAIN], axis=0)).mean())
    rows = []
    for method in summary["method"].unique():
        row: dict[str, Any] = {"method": method}
        for selection, ranking in rankings.items():
            own = summary[(summary["method"] == method) & (summary["selection"] == selection)]
            row |= {
                f"mean rank, {selection}": float(ranking.mean_ranks[ranking.methods.index(method)]),
                f"accuracy, {selection}": own["accuracy"].mean(),
                f"NMI, {selection}": own["nmi"].mean(),
            }
        rows.append(row | {"time over k-means": times[method]})
    table = DataFrame(rows).sort_values("mean rank, label-free", ignore_index=True)
    tests = [
        f"{selection}: chi-square {one.statistic:.1f}, p = {one.p_value:.2g}, critical difference "
        f"{one.critical_difference:.2f} ranks"
        for selection, one in rankings.items()
    ]
    here = [name for name in LARGE if datasets.present(name, lab.data_home)]
    notes = [
        f"{summary['dataset'].nunique()} data sets, {lab.runs(3)} runs each: {', '.join(summary['dataset'].unique())}."
        + (f" Left out, because too large for every method here: {', '.join(here)}." if here else ""),
        f"One preparation, but for some: all methods see the rows that '{PREPARED}' sees (tables standardised, "
        "categories coded, words weighted, reads scaled and logged, sparse rows in their leading directions), scaled "
        f"to unit scatter. {', '.join(reducing())} reduce them further, to directions that carry 80% to 95% of the "
        f"variance, which is a parameter of theirs. '{DEFAULT}' takes the data as they come and prepares them itself; "
        f"'{PLAIN}' takes the numbers as they are.",
        "No one budget: every method starts as it does for its users. Both kinds of k-means and spectral clustering "
        f"have {STARTS} starts; the library's methods begin with the best of {STARTS}, EC, RMKMC and RSFKM also "
        "try as many in which far rows count less, URR-SL and RURR-SL take the best of 100, and what alternates may "
        "draw more on its way. The default combines many fits.",
        "Oracle: parameters by mean accuracy, with the classes, as papers do. Label-free: by agreement, as a user "
        "can. Ranks of the two are never compared with each other. Methods without a grid have the same accuracy in "
        "both. Fits that collapsed are no candidates; a method that has no others on a set is last there.",
        "The number of clusters is the number of classes, but UMAP + HDBSCAN and Leiden, where installed, find their "
        "own, which costs them accuracy where it differs.",
        f"Friedman and Nemenyi at 5%: {'; '.join(tests)}.",
        f"Time: geometric mean over the data sets of the mean time of a fit over that of '{PLAIN}' with ten starts. "
        "The time to prepare rows is in that of these two alone. The default was chosen on half of these data sets.",
    ]
    figure, axes = grid_of_axes(2, 10, 4.6, 1)
    figure.get_layout_engine().set(h_pad=0.2)
    for ax, (selection, ranking) in zip(axes, rankings.items(), strict=True):
        CriticalDifferenceDisplay(ranking).plot(ax=ax)
        ax.set_title(f"mean rank, parameters {selection}", fontsize=10)
    claims = [_against(summary, rival) for rival in (PLAIN, PREPARED)]
    return Findings("all", "leaderboard", "All methods on all data sets", table, figure, claims, notes)


def _against(summary: DataFrame, rival: str) -> Claim:
    """Whether the default beats a kind of k-means, data set by data set."""
    wide = scores(summary, "label-free")
    part = ahead("all data sets", (wide[DEFAULT] - wide[rival]).to_numpy(float))
    rests = (
        f"{wide[DEFAULT].mean():.3f} against {wide[rival].mean():.3f} in the mean of the data sets, which are paired."
    )
    return judged(f"ours-{rival}", "ours", f"The default is more accurate than {rival}", rests, [Reading([part])])


def accuracies(lab: Lab) -> Findings:
    """Accuracy of every method on every data set, for both ways of choosing."""
    summary = _runs(lab)
    failures, collapsed = int(summary["failures"].sum()), int(summary["collapsed"].sum())
    notes = [
        f"{failures} runs failed." if failures else "No run failed.",
        f"{collapsed} of the chosen runs left a cluster empty." if collapsed else "No chosen run left a cluster empty.",
    ]
    table = summary.drop(columns=["accuracy_best", "nmi_std", "nmi_best", "runs", "failures", "collapsed"])
    return Findings("all", "accuracies", "Accuracies behind the leaderboard", table, None, [], notes)
