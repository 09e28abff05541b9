"""The page: every piece of user text goes through ``escape``, or into JSON that the script shows as text."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib import resources
from string import Template

import numpy as np
from numpy.typing import NDArray

from jointclust._version import __version__
from jointclust.showing import fitted
from jointclust.showing.colours import PALETTE, SCALE
from jointclust.showing.report import _pack
from jointclust.showing.report._content import DOUBTFUL, STABLE, Content
from jointclust.showing.style import shared_style
from jointclust.types import Float

_FEATURES_PER_CARD = 6
_COLOURED_FEATURES = 4
_AXES = 3
_CARDS = 100
_MATRIX_ROWS = 400


def page(content: Content) -> str:
    """The whole file."""
    script = _resource("report.js") + _resource("painters.js")
    # Only this very script may run, whatever a cell of the data holds.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(_resource("page.html")).substitute(
        title=escape(content.title),
        policy=f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:",
        style=shared_style() + _resource("report.css"),
        script=script,
        data=_pack.script_json(_map_data(content)),
        facts=_facts(content),
        warnings=_warnings(content),
        cards=_cards(content),
        soft=_soft(content),
        objective=_objective(content),
        parameters=_parameters(content),
        version=escape(__version__),
    )


def _resource(name: str) -> str:
    return resources.files("jointclust.showing.report").joinpath(name).read_text(encoding="utf-8")


# -- the map ----------------------------------------------------------------------------------------------------


def _map_data(content: Content) -> dict[str, object]:
    columns = [_pack.categories("cluster", content.labels)]
    if content.classes is not None:
        columns.append(_pack.categories("class", content.classes))
    confidence = fitted.confidence_of(content.model)
    if confidence is not None:
        columns.append(_pack.numbers("confidence", confidence))
    for name, attribute in (("weight", "sample_weights_"), ("outlier score", "outlier_scores_")):
        if hasattr(content.clusterer, attribute):
            columns.append(_pack.numbers(name, getattr(content.clusterer, attribute)))
    for feature in _telling_features(content):
        values = content.data[:, [feature]]
        dense = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
        columns.append(_pack.numbers(content.names[feature], dense.ravel()))
    return {
        "n": int(content.labels.size),
        "axes": _axes(content.Y),
        "columns": [column for column in columns if column is not None],
        "ids": None if content.ids is None else _pack.names(content.ids),
        "palette": PALETTE,
        "scale": SCALE,
        "title": content.title,
    }


def _axes(Y: NDArray) -> list[dict[str, object]]:
    """The embedding along its own directions of largest variance; one dimension is spread out to be seen."""
    rows = np.asarray(Y, dtype=np.float64)
    rows = rows - rows.mean(axis=0)
    if rows.shape[1] > 1:
        rows = rows @ np.linalg.eigh(rows.T @ rows)[1][:, ::-1][:, :_AXES]
        return [_pack.axis(f"direction {index + 1}", column) for index, column in enumerate(rows.T)]
    spread = np.random.RandomState(0).uniform(-0.15, 0.15, len(rows)) * (np.ptp(rows) or 1.0)
    return [_pack.axis("direction 1", rows[:, 0]), _pack.axis("at random, to tell rows apart", spread)]


def _telling_features(content: Content) -> list[int]:
    """Features with the largest effect in any cluster, to colour the map by."""
    strongest = np.abs(content.profile.effects).max(axis=0)
    return [int(i) for i in np.argsort(-strongest, kind="stable")[:_COLOURED_FEATURES] if strongest[i] > 0]


# -- cards ------------------------------------------------------------------------------------------------------


def _cards(content: Content) -> str:
    n_clusters = content.profile.sizes.size
    shown = "".join(_card(content, cluster) for cluster in range(min(n_clusters, _CARDS)))
    more = f"<p>{n_clusters - _CARDS} more clusters are on the map only.</p>" if n_clusters > _CARDS else ""
    return f'<div class="cards">{shown}</div>{more}'


def _card(content: Content, cluster: int) -> str:
    profile = content.profile
    share = profile.sizes[cluster] / content.labels.size
    lines = [f"<p><b>{profile.sizes[cluster]:,}</b> rows ({share:.1%}){_stability(content.stability, cluster)}</p>"]
    known = content.main_class(cluster)
    if known is not None:
        lines.append(f"<p>{known[1]:.0%} are of class {escape(known[0])}</p>")
    if content.image is None:
        lines.append(_features(content, cluster))
    lines.append(_prototypes(content, "Most typical", profile.nearest[cluster]))
    lines.append(_prototypes(content, "Least typical", profile.farthest[cluster]))
    return (
        f'<article class="card" id="cluster-{cluster}"><h3>{swatch(cluster)} Cluster {cluster}</h3>{"".join(lines)}'
        f'<p class="actions"><button type="button" data-only="{cluster}">Show only this</button> '
        f'<button type="button" data-select="{cluster}">Select its rows</button></p></article>'
    )


def swatch(code: int) -> str:
    """Colour and shape of a cluster, as on the map."""
    size = len(PALETTE)
    return f'<i class="swatch s{code // size % 4}" style="background:{PALETTE[code % size]}"></i>'


def _stability(stability: Float | None, cluster: int) -> str:
    if stability is None or cluster >= stability.size or np.isnan(stability[cluster]):
        return ""
    value = float(stability[cluster])
    word = "doubtful" if value < DOUBTFUL else "stable" if value >= STABLE else "fair"
    return f', stability <b>{value:.2f}</b> <span class="tag {word}">{word}</span>'


def _features(content: Content, cluster: int) -> str:
    effects = content.profile.effects[cluster]
    order = [i for i in np.argsort(-np.abs(effects), kind="stable")[:_FEATURES_PER_CARD] if effects[i] != 0]
    if not order:
        return "<p>No feature sets it apart.</p>"
    largest = max(abs(effects[i]) for i in order)
    rows = "".join(
        f'<tr><th scope="row">{escape(content.names[i])}</th>'
        f'<td class="bar"><i class="{"up" if effects[i] > 0 else "down"}" '
        f'style="width:{100 * abs(effects[i]) / largest:.0f}%"></i></td><td>{effects[i]:+.1f}</td>'
        f"<td>{_short(content.profile.means[cluster, i])}</td><td>{_short(content.profile.rest[cluster, i])}</td></tr>"
        for i in order
    )
    return (
        '<table class="features"><thead><tr><th scope="col">set apart by</th><th></th>'
        '<th scope="col" title="Cohen\'s d: difference of the means in standard deviations">effect</th>'
        f'<th scope="col">here</th><th scope="col">elsewhere</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _short(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"


def _prototypes(content: Content, title: str, rows: NDArray[np.intp]) -> str:
    if len(rows) == 0:
        return ""
    names = [escape(content.row_name(int(row))) for row in rows]
    if content.image is None:
        return f'<p class="rows">{title}: {", ".join(names)}</p>'
    shape, order = content.image
    images = content.data[np.asarray(rows)]
    images = images.toarray() if hasattr(images, "toarray") else np.asarray(images)
    pictures = "".join(
        f'<figure><img alt="row {name}" src="{_picture(image.reshape(shape, order=order))}">'
        f"<figcaption>{name}</figcaption></figure>"
        for name, image in zip(names, images, strict=True)
    )
    return f'<p class="rows">{title}</p><div class="images">{pictures}</div>'


def _picture(image: NDArray) -> str:
    return _pack.picture(image, float(np.nanmin(image)), float(np.nanmax(image)))


# -- the other sections -----------------------------------------------------------------------------------------


def _facts(content: Content) -> str:
    return "".join(f"<div><dt>{key}</dt><dd>{escape(value)}</dd></div>" for key, value in content.facts().items())


def _warnings(content: Content) -> str:
    found = "".join(f"<li>{escape(text)}</li>" for text in content.advice())
    return f'<section class="warnings" aria-label="Beware"><h2>Beware</h2><ul>{found}</ul></section>' if found else ""


def _soft(content: Content) -> str:
    return _soft_matrix(content) + _uncertain(content)


def _soft_matrix(content: Content) -> str:
    soft = fitted.soft_labels_of(content.model)
    if soft is None:
        return ""
    order = np.lexsort((-np.asarray(soft).max(axis=1), content.labels))
    order = order[np.linspace(0, order.size - 1, min(order.size, _MATRIX_ROWS)).astype(int)]
    source = _pack.picture(np.asarray(soft)[order].T, 0.0, 1.0, coloured=True)
    return (
        '<section aria-label="Soft labels"><h2>Soft labels</h2><p>One column per row of the data, sorted by cluster; '
        "one line per cluster; bright is probable. Columns with more than one bright place lie between clusters.</p>"
        f'<img class="matrix" alt="Probability of every cluster for a sample of the rows" src="{source}"></section>'
    )


def _uncertain(content: Content) -> str:
    found = content.uncertain()
    if found is None:
        return ""
    name, rows = found
    body = "".join(
        f"<tr><td>{escape(content.row_name(row))}</td><td>{content.labels[row]}</td><td>{value:.3g}</td></tr>"
        for row, value in rows
    )
    title = "Rows that fit least" if name == "outlier score" else "Least certain rows"
    return (
        f'<section aria-label="{title}"><h2>{title}</h2><div class="wide"><table><thead><tr><th scope="col">row</th>'
        f'<th scope="col">cluster</th><th scope="col">{name}</th></tr></thead><tbody>{body}</tbody></table></div>'
        "</section>"
    )


def _objective(content: Content) -> str:
    history = fitted.objective_of(content.model)
    if history is None or len(history) < 2 or not np.isfinite(history).all():
        return ""
    low, high = float(history.min()), float(history.max())
    x = np.linspace(60, 590, len(history))
    y = 150 - 130 * (history - low) / ((high - low) or 1.0)
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    return (
        '<section aria-label="Objective"><h2>Objective</h2><svg class="curve" viewBox="0 0 600 180" role="img" '
        f'aria-label="The objective over {len(history)} iterations, from {history[0]:.4g} to {history[-1]:.4g}">'
        f'<polyline points="{points}"/><text x="4" y="24">{high:.4g}</text><text x="4" y="154">{low:.4g}</text>'
        f'<text x="60" y="174">1</text><text x="590" y="174" text-anchor="end">iteration {len(history)}</text>'
        "</svg></section>"
    )


def _parameters(content: Content) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(_value(value))}</td><td>{escape(origin)}</td></tr>'
        for name, (value, origin) in content.parameters.items()
        if value not in (None, "", (), [])
    )
    table = (
        '<div class="wide"><table><thead><tr><th scope="col">parameter</th><th scope="col">value</th>'
        f'<th scope="col">chosen by</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )
    return table + _candidates(content)


def _candidates(content: Content) -> str:
    if content.candidates is None:
        return ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in content.candidates)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_value(value))}</td>" for value in row) + "</tr>"
        for row in zip(*content.candidates.values(), strict=True)
    )
    return (
        "<h3>What was tried</h3><p>No labels were used: the score says how much a candidate agrees with the others, or "
        "what the criterion above measures; greater is better.</p>"
        f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _value(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
