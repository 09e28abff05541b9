"""Prints the dependencies at the lowest versions that pyproject.toml allows, for pip."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
for dependency in project["dependencies"]:
    print(re.sub(r">=([\d.]+).*", r"==\1.*", dependency))
