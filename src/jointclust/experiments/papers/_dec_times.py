"""DEC's tables 4 to 6: time."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from sklearn.cluster import KMeans

from jointclust.experiments.experiment import Method
from jointclust.experiments.findings import Findings
from jointclust.experiments.papers._dec import FAMILY, METHODS, NOTES, chosen_trade_offs, trade_off_runs
from jointclust.experiments.papers._lab import ONE_BUDGET, STAND_INS, STARTS, Lab, beside_paper, grid_of_axes
from jointclust.experiments.papers._textbook import TextbookDEC
from jointclust.experiments.verdicts import judged
from jointclust.methods.discriminative import DiscriminativeEmbeddedClustering as DEC

if TYPE_CHECKING:
    from pandas import DataFrame


def _times(item: str, name: str, dimensions: list[int], like: str | None = None) -> Callable[[Lab], Findings]:
    """An item about the time on a data set; ``like``, which has about its shape, stands in where that is missing."""

    def reproduce(lab: Lab) -> Findings:
        names, missing, used = lab.find((name,), stand_ins=STAND_INS if like is None else (like, *STAND_INS))
        names, used = names[:1], used[:1]
        dataset = lab.load(names[0])
        dims = [d for d in lab.few(dimensions) if d <= min(dataset.data.shape)]
        few = [d for d in dims if d < dataset.n_classes] or [dataset.n_classes - 1]
        trade_off = chosen_trade_offs(trade_off_runs(lab, names))[names[0]]["oracle"]
        methods: dict[str, Method] = {"K-means": KMeans(n_init=STARTS)}
        methods |= {m: (model, {"n_components": few if m == "LDAKM" else dims}) for m, model in FAMILY.items()}
        methods["DEC"] = (DEC(trade_off=trade_off), {"n_components": dims})
        book: dict[str, Method] = {"textbook DEC": (TextbookDEC(trade_off=trade_off), {"n_components": dims})}
        plans = [
            lab.experiment({m: methods[m] for m in METHODS}, names, 3, label_free=False),
            lab.experiment(book, names, 1, label_free=False),
        ]
        # One process, so that nothing else of ours runs beside what is timed.
        rows = []
        for one in lab.tables(plans, alone=True):
            for (method, parameters), runs in one.groupby(["method", "parameters"], sort=False):
                for d in [json.loads(parameters)["n_components"]] if method != "K-means" else dims:
                    row = {"dataset": names[0], "method": method, "measure": "seconds", "setting": d}
                    rows.append(row | {"ours": runs["seconds"].mean(), "sd": runs["seconds"].std(ddof=0)})
        seconds = beside_paper("dec", item, rows, {names[0]: name} if used else None)
        shaped = used == [like]
        return _time_findings(item, names[0], seconds, missing, used, trade_off, lab.runs(3), lab.runs(1), shaped)

    return reproduce


def _time_findings(
    item: str,
    name: str,
    table: DataFrame,
    missing: list[str],
    used: list[str],
    trade_off: float,
    n_runs: int = 3,
    n_textbook: int = 1,
    shaped: bool = False,
) -> Findings:
    """What the seconds say; ``shaped`` where what stands in has about the shape of the missing data."""
    means = table.groupby("method", sort=False)[["paper", "ours"]].mean()
    ratio = {m: float(means.loc[m, "ours"] / means.loc["DEC", "ours"]) for m in means.index}
    printed = {m: float(means.loc[m, "paper"] / means.loc["DEC", "paper"]) for m in METHODS}
    close = {m: 0.5 <= ratio[m] <= 2 for m in ("OCMKM", "MMCKM", "OLSDAKM")}
    text = ", ".join(f"{m} {ratio[m]:.2f} (paper {printed[m]:.2f})" for m in ("OCMKM", "MMCKM", "OLSDAKM", "LDAKM"))
    fast = all(ratio[m] <= ratio[o] for m in ("K-means", "PCAKM") for o in METHODS[2:])
    claims = [
        judged(
            "DEC takes about the time of the other iterative methods", close, f"time as a multiple of DEC's: {text}"
        ),
        judged(
            "K-means and PCAKM take the least time",
            {"least": fast},
            f"K-means {ratio['K-means']:.2f}, PCAKM {ratio['PCAKM']:.2f} of DEC's time",
        ),
    ]
    # Of another machine, and with stand-ins of other data: only ratios are compared.
    table = table.drop(columns="difference").assign(
        **{"times DEC": table["ours"] / means.loc["DEC", "ours"], "paper's": table["paper"] / means.loc["DEC", "paper"]}
    )
    alike = "has about their shape" if shaped else "has another shape, so that the paper's ratios may not be those here"
    instead = [f"{name} stands in for the missing data and {alike}."] if used else []
    notes = [
        *instead,
        "Seconds on this machine, one thread, whole fits (decomposition included), means over runs "
        f"({n_runs}; of the textbook loop {n_textbook}), trade-off {trade_off:g}. The paper's are of 50 runs of MATLAB "
        "code on a 3.2 GHz machine of 2014: compare ratios, not seconds.",
        NOTES[2],
        ONE_BUDGET,
        f"The textbook loop (form S_w, full eigendecomposition, nearest centroid) takes {ratio['textbook DEC']:.2g} "
        "times as long as DEC here.",
    ]
    figure, (ax,) = grid_of_axes(1, 6.5, 3.4)
    order = sorted(ratio, key=lambda m: ratio[m])
    ax.barh(order, [ratio[m] for m in order], color=["#c8102e" if m == "DEC" else "0.55" for m in order])
    ax.set(xscale="log", xlabel="time as a multiple of DEC's", title=name)
    return Findings("dec", item, f"Time on {name}", table, figure, claims, notes, missing, used)


table4 = _times("table 4", "coil20", [6, 8, 10, 12, 14])
# 3000 x 36 and 625 x 625 in the paper; 2000 x 36 and 575 x 644 here.
table5 = _times("table 5", "corel", [2, 4, 6, 8, 10], "satellite")
table6 = _times("table 6", "pollen", [4, 8, 12, 16, 20], "umist")
