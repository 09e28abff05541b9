"""The data that the judge learns from: thirty draws as a picture, kinds and ingredients read off the code."""

import base64
import io
import warnings
from html import escape

import numpy as np
from docutils import nodes
from docutils.statemachine import StringList
from matplotlib.figure import Figure
from scipy.sparse import issparse
from sphinx.util.docutils import SphinxDirective

from jointclust.judge import ingredients, plan, prior
from jointclust.views.preparation import Preparation

ALT = "Thirty planted data sets in two directions each: clear, overlapping and hopeless ones, and some without clusters"
TABLES = {
    "clusters": plan.WITHIN,
    "columns": ingredients.COLUMNS,
    "silent": ingredients.SILENT | ingredients.RELATED,
}


def two_directions(X):
    """The first two principal directions of the rows that the library prepares."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what it says of gaps and marks
        rows = Preparation().fit_transform(X)
    rows = rows.toarray() if issparse(rows) else np.asarray(rows, dtype=float)
    rows = np.c_[rows - rows.mean(axis=0), np.zeros(len(rows))]  # one column is drawn as a line
    left, values, _ = np.linalg.svd(rows, full_matrices=False)
    return left[:, :2] * values[:2]


def picture():
    """Thirty draws as a PNG."""
    figure = Figure(figsize=(12, 15), layout="constrained")
    for seed, ax in enumerate(figure.subplots(6, 5).flat):
        planted = prior.draw(seed)
        points, belongs = two_directions(planted.X), planted.y >= 0
        colors = "turbo" if planted.y.max() > 9 else "tab10"
        top = max(planted.y.max(), 9)
        ax.scatter(*points[~belongs].T, s=10, color="grey", marker="x", linewidths=0.7)
        ax.scatter(*points[belongs].T, s=5, c=planted.y[belongs], cmap=colors, vmin=0, vmax=top, linewidths=0)
        number = planted.note["clusters"]
        ax.set_title(f"{seed}: {planted.kind}, {len(points)} rows, k = {number}", fontsize=9)
        ax.set(xticks=[], yticks=[])
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=80)
    return file.getvalue()


def list_of(chances):
    """Functions and how often they are drawn, in percent, as lines of a table."""
    lines = [".. list-table::", "   :widths: 20 65 15", ""]
    for function, chance in chances.items():
        said = function.__doc__.splitlines()[0].replace("\\", "\\\\")
        lines += [f"   * - ``{function.__name__}``", f"     - {said}", f"     - {100 * chance:.0f}%"]
    return lines


def kinds():
    """The kinds of data and their shares."""
    total = sum(weight for _, weight in prior.KINDS.values())
    return {make: weight / total for make, weight in prior.KINDS.values()}


class Planted(SphinxDirective):
    """``.. planted:: pictures``, ``kinds``, or the name of a table of ingredients."""

    required_arguments = 1

    def run(self):
        [what] = self.arguments
        if what == "pictures":
            data = base64.b64encode(picture()).decode()
            html = f'<img alt="{escape(ALT)}" src="data:image/png;base64,{data}">'
            return [nodes.raw("", html, format="html")]
        node = nodes.container()
        lines = list_of(kinds() if what == "kinds" else TABLES[what])
        self.state.nested_parse(StringList(lines, source="planted"), self.content_offset, node)
        return node.children


def setup(app):
    app.add_directive("planted", Planted)
    return {"parallel_read_safe": True}
