"""What goes out with the package says the same everywhere."""

import csv
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import jointclust as jc
from jointclust import cli

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
README = (ROOT / "README.md").read_text()


def test_the_recipe_asks_for_what_the_package_asks_for():
    recipe = (ROOT / "recipe" / "meta.yaml").read_text()
    calls = re.search(r"  run:\n((?:    - .*\n)+)", recipe)[1]
    values = {line.strip("- ").replace(" ", "") for line in calls.splitlines()}
    assert values == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    assert f'version: "{jc.__version__}"' in recipe
    scripts = [f"{name} = {target}" for name, target in PROJECT["scripts"].items()]
    assert re.search(r"  entry_points:\n((?:    - .*\n)+)", recipe)[1].split("\n")[:-1] == [
        f"    - {one}" for one in scripts
    ]


def test_the_version_to_cite_is_that_of_the_changelog():
    cited = (ROOT / "CITATION.cff").read_text()
    released = re.search(r"^date-released: (.*)", cited, re.MULTILINE)[1]
    assert f"\nversion: {jc.__version__}\n" in cited
    assert (
        re.search(r"^## (\S+ \(\d.*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
        == f"{jc.__version__} ({released})"
    )


def test_the_papers_go_with_this_version_and_bring_their_command():
    papers = tomllib.loads((ROOT / "papers" / "pyproject.toml").read_text())["project"]
    assert papers["version"] == jc.__version__
    assert f"jointclust=={jc.__version__}" in papers["dependencies"]
    brought = papers["entry-points"]["jointclust.commands"]
    assert dict.fromkeys(brought, papers["name"]) == {name: package for name, (package, _) in cli.ELSEWHERE.items()}


def test_lowest_versions_are_exact():
    """So that an install with them tests what is promised."""
    command = [sys.executable, str(ROOT / ".ci" / "lowest.py")]
    pinned = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert len(pinned) == len(PROJECT["dependencies"])
    for pin, dependency in zip(pinned, PROJECT["dependencies"], strict=True):
        name, lowest = re.match(r"([\w-]+)>=(\d+\.\d+)", dependency).groups()
        assert pin == f"{name}=={lowest}.*"


def test_links_of_the_readme_lead_somewhere():
    """In the repository; outside of it they lead back to it (`hatch_build.py`)."""
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert len(links) > 10
    for link in links:
        assert link.startswith("https://") or (ROOT / link).exists(), link


def test_the_readme_says_how_good_the_number_is():
    with (ROOT / "docs" / "evidence" / "judge_unseen.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    near = sum(int(row["factor 1.5"]) for row in rows)
    said = r"On (\d+) of (\d+) real data sets that nothing was chosen with it was within a factor of 1.5"
    text = re.search(said, README)
    assert tuple(map(int, text.groups())) == (near, len(rows))


def test_all_papers_are_cited():
    cited = (ROOT / "CITATION.cff").read_text()
    assert len(re.findall(r"^  - type: ", cited, re.MULTILINE)) == 4
    for method in re.findall(r"notes: (.*)", cited):
        assert all(hasattr(jc, name) for name in method.split(", "))
