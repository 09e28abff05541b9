"""The table of the data sets, read off the registry."""

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

import jointclust as jc

BUILT_IN = {*jc.datasets._BUNDLED, *jc.datasets._DRAWN}
COLUMNS = ("name", "rows", "columns", "classes", "in the papers", "how to get it", "source and terms")


def row(entry):
    """The cells of one data set."""
    how = "downloaded" if entry.url else "built in" if entry.name in BUILT_IN else "bring your own"
    size = ("" if number is None else str(number) for number in (entry.n_samples, entry.n_features, entry.n_classes))
    papers = ", ".join(f"{paper} ({name})" for paper, name in entry.papers.items())
    parts = [entry.source, f"terms: {entry.terms}" if entry.terms else "", f"note: {entry.note}" if entry.note else ""]
    return [f"``{entry.name}``", *size, papers, how, "; ".join(part for part in parts if part)]


class DatasetTable(SphinxDirective):
    """``.. dataset-table::``."""

    def run(self):
        lines = [".. list-table::", "   :header-rows: 1", ""]
        for cells in [COLUMNS, *map(row, jc.datasets.registry().values())]:
            lines += [f"   {'* -' if index == 0 else '  -'} {cell}" for index, cell in enumerate(cells)]
        node = nodes.container()
        self.state.nested_parse(StringList(lines, source="dataset-table"), self.content_offset, node)
        return node.children


def setup(app):
    app.add_directive("dataset-table", DatasetTable)
    return {"parallel_read_safe": True}
