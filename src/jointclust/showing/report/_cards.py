"""A card for each cluster."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from jointclust.showing.report import _pack
from jointclust.showing.report._content import DOUBTFUL, STABLE, Content
from jointclust.showing.report._html import feature_link, row_link, section, short, swatch, term

_FEATURES = 6
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
    profile = content.profile
    share = profile.sizes[cluster] / content.labels.size
    lines = [f"<p><b>{profile.sizes[cluster]:,}</b> rows ({share:.1%}){_stability(content, cluster)}</p>"]
    known = content.main_class(cluster)
    if known is not None:
        lines.append(f"<p>{known[1]:.0%} are of class {escape(known[0])}</p>")
    if content.image is None:
        lines.append(_features(content, cluster))
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
    word = "doubtful" if value < DOUBTFUL else "stable" if value >= STABLE else "fair"
    return f', {term("stability")} <b>{value:.2f}</b> <span class="tag {word}">{word}</span>'


def _features(content: Content, cluster: int) -> str:
    effects = content.profile.effects[cluster]
    order = [i for i in np.argsort(-np.abs(effects), kind="stable")[:_FEATURES] if effects[i] != 0]
    if not order:
        return "<p>No feature sets it apart.</p>" if content.n_clusters > 1 else ""
    largest = max(abs(effects[i]) for i in order)
    rows = "".join(
        f'<tr><th scope="row">{feature_link(i, content.names[i])}</th>'
        f'<td class="bar"><i class="{"up" if effects[i] > 0 else "down"}" '
        f'style="width:{100 * abs(effects[i]) / largest:.0f}%"></i></td><td>{effects[i]:+.1f}</td>'
        f"<td>{short(content.profile.means[cluster, i])}</td><td>{short(content.profile.rest[cluster, i])}</td></tr>"
        for i in order
    )
    return (
        '<table class="features"><thead><tr><th scope="col">set apart by</th>'
        f'<th scope="col" colspan="2">{term("effect")}</th>'
        f'<th scope="col">here</th><th scope="col">elsewhere</th></tr></thead><tbody>{rows}</tbody></table>'
    )


def _prototypes(content: Content, title: str, rows: NDArray[np.intp]) -> str:
    if len(rows) == 0:
        return ""
    links = [row_link(int(row), content.row_name(int(row))) for row in rows]
    if content.image is None:
        return f'<p class="rows">{title}: {", ".join(links)}</p>'
    shape, order = content.image
    images = content.data[np.asarray(rows)]
    images = images.toarray() if hasattr(images, "toarray") else np.asarray(images)
    pictures = "".join(
        f'<figure><img alt="" src="{_picture(image.reshape(shape, order=order))}">'
        f"<figcaption>{link}</figcaption></figure>"
        for link, image in zip(links, images, strict=True)
    )
    return f'<p class="rows">{title}</p><div class="images">{pictures}</div>'


def _picture(image: NDArray) -> str:
    return _pack.picture(image, float(np.nanmin(image)), float(np.nanmax(image)))
