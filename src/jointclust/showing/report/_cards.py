"""A card for each cluster."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from jointclust.showing.explain import ClusterExplanation
from jointclust.showing.report import _pack
from jointclust.showing.report._content import Content, steady_word
from jointclust.showing.report._html import alike, feature_link, row_link, section, short, swatch, term
from jointclust.showing.rules import shown

_FEATURES, _RULES = 6, 2
# Rules that hold of fewer rows than this share tell little.
_TELLING = 0.5
_CARDS = 100


def cards(content: Content) -> str:
    """All cards, or the first of many."""
    shown = "".join(_card(content, cluster) for cluster in range(min(content.n_clusters, _CARDS)))
    more = (
        f"<p>{content.n_clusters - _CARDS} more clusters are on the map only.</p>"
        if content.n_clusters > _CARDS
        else ""
    )
    return section("Clusters", f'<div class="cards">{shown}</div>{more}', name="clusters")


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
        f'<article class="card" id="cluster-{cluster}"><h3>{swatch(cluster)} '
        f'<span data-name="{cluster}">Cluster {cluster}</span></h3>{"".join(lines)}'
        f'<p class="actions js"><button type="button" data-only="{cluster}">Show only this</button> '
        f'<button type="button" data-select="{cluster}">Select its rows</button></p></article>'
    )


def _stability(content: Content, cluster: int) -> str:
    stability = content.steadiness
    if stability is None or cluster >= stability.size or np.isnan(stability[cluster]):
        return ""
    value = float(stability[cluster])
    word = steady_word(value)
    return f', {term("stability")} <b>{value:.2f}</b> <span class="tag {word.replace(" ", "-")}">{word}</span>'


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
    return shown(value, kind, 4) if kind == "date" else short(value)


def _prototypes(content: Content, title: str, rows: NDArray[np.intp]) -> str:
    if len(rows) == 0:
        return ""
    links = [row_link(int(row), content.row_name(int(row))) for row in rows]
    if content.image is None:
        return f'<p class="rows">{title}: {", ".join(links)}</p>'
    shape, order = content.image
    images = content.fitted.data[np.asarray(rows)]
    images = images.toarray() if hasattr(images, "toarray") else np.asarray(images)
    pictures = "".join(
        f'<figure><img alt="" src="{_picture(image.reshape(shape, order=order))}">'
        f"<figcaption>{link}</figcaption></figure>"
        for link, image in zip(links, images, strict=True)
    )
    return f'<p class="rows">{title}</p><div class="images">{pictures}</div>'


def _picture(image: NDArray) -> str:
    return _pack.picture(image, float(np.nanmin(image)), float(np.nanmax(image)))
