"""Docstrings are complete, though many entries stand in one table."""

import inspect
import re

import pytest

from jointclust import registry
from jointclust.estimators.shared_docs import completed
from jointclust.methods.supervised import DiscriminantProjection

CLASSES = [*(method.cls for method in registry.METHODS), DiscriminantProjection]


@pytest.mark.parametrize("cls", CLASSES)
def test_every_parameter_is_described(cls):
    text = inspect.getdoc(cls)
    for name, parameter in inspect.signature(cls).parameters.items():
        entry = re.search(rf"^{name} : .*\n    \S", text, re.MULTILINE)
        assert entry is not None, name
        if isinstance(parameter.default, int | float | str):
            stated = re.search(r"default=(\S+)$", entry[0].split("\n")[0])[1].strip('"')
            assert stated == str(parameter.default) or float(stated) == parameter.default


def test_a_line_of_names_becomes_their_entries():
    text = completed("One line.\n\n    Attributes\n    ----------\n    mean_, exact_\n    own_, mean_\n    ")
    assert "    mean_ : array of shape (n_features,)\n        Mean row, subtracted first.\n    exact_ : bool\n" in text
    assert text.endswith("\n    own_, mean_\n    ")  # one of these names is not shared
    assert completed(None) is None


def test_names_with_a_description_stay():
    text = "One line.\n\n    n_iter_, converged_\n        1 and True.\n    "
    assert completed(text) == text
