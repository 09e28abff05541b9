"""The parts of the page that need no script."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from jointclust.showing.report import _pack
from jointclust.showing.report._content import Content
from jointclust.showing.report._html import (
    alike,
    feature_link,
    number_cell,
    row_link,
    section,
    short,
    shown,
    swatch,
    table,
    term,
)

_MATRIX_ROWS = 400
_CLASSES = 60
_HEATED = 30
_TOP = 3


def sure(content: Content) -> str:
    """One sentence and a few numbers."""
    terms = {"agreement", "silhouette"}
    facts = "".join(
        f"<div><dt>{term(key) if key in terms else escape(key)}</dt><dd>{escape(value)}</dd></div>"
        for key, value in content.facts().items()
    )
    return f'<p class="sure">{escape(content.sure())}</p><dl class="facts">{facts}</dl>'


def beware(content: Content) -> str:
    """What to read first."""
    found = "".join(f"<li>{escape(text)}</li>" for text in content.advice())
    return section("Beware", f"<ul>{found}</ul>" if found else "", kind="warnings")


def clusters(content: Content) -> str:
    """One line per cluster, to sort."""
    optional = {
        "stability": content.steadiness is not None,
        "confidence": content.confidence is not None,
        "silhouette": content.silhouette is not None,
        "main class": content.classes is not None,
        "set apart by": content.image is None and content.n_clusters > 1,
    }
    columns = ["cluster", "rows", *(name for name, wanted in optional.items() if wanted)]
    known = {"stability", "confidence", "silhouette"}
    head = [
        f'<th scope="col" aria-sort="none">{term(name) if name in known else name}'
        '<button type="button" class="sort js" aria-label="Sort by ' + name + '"></button></th>'
        if name != "set apart by"
        else name
        for name in columns
    ]
    rows = [_cluster_line(content, cluster, columns) for cluster in range(content.n_clusters)]
    return section("Overview", table(head, rows, kind="sortable"), name="overview")


def _cluster_line(content: Content, cluster: int, columns: list[str]) -> list[str]:
    size = int(content.fitted.profile.sizes[cluster])
    values = {
        "stability": _at(content.steadiness, cluster),
        "confidence": content.mean_confidence(cluster),
        "silhouette": _at(None if content.silhouette is None else content.silhouette[0], cluster),
    }
    cells = {
        "cluster": f'<td data-sort="{cluster}">{swatch(cluster)} <a href="#cluster-{cluster}" '
        f'data-name="{cluster}">Cluster {cluster}</a></td>',
        "rows": number_cell(size, f"{size:,}"),
        "set apart by": f'<td class="apart">{_top_features(content, cluster)}</td>',
    }
    cells |= {name: number_cell(value, "" if value is None else f"{value:.2f}") for name, value in values.items()}
    main = content.main_class(cluster)
    cells["main class"] = "" if main is None else f"{escape(main[0])}\u00a0({main[1]:.0%})"
    return [cells[name] for name in columns]


def _at(values: NDArray | None, cluster: int) -> float | None:
    return None if values is None or cluster >= values.size or np.isnan(values[cluster]) else float(values[cluster])


def _top_features(content: Content, cluster: int) -> str:
    found = content.explained(cluster)
    return ", ".join(
        f"{feature_link(one.name, content.index_of.get(one.name))}\u00a0{'↑' if one.effect > 0 else '↓'}"
        for one in (found.features[:_TOP] if found is not None else [])
    )


def classes(content: Content) -> str:
    """How many rows of each known class are in each cluster."""
    found = content.contingency()
    if found is None:
        return ""
    names, counts = found
    more = f"<p>{len(names) - _CLASSES} more classes are not shown.</p>" if len(names) > _CLASSES else ""
    largest = max(int(counts.max()), 1)
    head = ["cluster", *(escape(name) for name in names[:_CLASSES])]
    rows = [
        [
            f'{swatch(cluster)} <span data-name="{cluster}">Cluster {cluster}</span>',
            *(
                f'<td class="number heat" style="--heat:{count / largest:.2f}">{count or "·"}</td>'
                for count in counts[cluster, :_CLASSES]
            ),
        ]
        for cluster in range(content.n_clusters)
    ]
    return section("Clusters and classes", table(head, rows) + more, name="classes")


def heat_map(content: Content) -> str:
    """Features that set clusters apart, by cluster; of those that say the same, one."""
    if content.n_clusters < 2 or content.image is not None:
        return ""
    groups = [group for group in content.fitted.explanation.groups if group[0] in content.index_of][:_HEATED]
    if not groups:
        return ""
    head = ["feature", *(f"{swatch(k)} {k}" for k in range(content.n_clusters))]
    rows = []
    for name, *others in groups:
        index = content.index_of[name]
        cells = (_heat_cell(content, cluster, index) for cluster in range(content.n_clusters))
        rows.append([feature_link(name, index) + alike(name, others), *cells])
    told = (
        f"<p>The {term('effect')} of the features that set clusters apart most; click one to colour the map by it.</p>"
    )
    return section("Features and clusters", told + table(head, rows, kind="heated"), name="heat")


def _heat_cell(content: Content, cluster: int, feature: int) -> str:
    value = content.fitted.profile.effects[cluster, feature]
    strength = min(abs(value) / 3, 1.0)
    here, rest = content.fitted.profile.means[cluster, feature], content.fitted.profile.rest[cluster, feature]
    hint = f"mean {short(here)}, elsewhere {short(rest)}"
    kind = "above" if value > 0 else "below"
    return f'<td class="number heat {kind}" style="--heat:{strength:.2f}" title="{hint}">{_signed(value)}</td>'


def _signed(value: float) -> str:
    return f"{value:+.1f}" if abs(value) >= 0.05 else "0"


def soft(content: Content) -> str:
    """Soft labels as a picture."""
    found = content.fitted.soft_labels
    if found is None or content.n_clusters < 2:
        return ""
    order = np.lexsort((-np.asarray(found).max(axis=1), content.fitted.labels))
    order = order[np.linspace(0, order.size - 1, min(order.size, _MATRIX_ROWS)).astype(int)]
    source = _pack.picture(np.asarray(found)[order].T, 0.0, 1.0, coloured=True)
    return section(
        "Soft labels",
        f"<p>The {term('votes')}. One column per row of the data, sorted by cluster; one line per cluster; bright is "
        "probable. Columns with more than one bright place lie between clusters.</p>"
        f'<img class="matrix" alt="Probability of every cluster for a sample of the rows" src="{source}">',
    )


def uncertain(content: Content) -> str:
    """Rows that may be in the wrong cluster, and rows unlike any other."""
    found = ""
    for title, word, digits, rows in (
        ("Least certain rows", "confidence", ".2f", content.least_certain()),
        ("Rows unlike any other", "outlier score", ".3g", content.unlike()),
    ):
        lines = [
            [
                row_link(row, content.row_name(row)),
                str(content.fitted.labels[row]),
                f'<td class="number">{value:{digits}}</td>',
            ]
            for row, value in rows
        ]
        found += section(title, table(["row", "cluster", term(word)], lines) if lines else "")
    return found


def number(content: Content) -> str:
    """The agreement over the number of clusters, with the number chosen and the one after it."""
    found = content.number
    if found is None or len(found.scores) < 2:
        return ""
    numbers, values = zip(*sorted(found.scores.items()), strict=True)
    others = [one for one in found.suggestions if one != found.n_clusters and one in found.scores]
    marks = [(found.n_clusters, "chosen"), *((one, "runner-up") for one in others[:1])]
    curve = _curve(
        np.log(numbers),
        np.array(values),
        f"Agreement over the number of clusters, largest at {numbers[int(np.argmax(values))]}",
        (str(numbers[0]), f"{numbers[-1]} clusters"),
        [(float(np.log(one)), found.scores[one], f"{one}, {word}") for one, word in marks if one in found.scores],
    )
    verdict = escape(found.verdict[0].upper() + found.verdict[1:])
    told = f"<p>{verdict}. The curve is the {term('agreement')} of members of different kinds.</p>"
    return section("How many clusters", told + curve, name="number")


def objective(content: Content) -> str:
    """The objective over the iterations."""
    history = content.fitted.objective
    if history is None or len(history) < 2 or not np.isfinite(history).all():
        return ""
    label = f"The objective over {len(history)} iterations, from {history[0]:.4g} to {history[-1]:.4g}"
    ends = ("1", f"iteration {len(history)}")
    return section("Objective", _curve(np.arange(len(history)), history, label, ends, []))


def _curve(x: NDArray, y: NDArray, label: str, ends: tuple[str, str], marks: list[tuple[float, float, str]]) -> str:
    """A line with its range and, where wanted, marked places."""
    low, high = float(np.min(y)), float(np.max(y))

    def place(a: float, b: float) -> tuple[float, float]:
        across = 60 + 530 * (a - x[0]) / ((x[-1] - x[0]) or 1.0)
        return across, 150 - 130 * (b - low) / ((high - low) or 1.0)

    points = " ".join("{:.1f},{:.1f}".format(*place(a, b)) for a, b in zip(x, y, strict=True))
    drawn, taken = "", list[float]()
    for a, b, text in marks:
        across, up = place(a, b)
        side = "end" if across > 520 else "start" if across < 120 else "middle"
        # Above its mark, where the line rarely is; the second of two that are near goes below.
        height = up + 22 if any(abs(across - other) < 130 for other in taken) else up - 10
        taken.append(across)
        drawn += f'<circle cx="{across:.1f}" cy="{up:.1f}" r="5"/>'
        drawn += f'<text x="{across:.1f}" y="{height:.1f}" text-anchor="{side}">{escape(text)}</text>'
    return (
        f'<svg class="curve" viewBox="0 0 600 190" role="img" aria-label="{escape(label)}">'
        f'<polyline points="{points}"/>{drawn}<text x="4" y="24">{high:.3g}</text><text x="4" y="154">{low:.3g}</text>'
        f'<text x="60" y="184">{escape(ends[0])}</text><text x="590" y="184" text-anchor="end">{escape(ends[1])}</text>'
        "</svg>"
    )


def views(content: Content) -> str:
    """Which views of the data were used, and why."""
    found = getattr(content.fitted.clusterer, "views_", None)
    if not found:
        return ""
    rows = [
        [escape(view["name"]), f'<td class="number">{view["weight"]:.2f}</td>', escape(view["reason"])]
        for view in found
    ]
    return section("Views of the data", table(["view", "weight", "why"], rows, kind="texts"), name="views")


def chosen_features(content: Content) -> str:
    """The features that a sparse method keeps."""
    found = content.chosen_features()
    if found is None:
        return ""
    listed = ", ".join(feature_link(content.fitted.names[index], index) for index in found[:200])
    more = f" and {len(found) - 200} more" if len(found) > 200 else ""
    told = (
        f"<p>The method keeps {len(found)} of {len(content.fitted.names)} features; the others have no part in it.</p>"
    )
    return section("Chosen features", f"{told}<p>{listed}{more}</p>", name="chosen")


def parameters(content: Content) -> str:
    """Who chose what."""
    rows = [
        [escape(name), shown(value), escape(origin)]
        for name, (value, origin) in content.parameters.items()
        if value not in (None, "", (), [])
    ]
    found = table(["parameter", "value", "chosen by"], rows, kind="texts")
    if content.candidates is not None:
        found += (
            "<h3>What was tried</h3><p>No labels were used: the score says how much a candidate agrees with the "
            "others, or what the criterion above measures; greater is better.</p>"
        )
        tried = zip(*content.candidates.values(), strict=True)
        found += table([escape(name) for name in content.candidates], [[shown(cell) for cell in row] for row in tried])
    return section("How the parameters were chosen", found)


def made(content: Content) -> str:
    """When, with what and from what the page was made."""
    rows = [[escape(name), f"<td><code>{escape(value)}</code></td>"] for name, value in content.made.items()]
    return section("How to repeat it", table(["what", "value"], rows), name="made")
