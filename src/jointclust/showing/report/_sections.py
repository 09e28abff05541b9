"""The parts of the page that need no script, as HTML: all text goes through ``escape``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from jointclust.showing import rules
from jointclust.showing.explain import ClusterExplanation, Rule
from jointclust.showing.fitted import objective_of, steady_word
from jointclust.showing.queries import any_of
from jointclust.showing.report._content import MEMBERS_AGREE, Content
from jointclust.showing.report._payload import picture
from jointclust.showing.style import PALETTE, SHAPES, looks

_MATRIX_ROWS = 400
_CLASSES = 60
_HEATED = 30
_TOP = 3
_FEATURES, _RULES = 6, 2
# Rules that hold of fewer rows than this share tell little.
_TELLING = 0.5
# Characters of a text in a card, and of a phrase of two parts, which has to fit into two lines.
_EXCERPT, _PHRASE = 200, 70
# Sizes of a candidate's clusters that are listed.
_SIZES = 8
# Cards that are open before the script looks at the screen, at the most.
_OPEN = 12
_COLUMNS = 60
# Who has chosen a parameter that nobody has named.
_DEFAULT = "default"
_LOOKS = looks()
# What the page's words mean, by the word.
WORDS = {
    MEMBERS_AGREE: "How alike the members of the consensus cluster the rows: the mean adjusted Rand index over pairs "
    "of them, 1 where all find the same and near 0 where each finds something else. The verdict does not rest on it.",
    "confidence": "The probability that a row is in the right cluster, 0 to 1, as rows of data with known clusters "
    "teach. For another method it is the label's own probability.",
    "effect": "Cohen's d: the difference between the mean in the cluster and the mean of all other rows, in standard "
    "deviations. 0.8 is large, 3 means that the two hardly overlap. It describes and tests nothing: the same rows made "
    "the clusters.",
    "found again": "How far clusters that are made of one half of the rows are the same on the other half: the rows "
    "that a cluster and its best match share, over those that either has (the Jaccard index).",
    "predicted agreement": "How far the clusters are expected to agree with the true ones: the adjusted Rand index, 1 "
    "for the same and 0 for chance, predicted by a judge that has learned from thousands of data sets with known "
    "clusters.",
    "silhouette": "How much nearer a row is to its own cluster than to the next one, -1 to 1, in the embedding and on "
    "at most 2,000 rows. Above 0.5 clusters are well apart, near 0 they touch.",
    "outlier score": "How far a row is from the rows that are nearest to it, in units of what is usual.",
    "related": "How far a column depends on the others, in standard deviations of what chance gives: a column that "
    "depends on no other says nothing of clusters that several columns show, and is not used.",
    "drives": "How far a column separates the clusters, 0 to 1: the share of its spread that lies between them, less "
    "what chance gives.",
    "votes": "The share of the members' votes, or the probability, that a row has for each cluster.",
    "direction": "The embedding, turned so that its first direction has the largest variance. The share is that of "
    "the embedding's variance; the features named are those that go with it most, by correlation.",
    "layer": "Nested clusterings of the consensus: coarser ones join its clusters, finer ones split them where its "
    "members agree on a split.",
}


def summary(content: Content) -> str:
    """What there is to know first: how many clusters, how sure, and for each its name, size and one phrase."""
    terms = {MEMBERS_AGREE, "silhouette"}
    facts = "".join(
        f"<div><dt>{term(key) if key in terms else escape(key)}</dt><dd>{escape(value)}</dd></div>"
        for key, value in content.facts().items()
    )
    n, rows = content.n_clusters, content.fitted.labels.size
    level, _, reasons = content.sure().partition(":")
    sentence = (
        f'<p class="sure"><b><span data-count>{n}</span> {"cluster" if n == 1 else "clusters"}</b> in {rows:,} rows. '
        f'<b class="level">{escape(level)}</b>:{escape(reasons)}</p>'
        '<p class="other" data-fitted="no" hidden>The verdict, confidence and what is found again are of the '
        f'<b>{n}</b> clusters of the fit. <button type="button" id="back">Back to {n}</button></p>'
        f"{_in_doubt(content)}"
    )
    listed = rack(content, "ol", _summary_line, ' class="names"')
    return (
        f'<section id="summary" aria-label="Summary">{sentence}{listed}'
        '<p class="js more"><button type="button" class="link" id="more-names" hidden></button></p>'
        f'<dl class="facts">{facts}</dl></section>'
    )


def _in_doubt(content: Content) -> str:
    """The best other numbers, where the verdict is "not sure", and how to get them."""
    items = "".join(
        f"<li><b>{one.number} clusters</b>: {escape('; '.join(one.parts))}<br>"
        f"<code>{escape(one.command('RUN'))}</code></li>"
        for one in content.alternatives
    )
    text = "Other numbers to look at, the best first (RUN is the folder of this page; in Python <code>jc.cluster(X, k)"
    return f'<div class="doubt"><p>{text}</code> fits again):</p><ul>{items}</ul></div>' if items else ""


def _summary_line(content: Content, node: int) -> str:
    size = content.layers.sizes[node]
    share = size / content.fitted.labels.size
    drawn = f"{swatch(content.layers.looks[node])} {_mean_image(content, node)}{_spark(content, node)}"
    return (
        f'<li data-node="{node}">{drawn}'
        f'<span><a href="#cluster-{node}" data-card="{node}" data-name="{node}">{escape(content.names[node])}</a> '
        f"<small>{size:,} rows, {percent(share)}</small>"
        f'<span class="phrase">{escape(phrase(content, node))}</span>{_printed_rule(content, node)}</span></li>'
    )


def _printed_rule(content: Content, node: int) -> str:
    """The best rule, for paper, where there are no cards, unless it is the phrase."""
    cluster = content.explained(node)
    if cluster is None or not cluster.rules or phrase(content, node).startswith(f"{cluster.rules[0]}:"):
        return ""
    return f'<span class="paper">{_rules(cluster, 1)}</span>'


def phrase(content: Content, node: int) -> str:
    """What sets a cluster apart, in one phrase."""
    cluster = content.explained(node)
    if cluster is None:
        main = content.main_class(node)
        return "" if main is None else f"{main[1]:.0%} are of class {main[0]}"
    rule = next(iter(cluster.rules), None)
    if rule is not None and cluster.features and cluster.features[0].kind == "word":
        here, elsewhere = _shares(rule, cluster)
        return f"{rule}: {here} (others {elsewhere})"
    coordinates = set(np.flatnonzero(content.fitted.features.coordinates).tolist())
    told = [one for one in cluster.features if content.index_of.get(one.name) not in coordinates]
    if cluster.features and not told:
        return ""  # a coordinate of an embedding says nothing alone
    means = ((one.name, _mean(one.mean, one.kind), _mean(one.rest, one.kind)) for one in told[:2])
    parts = [f"{name}: {here} (others {rest})" for name, here, rest in means] or ["no feature sets it apart"]
    return ", ".join(parts) if len(", ".join(parts)) <= _PHRASE else parts[0]


def warnings(content: Content) -> str:
    """What to read first."""
    items = "".join(f"<li>{escape(text)}</li>" for text in content.advice())
    return section("Beware", f"<ul>{items}</ul>" if items else "", kind="warnings")


def notes(content: Content) -> str:
    """What was done to the data, and is no danger."""
    items = "".join(f"<li>{escape(text)}</li>" for text in content.notes)
    return section("Notes", f"<ul>{items}</ul>" if items else "", name="notes")


def clusters(content: Content) -> str:
    """One line per cluster, to sort, and one of all."""
    of_each = {"found again": content.steadiness, "confidence": content.mean_confidence}
    of_each["silhouette"] = None if content.silhouette is None else content.silhouette[0]
    measured = {name: values for name, values in of_each.items() if values is not None}
    has_features = content.image is None and content.n_clusters > 1
    sorted_by = ["cluster", "rows", "share", *measured, *([] if content.classes is None else ["main class"])]
    head = "".join(
        f'<th scope="col" aria-sort="none">{term(name) if name in measured else name}'
        f'<button type="button" class="sort js" aria-label="Sort by {name}"></button></th>'
        for name in sorted_by
    )
    head += '<th scope="col">set apart by</th>' if has_features else ""
    rows, total = content.fitted.labels.size, dict[str, float | None]()
    total |= {} if content.confidence is None else {"confidence": float(np.mean(content.confidence))}
    total |= {} if content.silhouette is None else {"silhouette": float(np.nanmean(content.silhouette[1]))}

    def line(content: Content, node: int) -> str:
        size, k = int(content.layers.sizes[node]), content.layers.cluster_of.get(node)
        link = f'{swatch(content.layers.looks[node])} <a href="#cluster-{node}" data-card="{node}" data-name="{node}">'
        cells = [f'<th scope="row">{link}{escape(content.names[node])}</a></th>']
        cells += [_sorted(f"{size:,}", size), _sorted(f"{size / rows:.0%}", size)]
        cells += [_sorted(*_measure(name, _at(values, k))) for name, values in measured.items()]
        if content.classes is not None:
            main = content.main_class(node)
            cells.append("<td></td>" if main is None else f"<td>{escape(main[0])}\u00a0({main[1]:.0%})</td>")
        cells += [f'<td class="apart">{_top_features(content, node)}</td>'] if has_features else []
        return f'<tr data-node="{node}">{"".join(cells)}</tr>'

    last = number_cell(f"{rows:,}") + number_cell("100%")
    last += "".join(number_cell(_measure(name, total.get(name))[0]) for name in measured)
    last += "<td></td>" * ((content.classes is not None) + has_features)
    parts = (
        f'<div class="wide long" tabindex="0"><table class="sortable"><thead><tr>{head}</tr></thead>'
        f'{rack(content, "tbody", line)}<tfoot><tr><th scope="row">all rows</th>{last}</tr></tfoot></table></div>'
    )
    return section("Overview", parts, name="overview")


def _sorted(text: str, value: object) -> str:
    return number_cell(text, more=f' data-sort="{value}"')


def _measure(name: str, value: float | None) -> tuple[str, object]:
    """A measure as text, and to sort by; a silhouette is no share."""
    return ("", "") if value is None else (f"{value:.2f}" if name == "silhouette" else percent(value), value)


def _at(values: NDArray | None, cluster: int | None) -> float | None:
    """A measure of a cluster of the fit; None for clusters of other layers."""
    if values is None or cluster is None or cluster >= values.size or np.isnan(values[cluster]):
        return None
    return float(values[cluster])


def _top_features(content: Content, node: int) -> str:
    cluster = content.explained(node)
    return ", ".join(
        f"{feature_link(one.name, content.index_of.get(one.name))}\u00a0{'↑' if one.effect > 0 else '↓'}"
        for one in (cluster.features[:_TOP] if cluster is not None else [])
    )


def classes(content: Content) -> str:
    """How many rows of each known class are in each cluster."""
    if content.classes is None:
        return ""
    names = content.class_codes[0]
    more = f"<p>{len(names) - _CLASSES} more classes are not shown.</p>" if len(names) > _CLASSES else ""
    largest = max(int(content.class_counts[content.layers.fitted].max()), 1)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ["cluster", *names[:_CLASSES], "all"])

    def line(content: Content, node: int) -> str:
        counts = content.class_counts[node].tolist()
        cells = "".join(_heat_cell(n or "·", min(n / largest, 1.0)) for n in counts[:_CLASSES])
        return (
            f'<tr data-node="{node}"><th scope="row">{_named(content, node)}</th>{cells}{number_cell(sum(counts))}</tr>'
        )

    totals = content.class_counts[content.layers.fitted].sum(axis=0).tolist()
    last = "".join(number_cell(n) for n in [*totals[:_CLASSES], sum(totals)])
    parts = (
        f'<div class="wide long" tabindex="0"><table><thead><tr>{head}</tr></thead>{rack(content, "tbody", line)}'
        f'<tfoot><tr><th scope="row">all rows</th>{last}</tr></tfoot></table></div>'
    )
    return section("Clusters and classes", parts + more, name="classes")


def heat_map(content: Content) -> str:
    """Features that set clusters apart, by cluster; one of several that are alike."""
    if content.n_clusters < 2 or content.image is not None:
        return ""
    groups = [group for group in content.fitted.explanation.groups if group[0] in content.index_of][:_HEATED]
    if not groups:
        return ""
    contrast = content.layers.contrast

    def top(content: Content, node: int) -> str:
        name, look = escape(content.names[node]), swatch(content.layers.looks[node])
        return f'<th scope="col" data-node="{node}" title="{name}">{look} {_number(content, node)}</th>'

    def line(name: str, others: Sequence[str]) -> str:
        index = content.index_of[name]
        kind = content.fitted.features.of[index].kind

        def cell(content: Content, node: int) -> str:
            value, here, rest = (
                float(values[node, index]) for values in (contrast.effects, contrast.means, contrast.rest)
            )
            side, text = " above" if value > 0 else " below", f"{value:+.1f}" if abs(value) >= 0.05 else "0"
            hint = f' data-node="{node}" title="{_mean(here, kind)} here, {_mean(rest, kind)} elsewhere"'
            return _heat_cell(text, min(abs(value) / 3, 1.0), side, hint)

        head = f'<th scope="row">{feature_link(name, index)}{alike(name, others)}</th>'
        return rack(content, "tr", cell, before=head)

    head = rack(content, "tr", top, before='<th scope="col">feature</th>')
    body = "".join(line(name, others) for name, *others in groups)
    caption = f"The {term('effect')} of the features that set clusters apart most; click one to colour the map by it."
    shown = (
        f'<div class="wide" tabindex="0"><table class="heated"><thead>{head}</thead><tbody>{body}</tbody></table></div>'
    )
    return section("Features and clusters", f"<p>{caption}</p>{shown}", name="heat")


def curves(content: Content) -> str:
    """A place for the mean curves, where the columns have an order; the script draws them."""
    if content.curves is None:
        return ""
    text = (
        "<p>The mean of each cluster over the columns in their order, and the band in which half of its rows are; the "
        'thin line is the mean of all rows.</p><div class="charts" id="curve-charts"></div>'
    )
    return section("Mean curves", text, name="curves", kind="js")


def _heat_cell(text: object, strength: float, kind: str = "", hint: str = "") -> str:
    return number_cell(text, f" heat{kind}", f' style="--heat:{strength:.2f}"{hint}')


def _number(content: Content, node: int) -> str:
    """The number of a cluster, which the script changes with that of clusters."""
    return f"<span data-number>{content.layers.cluster_of.get(node, '')}</span>"


def _named(content: Content, node: int) -> str:
    name, look = escape(content.names[node]), swatch(content.layers.looks[node])
    return f'{look} <span data-name="{node}">{name}</span>'


def soft(content: Content) -> str:
    """Soft labels as a picture."""
    soft_labels = content.fitted.soft_labels
    if soft_labels is None or content.n_clusters < 2:
        return ""
    order = np.lexsort((-np.asarray(soft_labels).max(axis=1), content.fitted.labels))
    order = order[np.linspace(0, order.size - 1, min(order.size, _MATRIX_ROWS)).astype(int)]
    source = picture(np.asarray(soft_labels)[order].T, (0.0, 1.0), coloured=True)
    return section(
        "Soft labels",
        f"<p>The {term('votes')}. One column per row of the data, sorted by cluster; one line per cluster; bright is "
        "probable. Columns with more than one bright place lie between clusters.</p>"
        f'<img class="matrix" alt="Probability of every cluster for a sample of the rows" src="{source}">',
    )


def uncertain(content: Content) -> str:
    """Rows that may be in the wrong cluster, and rows unlike any other."""
    parts = ""
    for title, word, digits, rows in (
        ("Least certain rows", "confidence", ".2f", content.least_certain()),
        ("Rows unlike any other", "outlier score", ".2f", content.unlike()),
    ):
        labels = content.fitted.labels
        named = {row: _named(content, content.layers.fitted[labels[row]]) for row, _ in rows}
        lines = [[_row(content, row), named[row], number_cell(f"{value:{digits}}")] for row, value in rows]
        parts += section(title, table(["row", "cluster", term(word)], lines) if lines else "")
    return parts


def number(content: Content) -> str:
    """The candidates for the number of clusters side by side, the tree that the slider cuts, and the curve."""
    result = content.number
    reason = "" if result is None else escape(result.why or result.verdict)
    given = f"These {content.n_clusters} clusters were asked for. What the data say: "
    is_chosen = result is None or result.n_clusters == content.n_clusters
    text = f"<p>{capital(reason) if is_chosen else given + reason}.</p>" if reason else ""
    candidates = "".join(_candidate(content, one) for one in content.candidate_numbers)
    body = f'<div class="candidates">{candidates}</div>' if candidates else ""
    tree, curve = "", _number_curve(content)
    if content.layers.of_number:
        tree = (
            '<figure class="js layered" data-chart="tree" hidden><figcaption>How clusters join '
            f"({term('layer', 'layers')}): thick lines are splits that the data support, thin ones are "
            "doubtful; the dashed line is where the slider cuts.</figcaption>"
            '<div id="dendrogram"></div></figure>'
        )
    body += f'<div class="side">{tree}{curve}</div>' if tree or curve else ""
    return section("How many clusters", text + body if body else "", name="number")


def _candidate(content: Content, number: int) -> str:
    """One number of clusters: a small map, the sizes, and what speaks for it."""
    nodes, size_of = content.layers.of_number[number - 1], content.layers.sizes
    sizes = sorted((int(size_of[node]) for node in nodes), reverse=True)
    is_fitted = number == content.n_clusters
    listed = ", ".join(f"{size:,}" for size in sizes[:_SIZES]) + (", …" if len(sizes) > _SIZES else "")
    reasons = "".join(f"<li>{escape(text)}</li>" for text in content.reasons_for(number))
    return (
        f'<article class="candidate{" fitted" * is_fitted}"><h3>{number} clusters{" (as fitted)" * is_fitted}</h3>'
        f'<canvas class="js" data-thumbnail="{number}" width="220" height="150" role="img" '
        f'aria-label="Map of {number} clusters"></canvas>'
        f"<p>Sizes: {listed}</p><ul>{reasons}</ul>"
        f'<p class="js"><button type="button" data-look="{number}">Look at {number}</button></p></article>'
    )


def _number_curve(content: Content) -> str:
    """The agreement over the number of clusters, with the number chosen and the one after it."""
    result = content.number
    if result is None or len(result.scores) < 2:
        return ""
    numbers, values = zip(*sorted(result.scores.items()), strict=True)
    others = [one for one in result.ranked if one != result.n_clusters]
    marks = [
        (result.n_clusters, "chosen" if result.n_clusters == content.n_clusters else "best"),
        *((one, "runner-up") for one in others[:1]),
    ]
    curve = _curve(
        np.log(numbers),
        np.array(values),
        f"Predicted agreement over the number of clusters, largest at {numbers[int(np.argmax(values))]}",
        (str(numbers[0]), f"{numbers[-1]} clusters"),
        [(float(np.log(one)), result.scores[one], f"{one}, {word}") for one, word in marks if one in result.scores],
    )
    text = f"The {term('predicted agreement')}, by the number of clusters."
    return f'<figure data-chart="agreement"><figcaption>{text}</figcaption>{curve}</figure>'


def objective(content: Content) -> str:
    """The objective over the iterations."""
    history = objective_of(content.fitted.clusterer)
    if history is None or len(history) < 2 or not np.isfinite(history).all():
        return ""
    label = f"The objective over {len(history)} iterations, from {history[0]:.4g} to {history[-1]:.4g}"
    ends = ("1", f"iteration {len(history)}")
    curve = _curve(np.arange(len(history)), history, label, ends, [])
    return section("Objective", f'<figure data-chart="objective">{curve}</figure>')


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
        f'<svg class="curve chart" viewBox="0 0 600 190" role="img" aria-label="{escape(label)}">'
        f'<polyline points="{points}"/>{drawn}<text x="4" y="24">{high:.3g}</text><text x="4" y="154">{low:.3g}</text>'
        f'<text x="60" y="184">{escape(ends[0])}</text><text x="590" y="184" text-anchor="end">{escape(ends[1])}</text>'
        "</svg>"
    )


def columns(content: Content) -> str:
    """What each column of the data is, whether it is used, and how far it separates the clusters."""
    facts = content.fitted.columns
    # Of a sparse matrix, and of many columns that are all used, there is nothing to tell.
    if all(one["used"] and np.isnan(one["drives"]) for one in facts) and len({one["why"] for one in facts}) <= 1:
        return ""
    # Those that separate the clusters most come first, and those that are not used last.
    facts = sorted(facts, key=lambda one: (not one["used"], -np.nan_to_num(one["drives"], nan=-1.0)))
    shown_ones = [one for one in facts if one["used"]][:_COLUMNS] + [one for one in facts if not one["used"]][:_COLUMNS]
    has_related = not all(np.isnan(one["related"]) for one in shown_ones)
    rows = [
        [
            escape(one["name"]),
            one["kind"],
            "yes" if one["used"] else "no",
            number_cell(_known(one["drives"], ".2f")),
            *([number_cell(_known(one["related"], ".1f"))] if has_related else []),
            escape(one["why"]),
        ]
        for one in shown_ones
    ]
    last = "".join(f"<p><b>{escape(text)}</b></p>" for text in content.guard)
    more = len(facts) - len(shown_ones)
    last += f"<p>{more:,} more columns are not shown.</p>" if more else ""
    head = ["column", "kind", "used", term("drives"), *([term("related")] if has_related else []), "why"]
    reasons = {row[-1] for row in rows}
    if len(reasons) == 1 and len(rows) > 1:  # said once
        last = f"<p>{capital(reasons.pop())}.</p>{last}"
        return section("Columns", last + table(head[:-1], [row[:-1] for row in rows], long=True), name="columns")
    return section("Columns", last + table(head, rows, kind="texts", long=True), name="columns")


def _known(value: float, digits: str) -> str:
    return "" if np.isnan(value) else f"{value:z{digits}}"


def views(content: Content) -> str:
    """Which views of the data were used, and why."""
    own_views = getattr(content.fitted.clusterer, "views_", None)
    if not own_views:
        return ""
    rows = [[escape(one["name"]), number_cell(f"{one['weight']:.2f}"), escape(one["reason"])] for one in own_views]
    return section("Views of the data", table(["view", "weight", "why"], rows, kind="texts"), name="views")


def chosen_features(content: Content) -> str:
    """The features that a sparse method keeps."""
    support = getattr(content.fitted.clusterer, "support_", None)
    if support is None or len(support) != len(content.fitted.names):
        return ""
    order = np.argsort(-np.abs(content.fitted.profile.effects).max(axis=0), kind="stable")
    kept = [int(index) for index in order if support[index]]
    names = [content.fitted.names[index] for index in kept[:200]]
    listed = ", ".join(feature_link(name, content.index_of.get(name)) for name in names)
    more = f" and {len(kept) - 200} more" if len(kept) > 200 else ""
    text = f"The method keeps {len(kept)} of {len(content.fitted.names)} features; the others have no part in it."
    return section("Chosen features", f"<p>{text}</p><p>{listed}{more}</p>", name="chosen")


def parameters(content: Content) -> str:
    """Who chose what."""
    known = {name: one for name, one in content.parameters.items() if one[0] not in (None, "", (), [])}
    head = ["parameter", "value", "chosen by"]
    rows = [[escape(name), shown(value), escape(by)] for name, (value, by) in known.items() if by != _DEFAULT]
    usual = [[escape(name), shown(value)] for name, (value, by) in known.items() if by == _DEFAULT]
    parts = table(head, rows, kind="texts") if rows else ""
    if usual:
        as_usual = f"<details><summary>{len(usual)} by default</summary>{table(head[:2], usual)}</details>"
        parts += as_usual
    if content.candidates is not None:
        parts += (
            "<h3>What was tried</h3><p>No labels were used: the score says how much a candidate agrees with the "
            "others, or what the criterion above measures; greater is better.</p>"
        )
        tried = zip(*content.candidates.values(), strict=True)
        parts += table([escape(name) for name in content.candidates], [[shown(cell) for cell in row] for row in tried])
    return section("How the parameters were chosen", parts, name="parameters")


def made(content: Content) -> str:
    """When, with what and from what the page was made."""
    rows = [[escape(name), f"<td><code>{_unbroken(value)}</code></td>"] for name, value in content.made.items()]
    return section("How to repeat it", table(["what", "value"], rows), name="made")


def _unbroken(text: str) -> str:
    """Text of which no line ends inside of an option."""
    return " ".join(
        f"<span>{escape(word)}</span>" if word.startswith("-") else escape(word) for word in text.split(" ")
    )


def cards(content: Content) -> str:
    """A card for each cluster; those of many are closed."""
    facts = rack(content, "div", _card, ' class="cards"')
    button = '<p class="js"><button type="button" id="open-cards">Open or close all</button></p>'
    return section("Clusters", button + facts, name="clusters")


def _card(content: Content, node: int) -> str:
    size = int(content.layers.sizes[node])
    share = size / content.fitted.labels.size
    lines = [f"<p><b>{size:,}</b> rows ({share:.1%}){_stability(content, node)}</p>", _mean_image(content, node)]
    known = content.main_class(node)
    if known is not None:
        lines.append(f"<p>{known[1]:.0%} are of class {escape(known[0])}</p>")
    cluster = content.explained(node)
    asked = "" if cluster is None else _asked(cluster, node)
    if cluster is not None:
        lines += [_rules(cluster), asked, _features(content, cluster)]
    nearest, farthest = content.layers.prototypes(node)
    lines.append(_prototypes(content, "Most typical", nearest if cluster is None else np.asarray(cluster.typical)))
    lines.append(_prototypes(content, "Least typical", farthest))
    is_open = " open" * (content.n_clusters <= _OPEN)
    is_number = content.names[node].startswith("cluster")  # of images
    return (
        f'<details class="card" id="cluster-{node}" data-node="{node}"{is_open}><summary><h3>{_named(content, node)} '
        f"<small>{'' if is_number else f'cluster {_number(content, node)}, '}{percent(share)}</small></h3>"
        f"</summary>{''.join(lines)}"
        f'<p class="actions js"><button type="button" data-only="{node}">Show only this</button> '
        f'<button type="button" data-select="{node}">Select its rows</button> '
        f'<button type="button" data-against="{node}">Compare</button>{_asking(node) if asked else ""}</p></details>'
    )


def _mean_image(content: Content, node: int) -> str:
    """The mean of rows that are images."""
    if content.image is None:
        return ""
    shape, order = content.image
    source = picture(content.mean_images[node].reshape(shape, order=order))
    return f'<img class="mean-image" alt="Mean image of {escape(content.names[node])}" src="{source}">'


def _spark(content: Content, node: int) -> str:
    """The mean curve in small, where the columns have an order."""
    if content.curves is None:
        return ""
    own, curves = content.curves.mean[node], content.curves.mean[[*content.layers.fitted, -1]]
    low, span = float(curves.min()), float(np.ptp(curves)) or 1.0
    places = np.column_stack([np.linspace(1, 71, own.size), 25 - 24 * np.clip((own - low) / span, 0, 1)])
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    line = f'<polyline points="{points}" stroke="{_look(content.layers.looks[node])}"/>'
    return f'<svg class="spark" viewBox="0 0 72 26" aria-hidden="true">{line}</svg>'


def _stability(content: Content, node: int) -> str:
    cluster = content.layers.cluster_of.get(node)
    value, mean = _at(content.steadiness, cluster), _at(content.mean_confidence, cluster)
    text = "" if mean is None else f", {term('confidence')} <b>{mean:.0%}</b>"
    if value is None:
        return text
    word = steady_word(value, content.fitted.doubtful)
    tag = f'<span class="tag {word.replace(" ", "-")}">{word}</span>'
    return f"{text}, {term('found again')} on other rows: <b>{value:.0%}</b> {tag}"


def _asking(node: int) -> str:
    return (
        f' <button type="button" data-said="{node}" aria-expanded="false" aria-controls="said-{node}">'
        "Rule as SQL, pandas</button>"
    )


def _asked(cluster: ClusterExplanation, node: int) -> str:
    """The rules as others ask them of the table, which a button shows; nothing where they cannot."""
    rules = _telling(cluster)
    said = {
        "SQL, after WHERE": any_of([rule.sql for rule in rules], "OR"),
        "pandas, for DataFrame.query": any_of([rule.query for rule in rules], "or"),
    }
    parts = "".join(
        f'<p>{escape(name)}:</p><pre tabindex="0">{escape(text)}</pre>' for name, text in said.items() if text
    )
    return f'<div class="said" id="said-{node}" hidden>{parts}</div>' if parts else ""


def _telling(cluster: ClusterExplanation, most: int = _RULES) -> list[Rule]:
    return [rule for rule in cluster.rules[:most] if rule.precision >= _TELLING]


def _rules(cluster: ClusterExplanation, most: int = _RULES) -> str:
    rules = _telling(cluster, most)
    return "".join(
        f'<span class="rule">{"or " * bool(number)}<b>{escape(str(rule))}</b> holds for '
        f"{here} of these rows and {elsewhere} of all others.</span>"
        for number, rule in enumerate(rules)
        for here, elsewhere in [_shares(rule, cluster)]
    )


def _shares(rule: Rule, cluster: ClusterExplanation) -> tuple[str, str]:
    """The shares of a cluster's rows, and of all others, for which a rule holds."""
    inside = rule.coverage * cluster.size
    others = inside / rule.precision - inside if rule.precision else 0.0
    n_others = cluster.size / cluster.share - cluster.size if cluster.share else 0.0
    return percent(rule.coverage), percent(others / n_others if n_others else 0.0)


