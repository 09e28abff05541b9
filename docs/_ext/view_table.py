"""The table of the views, read off the registry, so that it cannot be out of date."""

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from jointclust.views.registry import SCALES


def cells(scale, view):
    """What there is to say of one view, by column."""
    places = sorted(view.suits.items(), key=lambda item: item[1])
    return {
        "view": f'``"{view.name}"``',
        "because": view.reason,
        "kinds of data, and its place among their views": ", ".join(f"{kind} ({place})" for kind, place in places),
        "on the command line": f"``--scale {scale}``",
    }


class ViewTable(SphinxDirective):
    """``.. view-table::``."""

    def run(self):
        rows = [cells(scale, view) for scale, view in SCALES.items()]
        lines = [".. list-table::", "   :header-rows: 1", ""]
        for row in (rows[0].keys(), *(row.values() for row in rows)):
            first, *others = row
            lines += [f"   * - {first}", *(f"     - {cell or 'when asked for'}" for cell in others)]
        node = nodes.container()
        self.state.nested_parse(StringList(lines, source="view-table"), self.content_offset, node)
        return node.children


def setup(app):
    app.add_directive("view-table", ViewTable)
    return {"parallel_read_safe": True}
