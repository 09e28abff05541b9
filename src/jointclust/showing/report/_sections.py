"""The parts of the page that need no script, as HTML: all text goes through ``escape``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from jointclust.showing import rules
from jointclust.showing.explain import ClusterExplanation
from jointclust.showing.report._content import Content, steady_word
from jointclust.showing.report._payload import picture
from jointclust.showing.style import PALETTE, SHAPES, looks

_MATRIX_ROWS = 400
_CLASSES = 60
_HEATED = 30
_TOP = 3
_FEATURES, _RULES = 6, 2
# Rules that hold of fewer rows than this share tell little.
_TELLING = 0.5
_CARDS = 100
_COLUMNS = 60
_LOOKS = looks()
# What the page's words mean, by the word.
WORDS = {
    "agreement": "How alike the members of the consensus cluster the rows: the mean adjusted Rand index over pairs of "
    "them, 1 where all find the same and near 0 where each finds something else.",
    "confidence": "How likely a row is put with the same rows again when other rows are clustered, 0 to 1: of rows "
    "with 0.8 about 80% are. Whether its cluster is one of somebody's classes is another question. For a soft method "
    "it is the label's own probability.",
    "effect": "Cohen's d: the difference between the mean in the cluster and the mean of all other rows, in standard "
    "deviations. 0.8 is large, 3 means that the two hardly overlap. It describes and tests nothing: the same rows made "
    "the clusters.",
    "found again": "How far fits on other rows find the cluster: each is made on half of the rows, labels the other "
    "half, and there the rows that a cluster and its match share are counted over those that either has (the Jaccard "
    "index). Below 60% the cluster is hardly found again, from 85% on it is.",
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


def sure(content: Content) -> str:
    """One sentence and a few numbers."""
    terms = {"agreement", "silhouette"}
    facts = "".join(
        f"<div><dt>{term(key) if key in terms else escape(key)}</dt><dd>{escape(value)}</dd></div>"
        for key, value in content.facts().items()
    )
    return f'<p class="sure">{escape(content.sure())}</p><dl class="facts">{facts}</dl>'


def warnings(content: Content) -> str:
    """What to read first."""
    found = "".join(f"<li>{escape(text)}</li>" for text in content.advice())
    return section("Beware", f"<ul>{found}</ul>" if found else "", kind="warnings")


def notes(content: Content) -> str:
    """What was done to the data, and is no danger."""
    found = "".join(f"<li>{escape(text)}</li>" for text in content.notes)
    return section("Notes", f"<ul>{found}</ul>" if found else "")


def clusters(content: Content) -> str:
    """One line per cluster, to sort."""
    of_each = {"found again": content.steadiness, "confidence": content.mean_confidence}
    of_each["silhouette"] = None if content.silhouette is None else content.silhouette[0]
    measured = {name: values for name, values in of_each.items() if values is not None}
    has_features = content.image is None and content.n_clusters > 1
    sorted_by = ["cluster", "rows", *measured, *([] if content.classes is None else ["main class"])]
    head = [
        f'<th scope="col" aria-sort="none">{term(name) if name in measured else name}'
        f'<button type="button" class="sort js" aria-label="Sort by {name}"></button></th>'
        for name in sorted_by
    ]
    rows = []
    for k, size in enumerate(content.fitted.profile.sizes.tolist()):
        link = f'{swatch(k)} <a href="#cluster-{k}" data-name="{k}">Cluster {k}</a>'
        line = [f'<td data-sort="{k}">{link}</td>', number_cell(f"{size:,}", more=f' data-sort="{size}"')]
        for value in (_at(values, k) for values in measured.values()):
            text, sort = ("", "") if value is None else (f"{value:.2f}", value)
            line.append(number_cell(text, more=f' data-sort="{sort}"'))
        if content.classes is not None:
            main = content.main_class(k)
            line.append("" if main is None else f"{escape(main[0])}\u00a0({main[1]:.0%})")
        rows.append([*line, f'<td class="apart">{_top_features(content, k)}</td>'] if has_features else line)
    head += ["set apart by"] if has_features else []
    return section("Overview", table(head, rows, kind="sortable"), name="overview")


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
    if content.classes is None:
        return ""
    names, codes = content.class_codes
    counts = np.zeros((content.n_clusters, len(names)), np.intp)
    np.add.at(counts, (content.fitted.labels, codes), 1)
    more = f"<p>{len(names) - _CLASSES} more classes are not shown.</p>" if len(names) > _CLASSES else ""
    largest = max(int(counts.max()), 1)
    head = ["cluster", *map(escape, names[:_CLASSES])]
    rows = [[_named(k), *(_heat_cell(n or "·", n / largest) for n in own[:_CLASSES])] for k, own in enumerate(counts)]
    return section("Clusters and classes", table(head, rows) + more, name="classes")


def heat_map(content: Content) -> str:
    """Features that set clusters apart, by cluster; of those that say the same, one."""
    if content.n_clusters < 2 or content.image is not None:
        return ""
    groups = [group for group in content.fitted.explanation.groups if group[0] in content.index_of][:_HEATED]
    if not groups:
        return ""
    head = ["feature", *(f"{swatch(k)} {k}" for k in range(content.n_clusters))]
    rows, profile = [], content.fitted.profile
    for name, *others in groups:
        index = content.index_of[name]
        line = [feature_link(name, index) + alike(name, others)]
        columns = (values[:, index] for values in (profile.effects, profile.means, profile.rest))
        for value, here, rest in zip(*columns, strict=True):
            kind, text = " above" if value > 0 else " below", f"{value:+.1f}" if abs(value) >= 0.05 else "0"
            hint = f' title="mean {short(here)}, elsewhere {short(rest)}"'
            line.append(_heat_cell(text, min(abs(value) / 3, 1.0), kind, hint))
        rows.append(line)
    told = f"The {term('effect')} of the features that set clusters apart most; click one to colour the map by it."
    return section("Features and clusters", f"<p>{told}</p>{table(head, rows, kind='heated')}", name="heat")


def _heat_cell(text: object, strength: float, kind: str = "", hint: str = "") -> str:
    return number_cell(text, f" heat{kind}", f' style="--heat:{strength:.2f}"{hint}')


def _named(cluster: int) -> str:
    return f'{swatch(cluster)} <span data-name="{cluster}">Cluster {cluster}</span>'


def soft(content: Content) -> str:
    """Soft labels as a picture."""
    found = content.fitted.soft_labels
    if found is None or content.n_clusters < 2:
        return ""
    order = np.lexsort((-np.asarray(found).max(axis=1), content.fitted.labels))
    order = order[np.linspace(0, order.size - 1, min(order.size, _MATRIX_ROWS)).astype(int)]
    source = picture(np.asarray(found)[order].T, (0.0, 1.0), coloured=True)
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
        labels = content.fitted.labels
        lines = [[_row(content, row), str(labels[row]), number_cell(f"{value:{digits}}")] for row, value in rows]
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


def columns(content: Content) -> str:
    """What each column of the data is, whether it is used, and how far it separates the clusters."""
    found = content.fitted.columns
    if not found:
        return ""
    # Those that separate the clusters most come first, and those that are not used last.
    found = sorted(found, key=lambda one: (not one["used"], -np.nan_to_num(one["drives"], nan=-1.0)))
    shown_ones = [one for one in found if one["used"]][:_COLUMNS] + [one for one in found if not one["used"]][:_COLUMNS]
    rows = [
        [
            escape(one["name"]),
            one["kind"],
            "yes" if one["used"] else "no",
            number_cell(_known(one["drives"], ".2f")),
            number_cell(_known(one["related"], ".1f")),
            escape(one["why"]),
        ]
        for one in shown_ones
    ]
    told = "".join(f"<p><b>{escape(text)}</b></p>" for text in content.guard)
    more = len(found) - len(shown_ones)
    told += f"<p>{more:,} more columns are not shown.</p>" if more else ""
    head = ["column", "kind", "used", term("drives"), term("related"), "why"]
    return section("Columns", told + table(head, rows, kind="texts"), name="columns")


def _known(value: float, digits: str) -> str:
    return "" if np.isnan(value) else f"{value:{digits}}"


def views(content: Content) -> str:
    """Which views of the data were used, and why."""
    found = getattr(content.fitted.clusterer, "views_", None)
    if not found:
        return ""
    rows = [[escape(one["name"]), number_cell(f"{one['weight']:.2f}"), escape(one["reason"])] for one in found]
    return section("Views of the data", table(["view", "weight", "why"], rows, kind="texts"), name="views")


def chosen_features(content: Content) -> str:
    """The features that a sparse method keeps."""
    support = getattr(content.fitted.clusterer, "support_", None)
    if support is None or len(support) != len(content.fitted.names):
        return ""
    found = [int(index) for index in content.telling if support[index]]
    listed = ", ".join(feature_link(content.fitted.names[index], index) for index in found[:200])
    more = f" and {len(found) - 200} more" if len(found) > 200 else ""
    told = f"The method keeps {len(found)} of {len(content.fitted.names)} features; the others have no part in it."
    return section("Chosen features", f"<p>{told}</p><p>{listed}{more}</p>", name="chosen")


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


def cards(content: Content) -> str:
    """All cards, or the first of many."""
    first = "".join(_card(content, cluster) for cluster in range(min(content.n_clusters, _CARDS)))
    n_more = content.n_clusters - _CARDS
    more = f"<p>{n_more} more clusters are on the map only.</p>" if n_more > 0 else ""
    return section("Clusters", f'<div class="cards">{first}</div>{more}', name="clusters")


def _card(content: Content, cluster: int) -> str:
    profile = content.fitted.profile
    share = profile.sizes[cluster] / content.fitted.labels.size
    lines = [f"<p><b>{profile.sizes[cluster]:,}</b> rows ({share:.1%}){_stability(content, cluster)}</p>"]
    known = content.main_class(cluster)
    if known is not None:
        lines.append(f"<p>{known[1]:.0%} are of class {escape(known[0])}</p>")
    found = content.explained(cluster)
    if found is not None:
        lines += [_rules(found), _features(content, found)]
    lines.append(_prototypes(content, "Most typical", profile.nearest[cluster]))
    lines.append(_prototypes(content, "Least typical", profile.farthest[cluster]))
    return (
        f'<article class="card" id="cluster-{cluster}"><h3>{_named(cluster)}</h3>{"".join(lines)}'
        f'<p class="actions js"><button type="button" data-only="{cluster}">Show only this</button> '
        f'<button type="button" data-select="{cluster}">Select its rows</button></p></article>'
    )


def _stability(content: Content, cluster: int) -> str:
    value = _at(content.steadiness, cluster)
    if value is None:
        return ""
    word = steady_word(value)
    tag = f'<span class="tag {word.replace(" ", "-")}">{word}</span>'
    return f", {term('found again')} on other rows: <b>{value:.0%}</b> {tag}"


def _rules(found: ClusterExplanation) -> str:
    rules = [rule for rule in found.rules[:_RULES] if rule.precision >= _TELLING]
    return "".join(
        f'<p class="rule">{"Or if" if number else "If"} <b>{escape(str(rule))}</b>: {rule.precision:.0%} of such rows '
        f"are here, {rule.coverage:.0%} of its rows are such.</p>"
        for number, rule in enumerate(rules)
    )


def _features(content: Content, found: ClusterExplanation) -> str:
    features = found.features[:_FEATURES]
    if not features:
        return "<p>No feature sets it apart.</p>"
    largest = max(abs(feature.effect) for feature in features)
    rows = "".join(
        f'<tr><th scope="row">{feature_link(one.name, content.index_of.get(one.name))}{alike(one.name, one.alike)}</th>'
        f'<td class="bar"><i class="{"up" if one.effect > 0 else "down"}" '
        f'style="width:{100 * abs(one.effect) / largest:.0f}%"></i></td><td>{one.effect:+.1f}</td>'
        f"<td>{_mean(one.mean, one.kind)}</td><td>{_mean(one.rest, one.kind)}</td></tr>"
        for one in features
    )
    return (
        '<table class="features"><thead><tr><th scope="col">set apart by</th>'
        f'<th scope="col" colspan="2">{term("effect")}</th>'
        f'<th scope="col">here</th><th scope="col">elsewhere</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _mean(value: float, kind: str) -> str:
    return rules.shown(value, kind, 4) if kind == "date" else short(value)


def _row(content: Content, row: int) -> str:
    """A row's name, which leads to the row."""
    return f'<a href="#map" data-row="{row}">{escape(str(row) if content.ids is None else content.ids[row])}</a>'


def _prototypes(content: Content, title: str, rows: NDArray[np.intp]) -> str:
    if len(rows) == 0:
        return ""
    links = [_row(content, int(row)) for row in rows]
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


def table(head: Iterable[str], rows: Iterable[Iterable[str]], *, kind: str = "") -> str:
    """A table of cells that are HTML already, each row headed by its first, in a box that scrolls sideways."""
    top = "".join(cell if cell.startswith("<th") else f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join("<tr>" + "".join(_cells(row)) + "</tr>" for row in rows)
    attributes = f' class="{kind}"' if kind else ""
    return (
        f'<div class="wide" tabindex="0"><table{attributes}><thead><tr>{top}</tr></thead>'
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
    return f'<i class="swatch s{shape}" style="background:{_LOOKS[code % len(_LOOKS)]}"></i>'


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
    return f' <small title="{escape(", ".join(names))}">as {escape(listed)}</small>'


def short(value: float) -> str:
    """A number in few digits."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"


def shown(value: object) -> str:
    """A value of any kind as text that is safe in HTML."""
    if isinstance(value, dict):
        return ", ".join(f"{shown(key)}: {shown(one)}" for key, one in value.items())
    return escape(f"{value:.4g}" if isinstance(value, float) else str(value))
