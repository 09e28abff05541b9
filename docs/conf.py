"""Sphinx configuration."""

import importlib.util
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
os.environ.setdefault("OMP_NUM_THREADS", "1")

import jointclust

project = "jointclust"
author = "The jointclust developers"
copyright = "2026, The jointclust developers"
version = release = jointclust.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "myst_parser",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "support_table",
    "view_table",
    "dataset_table",
    "planted",
    "reproduction",
]
# Formulas are drawn by a file of the site's own: no page asks the network.
MATHJAX = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax" / "tex-svg.js"
mathjax_path = MATHJAX.name
exclude_patterns = ["_build", "_templates", "_ext"]
templates_path = ["_templates"]
nitpicky = True  # a link to the API that leads nowhere is a warning
html_theme = "pydata_sphinx_theme"
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 4,
}
toc_object_entries_show_parents = "hide"
html_static_path = ["_static", str(MATHJAX)]
html_css_files = ["site.css"]
html_title = "jointclust"
html_sidebars = {"**": []}
html_show_sourcelink = False

autosummary_generate = True
autodoc_typehints = "none"  # the sections say what things are, in words
numpydoc_show_class_members = False
myst_update_mathjax = False
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,  # a page that asks the network
}