def _features(content: Content, cluster: ClusterExplanation) -> str:
    features = cluster.features[:_FEATURES]
    if not features:
        return "<p>No feature sets it apart.</p>"
    largest = max(abs(feature.effect) for feature in features)
    rows = "".join(
        f'<tr><th scope="row">{feature_link(one.name, content.index_of.get(one.name))}{alike(one.name, one.alike)}</th>'
        f'<td class="bar"><i class="{"up" if one.effect > 0 else "down"}" '
        f'style="width:{100 * abs(one.effect) / largest:.0f}%"></i></td><td>{one.effect:+.1f}</td>'
        f"{_mean_cell(one.mean, one.kind)}{_mean_cell(one.rest, one.kind)}</tr>"
        for one in features
    )
    return (
        '<table class="features"><thead><tr><th scope="col">set apart by</th>'
        f'<th scope="col" colspan="2">{term("effect")}</th>'
        f'<th scope="col">here</th><th scope="col">elsewhere</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _mean(value: float, kind: str) -> str:
    """A mean in the words of its column; that of a level is the share of rows that have it."""
    return percent(value) if kind == "level" else rules.shown(value, kind, 4) if kind == "date" else short(value)


def _mean_cell(value: float, kind: str) -> str:
    return f"<td{' class=date' * (kind == 'date')}>{_mean(value, kind)}</td>"


def percent(share: float) -> str:
    """A share as per cents; a small one is not none, and a large one not all."""
    if 0.0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1.0 else f"{share:.0%}"


def _row(content: Content, row: int) -> str:
    """A row's name, which leads to the row."""
    return f'<a href="#map" data-row="{row}">{escape(str(row) if content.ids is None else content.ids[row])}</a>'


def _prototypes(content: Content, title: str, rows: NDArray[np.intp]) -> str:
    if len(rows) == 0:
        return ""
    links = [_row(content, int(row)) for row in rows]
    if content.documents is not None:
        texts = "".join(
            f'<p class="text">{link}: {_excerpt(content, int(row))}</p>' for link, row in zip(links, rows, strict=True)
        )
        return f'<p class="rows">{title}</p>{texts}'
    if content.image is None:
        return f'<p class="rows">{title}: {", ".join(links)}</p>'
    shape, order = content.image
    images = content.fitted.data[np.asarray(rows)]
    images = images.toarray() if hasattr(images, "toarray") else np.asarray(images)
    pictures = "".join(
        f'<figure><img alt="" src="{picture(image.reshape(shape, order=order))}">'
        f"<figcaption>{link}</figcaption></figure>"
        for link, image in zip(links, images, strict=True)
    )
    return f'<p class="rows">{title}</p><div class="images">{pictures}</div>'


def rack(content: Content, tag: str, item: Callable[[Content, int], str], more: str = "", *, before: str = "") -> str:
    """One thing for each cluster of the fit and, in a template for the script, for each of other layers."""
    own = content.layers.fitted
    shown = "".join(item(content, node) for node in own)
    spare = "".join(item(content, node) for node in content.layers.shown[len(own) :])
    return f"<{tag}{more} data-rack>{before}{shown}{f'<template>{spare}</template>' * bool(spare)}</{tag}>"


def _excerpt(content: Content, row: int) -> str:
    """The beginning of a row's text, with the words that tell its cluster marked."""
    text = "" if content.documents is None else content.documents[row]
    node = content.layers.fitted[content.fitted.labels[row]]
    telling = set(content.words[node] if content.words else [])
    excerpts = []
    for part in re.split(r"(\w+)", text[:_EXCERPT]):
        excerpts.append(f"<mark>{escape(part)}</mark>" if part.lower() in telling else escape(part))
    return "".join(excerpts) + "…" * (len(text) > _EXCERPT)


# -- pieces ---------------------------------------------------------------------------------------------------------


def term(word: str, text: str | None = None) -> str:
    """A word that says what it means: as a hint, and behind a link."""
    anchor, shown = _anchor(word), escape(text or word)
    return f'<a class="term" href="#{anchor}" title="{escape(WORDS[word])}">{shown}</a>'


def _anchor(word: str) -> str:
    return "word-" + word.replace(" ", "-")


def glossary() -> str:
    """All words with their meaning."""
    return "".join(
        f'<div id="{_anchor(word)}"><dt>{escape(word)}</dt><dd>{escape(meaning)}</dd></div>'
        for word, meaning in WORDS.items()
    )


def table(head: Iterable[str], rows: Iterable[Iterable[str]], *, kind: str = "", long: bool = False) -> str:
    """A table of cells that are HTML already, each row headed by its first, in a box that scrolls.

    Sideways and, where the table may be ``long``, up and down.
    """
    top = "".join(cell if cell.startswith("<th") else f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join("<tr>" + "".join(_cells(row)) + "</tr>" for row in rows)
    attributes = f' class="{kind}"' if kind else ""
    return (
        f'<div class="wide{" long" * long}" tabindex="0"><table{attributes}><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cells(row: Iterable[str]) -> Iterable[str]:
    for place, cell in enumerate(row):
        if cell.startswith("<td"):
            yield cell
        else:
            yield f'<th scope="row">{cell}</th>' if place == 0 else f"<td>{cell}</td>"


def number_cell(text: object, kind: str = "", more: str = "") -> str:
    """A cell of a number."""
    return f'<td class="number{kind}"{more}>{text}</td>'


def section(title: str, body: str, *, name: str = "", kind: str = "") -> str:
    """A part of the page with a heading; nothing where there is nothing to show."""
    if not body:
        return ""
    attributes = (f' id="{name}"' if name else "") + (f' class="{kind}"' if kind else "")
    return f'<section{attributes} aria-label="{escape(title)}"><h2>{escape(title)}</h2>{body}</section>\n'


def swatch(code: int) -> str:
    """Colour and shape of a cluster, as on the map."""
    shape = code // len(PALETTE) % SHAPES
    return f'<i class="swatch s{shape}" style="background:{_look(code)}"></i>'


def _look(code: int) -> str:
    return _LOOKS[code % len(_LOOKS)]


def feature_link(name: str, index: int | None) -> str:
    """A feature's name, which colours the map where the page carries it."""
    shown = escape(name).replace("_", "_<wbr>")
    return shown if index is None else f'<a href="#map" data-feature="{index}">{shown}</a>'


def alike(name: str, others: Sequence[str]) -> str:
    """Features that say the same as one; levels of its own column by the level alone."""
    if not others:
        return ""
    column, sign, _ = name.partition(" = ")
    names = [other.removeprefix(column + sign) if sign else other for other in others]
    listed = ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
    return f' <small title="{escape(", ".join(names))}">{"also" if sign else "like"} {escape(listed)}</small>'


def capital(text: str) -> str:
    """A text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def short(value: float) -> str:
    """A number in few digits."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"


def shown(value: object) -> str:
    """A value of any kind as text that is safe in HTML."""
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    if isinstance(value, dict):
        return ", ".join(f"{shown(key)}: {shown(one)}" for key, one in value.items())
    return escape(f"{value:.4g}" if isinstance(value, float) else str(value))
