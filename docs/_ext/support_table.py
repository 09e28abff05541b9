"""Tables of what each method supports and of what runs where, read off the estimators and off the contract tests.

So they cannot be out of date.
"""

import sys
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter
from sphinx.util.docutils import SphinxDirective

import jointclust as jc
from jointclust.registry import METHODS


def estimators():
    """Every method of the registry, and the supervised parents, by name."""
    return {cls.__name__: cls for cls in (*(entry.cls for entry in METHODS), jc.DiscriminantProjection)}


def takes(estimator, kind):
    """Whether rows of a kind can be fitted; estimators that know of none take none."""
    refusal = getattr(estimator, "_refusal", None)
    return refusal is not None and refusal(kind) is None


def sparse(cls, params):
    """By default, or in some setting only."""
    if get_tags(cls()).input_tags.sparse:
        return "yes"
    reduced = "n_components" in params and get_tags(cls(n_components=1)).input_tags.sparse
    return "with ``n_components``" if reduced else ""


def row(cls):
    """What one estimator supports, by column."""
    estimator = cls()
    params = estimator.get_params()
    return {
        "sparse rows": sparse(cls, params),
        "sample weights": "yes" if has_fit_parameter(estimator, "sample_weight") else "",
        "soft labels": "yes" if hasattr(cls, "predict_proba") else "",
        "kernels": "yes" if "kernel" in params else "",
        "outlier scores": "yes" if "outlier_scores_" in (cls.__doc__ or "") else "",
        "files larger than memory": "yes" if takes(estimator, "file") else "",
        "GPU arrays": "yes" if get_tags(estimator).array_api_support or takes(estimator, "device") else "",
        "Dask arrays": "yes" if takes(estimator, "dask") else "",
    }


class SupportTable(SphinxDirective):
    """``.. support-table::``."""

    def run(self):
        table = {name: row(cls) for name, cls in estimators().items()}
        columns = next(iter(table.values()))
        lines = [".. list-table::", "   :header-rows: 1", "", "   * - method", *(f"     - {name}" for name in columns)]
        for name, cells in table.items():
            lines += [f"   * - :class:`~jointclust.{name}`", *(f"     - {cell or 'no'}" for cell in cells.values())]
        return parsed(self, lines, "support-table")


def parsed(directive, lines, name):
    """The nodes of lines of reStructuredText."""
    node = nodes.container()
    directive.state.nested_parse(StringList(lines, source=name), directive.content_offset, node)
    return node.children


class PlaceTable(SphinxDirective):
    """``.. place-table::``: the calls and the places of the contract tests, all of which run in all of them."""

    def run(self):
        sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
        try:
            import places
        finally:
            del sys.path[0]
        calls = ", ".join(f"``{name}``" for name in places.CALLS)
        lines = [calls + ".", "", ".. list-table::", "   :header-rows: 1", ""]
        lines += ["   * - rows in", "     - pass", "     - tested by"]
        tested = {"``make test``": places.PLACES, "``make test-gpu``": places.DEVICES}
        for command, listed in tested.items():
            for name, what in listed.items():
                lines += [f"   * - {name}", f"     - {what}", f"     - {command}"]
        return parsed(self, lines, "place-table")


def setup(app):
    app.add_directive("support-table", SupportTable)
    app.add_directive("place-table", PlaceTable)
    return {"parallel_read_safe": True}
