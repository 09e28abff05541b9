"""What the pages tell people to type: every Python block runs, and every command of the guide by tasks."""

import importlib.util
import re
import shlex
import textwrap
from pathlib import Path

import pytest
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

from jointclust import cli
from jointclust.datasets import _everyday

ROOT = Path(__file__).parents[1]
FOLDERS = [ROOT / "docs", ROOT / "docs" / "methods"]
PAGES = [ROOT / "README.md", *(page for folder in FOLDERS for page in sorted(folder.glob("*.rst")))]
TASKS = sorted((ROOT / "docs" / "tasks").glob("*.rst"))


def blocks_of(page):
    """The code blocks of a page: pairs of language and code."""
    text = page.read_text()
    if page.suffix == ".md":
        return re.findall(r"```(python)\n(.*?)```", text, flags=re.DOTALL)
    result = re.findall(r"\.\. code-block:: (\w+)\n\n((?:   .*\n|\n)+)", text)
    return [(language, textwrap.dedent(code)) for language, code in result]


def run(code, page, namespace):
    """Run a block of Python, unless it says that it needs another project that is not installed."""
    needed = re.match(r"# needs (\w+)", code)
    if needed and importlib.util.find_spec(needed[1]) is None:
        return
    exec(compile(code, page.name, "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_blocks_run(page, tmp_path, monkeypatch):
    """Every Python block of a page runs, in order, in one namespace."""
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for language, code in blocks_of(page):
        if language == "python":
            run(code, page, namespace)


@pytest.mark.parametrize("page", TASKS, ids=lambda page: page.name)
def test_guide_runs(page, tmp_path, monkeypatch):
    """Every block of a page of the guide runs, commands too, on fewer rows than people draw."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_everyday, "TABLES", {name: (draw, 240) for name, (draw, _) in _everyday.TABLES.items()})
    digits = load_digits()
    few = Bunch(**digits | {"data": digits.data[:300], "target": digits.target[:300], "images": digits.images[:300]})
    monkeypatch.setattr("sklearn.datasets.load_digits", lambda **_: few)
    namespace = {}
    for language, code in blocks_of(page):
        if language == "python":
            run(code, page, namespace)
            continue
        assert language == "console"
        for line in filter(None, code.splitlines()):
            program, *arguments = shlex.split(line.removeprefix("$ "))
            assert program == "jointclust"
            cli.main(arguments)  # leaves by SystemExit if it fails


def test_readme_opens_with_commands_of_the_guide():
    """What README tells people to type, in blocks and in lines, is on a page of the guide."""
    commands = re.findall(
        r"(?:^    |`)(jointclust (?:fit|datasets) [^`\n]*)", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    assert len(commands) >= 2
    guide = "".join(page.read_text() for page in TASKS)
    assert all(command in guide for command in commands)
