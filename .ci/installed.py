"""What has to hold of the package where it is installed, with nothing but what it asks for."""

import importlib.metadata
import importlib.resources
import importlib.util
import re

import jointclust as jc

metadata = importlib.metadata.metadata("jointclust")
assert metadata["Version"] == jc.__version__
assert not re.search(r"\]\((?!https://)", metadata.get_payload()), "a link of the README leads nowhere outside of it"
assert importlib.resources.files(jc).joinpath("py.typed").is_file(), "type checkers are not told"
assert not any(map(importlib.util.find_spec, ("pandas", "matplotlib", "torch", "anndata"))), "not a clean environment"
assert importlib.util.find_spec("jointclust_papers") is None, "the papers are a distribution of their own"
assert not importlib.metadata.entry_points(group="jointclust.commands"), "and so is the command that they bring"
print(jc.cluster(jc.datasets.load("wine").data, 3, random_state=0).labels_)
