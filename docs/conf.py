"""Sphinx configuration."""

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
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "support_table",
    "dataset_table",
    "reproduction",
]
exclude_patterns = ["_build", "_templates", "_ext"]
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {"show_prev_next": False, "secondary_sidebar_items": ["page-toc"]}
html_static_path = ["_static"]
html_title = "jointclust"
html_sidebars = {"**": []}
html_show_sourcelink = False

autosummary_generate = True
numpydoc_show_class_members = False
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
}
