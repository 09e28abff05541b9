"""What the pages tell people to type: every block of Python and every command runs; what a page of the guide has."""

import ast
import importlib.util
import re
import shlex
import textwrap
from pathlib import Path

import pytest
from sklearn.datasets import load_digits
from sklearn.utils import Bunch

import jointclust as jc
from jointclust import cli
from jointclust.datasets import _everyday
from jointclust.judge import evidence

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TASKS = sorted((DOCS / "tasks").glob("*.rst"))
WRITTEN = [
    page
    for page in sorted(DOCS.rglob("*.rst"))
    if page.relative_to(DOCS).parts[0] not in {"_build", "_templates", "api", "gallery", "tasks"}
]
# The commands that install, and those that take minutes or third-party data: tests of the papers run their like.
ELSEWHERE = ("pip ", "jointclust reproduce ")


def blocks_of(page):
    """The code blocks of a page: pairs of language and code."""
    text = page.read_text()
    if page.suffix == ".md":
        return re.findall(r"```(python)\n(.*?)```", text, flags=re.DOTALL)
    result = re.findall(r"\.\. code-block:: (\w+)\n\n((?:   .*\n|\n)+)", text)
    return [(language, textwrap.dedent(code)) for language, code in result]


def has_python(page):
    return any(language == "python" for language, _ in blocks_of(page))


def commands_of(page):
    """What a page tells people to type at a prompt."""
    blocks = [code for language, code in blocks_of(page) if language == "console"]
    return [line.removeprefix("$ ") for code in blocks for line in code.splitlines() if line]


def run(code, page, namespace):
    """Run a block of Python; returns the project that it needs, if it says so and that is not installed."""
    needed = re.match(r"# needs (\w+)", code)
    if needed and importlib.util.find_spec(needed[1]) is None:
        return needed[1]
    exec(compile(code, page.name, "exec"), namespace)
    return None


PAGES = [ROOT / "README.md", *filter(has_python, WRITTEN)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix().removeprefix("docs/"))
def test_code_blocks_run(page, tmp_path, monkeypatch):
    """Every Python block of a page runs, in order, in one namespace."""
    monkeypatch.chdir(tmp_path)
    namespace = {}
    missing = [run(code, page, namespace) for language, code in blocks_of(page) if language == "python"]
    if any(missing):
        pytest.skip(f"all other blocks run; not installed: {', '.join(filter(None, missing))}")


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
            assert run(code, page, namespace) is None  # all that the guide needs is there
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


def test_commands_of_other_pages_run_elsewhere():
    """What other pages tell people to type is in the guide or on the page about the command line, which tests run."""
    typed = {command for page in [*TASKS, DOCS / "command_line.rst"] for command in commands_of(page)}
    others = {command for page in WRITTEN for command in commands_of(page) if not command.startswith(ELSEWHERE)}
    assert others
    assert others <= typed


@pytest.mark.parametrize("page", [page for page in TASKS if page.stem != "index"], ids=lambda page: page.stem)
def test_pages_of_the_guide_begin_with_something_to_do(page):
    """A sentence or two, what to type, the picture; links to the API; words to find the page by."""
    text = page.read_text()
    first, picture, heading = (
        text.index(mark) if mark in text else len(text) for mark in (".. code-block::", ".. image:: ", "\n-----")
    )
    assert first < picture < heading
    body = re.sub(r"^\.\. meta::\n(?:   .*\n)+", "", text[:first], flags=re.MULTILINE)
    assert len(body.splitlines()) <= 12
    assert (page.parent / re.search(r"\.\. image:: (\S+)", text)[1]).is_file()
    assert re.search(r":(?:func|class|meth):`[^`]*jointclust\.", text)
    assert ":keywords:" in text


@pytest.mark.parametrize("script", sorted((ROOT / "examples").rglob("plot_*.py")), ids=lambda script: script.stem)
def test_tutorials_use_public_names_only(script):
    """What a tutorial takes from this library is in ``jc.__all__``, and nothing begins with an underscore."""
    nodes = list(ast.walk(ast.parse(script.read_text())))
    attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
    ours = {node.attr for node in attributes if isinstance(node.value, ast.Name) and node.value.id == "jc"}
    assert ours
    assert ours <= set(jc.__all__)
    assert not [node.attr for node in attributes if node.attr.startswith("_")]
    imported = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module.startswith("jointclust")]
    assert imported == []


def test_the_page_on_the_judge_has_all_that_it_measures():
    text = " ".join((DOCS / "methods" / "judge.rst").read_text().split())
    for name in (*evidence.MEASURES, *evidence.GLOBAL):
        words = re.sub(r" [0-9.]+$", "", name)  # of each resolution
        assert words in text or words.removeprefix("agreement ") in text, name


def test_pictures_are_shown():
    """Every picture in docs/_static is on a page, so that none is left behind."""
    pages = "".join(page.read_text() for page in [*WRITTEN, *TASKS])
    pictures = [path.relative_to(DOCS).as_posix() for path in (DOCS / "_static").rglob("*.png")]
    assert pictures
    assert [picture for picture in pictures if picture not in pages] == []
