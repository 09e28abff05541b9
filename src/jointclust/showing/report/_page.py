"""The page: every piece of user text goes through ``escape``, or into JSON that the script shows as text."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib import resources
from string import Template

from jointclust._version import __version__
from jointclust.showing.report import _pack, _sections
from jointclust.showing.report._cards import cards
from jointclust.showing.report._content import Content
from jointclust.showing.report._html import glossary
from jointclust.showing.report._payload import features, payload
from jointclust.showing.style import shared_style

# The script, in the order in which its parts need each other; `main` starts it.
_DRAWING = ("data", "view", "painters", "labels", "legend")
_EXPLORING = ("selection", "features", "rows", "layers", "names", "saving", "hands", "main")
_SCRIPT = (*_DRAWING, *_EXPLORING)
# Functions of `_sections`, each of which fills the place of its name.
_FOUND = ("clusters", "number", "classes", "heat_map", "soft", "uncertain", "chosen_features")
_PARTS = (*_FOUND, "views", "objective", "parameters", "made")


def page(content: Content) -> str:
    """The whole file, with as many features as there is room for."""
    script = "".join(_resource(f"script/{name}.js") for name in _SCRIPT)
    # Only this very script may run, whatever a cell of the data holds.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    data = payload(content)
    template = Template(_resource("page.html"))
    texts = {
        "title": escape(content.title),
        "policy": f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:",
        "style": shared_style() + _resource("report.css"),
        "script": script,
        "sure": _sections.sure(content),
        "warnings": _sections.beware(content),
        "cards": cards(content),
        "words": glossary(),
        "version": escape(__version__),
    } | {name: getattr(_sections, name)(content) for name in _PARTS}
    bare = template.substitute(texts, data=_pack.script_json({**data, "features": []}))
    room = int(content.most_megabytes * 1e6) - len(bare.encode())
    return template.substitute(texts, data=_pack.script_json({**data, "features": features(content, room)}))


def _resource(name: str) -> str:
    return resources.files("jointclust.showing.report").joinpath(name).read_text(encoding="utf-8")
