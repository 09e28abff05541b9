"""`make evidence-check`: figures of a page against CSV files."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CSV = """data set,half,k-means,default,note
iris,tune,0.893,0.900,40 times faster
wine,judge,0.702,0.961,at most 3
yeast,judge,0.378,0.357,
"""


@pytest.fixture(scope="module")
def evidence():
    spec = importlib.util.spec_from_file_location("evidence", ROOT / ".ci" / "evidence.py")
    module = sys.modules["evidence"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["evidence"]


@pytest.fixture
def check(evidence, tmp_path, capsys):
    """Checks one page; returns how many complaints there are, and what is printed."""
    (tmp_path / "real.csv").write_text(CSV)

    def run(text, *options, suffix=".rst"):
        page = tmp_path / f"page{suffix}"
        page.write_text(text)
        evidence.read.cache_clear()
        complaints = evidence.main([str(page), "--evidence", str(tmp_path), *options])
        run.page = page.read_text()
        return complaints, capsys.readouterr().out

    return run


def page(text, *lines):
    return "\n".join([text, "", ".. evidence", *(f"   {line}" for line in lines), "", "More text."])


def test_the_pages_are_right(evidence, capsys):
    """Every page that has to have markup has it, and every figure is that of its CSV file."""
    assert evidence.main([]) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("figure", "expression"),
    [
        ("0.739", "mean(default)"),
        (".74", "mean(default)"),
        ("0.900", "median(default)"),
        ("0.9", 'default["iris"]'),
        ("+0.259", 'default["wine"] - "k-means"["wine"]'),
        ("-2.1", '100 * min(default - "k-means")'),
        ("8.2", '100 * mean((default - "k-means")[half != "x"])'),
        ("12", '100 * mean(default[half == "judge"] - "k-means"[half == "judge"])'),
        ("1.37", '"default"["wine"] / "k-means"["wine"]'),
        ("yeast", 'argmin(default - "k-means")'),
        ("Wine", "argmax(default)"),
        ("3", "rows(default)"),
        ("two", 'count(default > "k-means")'),
        ("first", '1 + count(default > default["wine"])'),
        ("67%", 'share(default > "k-means")'),
        ("33%", 'share(default > 0.4 and not half == "judge")'),
        ("40", 'number(note["iris"])'),
        ("0.961", 'default["data set" == "wine" or default > 2]'),
        ("0.021", 'max(abs(default["yeast"] - "k-means"[half == "judge" and "data set" == "yeast"]))'),
        ("961,000", '1000000 * default["wine"]'),
    ],
)
def test_right_figures_pass(check, figure, expression):
    text = f"Here it is {figure}, as\nmeasured. The end"
    complaints, printed = check(page(text, f"{figure} = real.csv: {expression}"))
    assert complaints == 0, printed
    assert "1 figures compared" in printed


@pytest.mark.parametrize("suffix", [".rst", ".md"])
def test_a_wrong_figure_fails(check, suffix):
    """File, line, figure in the text, figure in the CSV file; `--fix` writes the right one, in text and markup."""
    text = "Some\ntext: 3 sets, a mean of .671 (worst: wine, +0.02).\n\n"
    lines = [
        ".671 = real.csv: mean(default)",
        'worst: [wine] = real.csv: argmin(default - "k-means")',
        '+0.02 = real.csv: max(default - "k-means")',
    ]
    text += "\n".join(
        [".. evidence", *(f"   {x}" for x in lines)] if suffix == ".rst" else ["<!-- evidence", *lines, "-->"]
    )
    complaints, printed = check(text + "\n", suffix=suffix)
    assert complaints == 3
    assert f"page{suffix}:2: .671 in the text, .739 in real.csv: mean(default)\n" in printed
    assert "wine in the text, yeast in" in printed
    assert check(text + "\n", "--fix", suffix=suffix)[0] == 0
    assert "text: 3 sets, a mean of .739 (worst: yeast, +0.26).\n" in check.page
    assert ".739 = real.csv: mean(default)\n" in check.page
    assert check(check.page, suffix=suffix)[0] == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0.739 = missing.csv: mean(default)", "there is no missing.csv"),
        ("0.739 = real.csv: mean(other)", "there is no column 'other'"),
        ('0.739 = real.csv: default["glass"]', "no rows are named 'glass'"),
        ('0.739 = real.csv: default[half == "judge"]', "2 rows fulfil the condition"),
        ('0.739 = real.csv: mean(default[half == "none"])', "no row fulfils the condition"),
        ("0.739 = real.csv: mean(half)", "'tune' is no number"),
        ('0.739 = real.csv: default - "data set"', "unsupported operand"),
        ('0.739 = real.csv: mean(default[half == "tune"] - default)', "different rows"),
        ("0.739 = real.csv: mean(default", "cannot read 'mean(default'"),
        ("0.739 = real.csv: spread(default)", "no part of the language"),
        ("0.739 = real.csv: default.mean()", "no part of the language"),
        ("0.739 real.csv mean(default)", "'figure = file.csv: expression' is the form"),
        ("0.739 = mean(default)", "'figure = file.csv: expression' is the form"),
        ("0.740 = real.csv: mean(default)", "'0.740' is not in the text above"),
        ("a mean of [0.739 = real.csv: mean(default)", "cannot read 'a mean of [0.739'"),
        ("mean = real.csv: mean(default)", "'mean' is a name, and the value a number"),
    ],
)
def test_markup_that_leads_nowhere_fails(check, line, message):
    complaints, printed = check(page("It has a mean of 0.739.", line))
    assert complaints == 1
    assert "page.rst:4: " in printed
    assert message in printed


def test_a_page_without_markup_fails(check):
    complaints, printed = check("A mean of 0.739.\n")
    assert complaints == 1
    assert "page.rst:1: no figure of this page is marked" in printed


def test_figures_without_markup_are_listed(check):
    complaints, printed = check(
        page("Means of 0.739 and,\nelsewhere, 0.55.", "0.739 = real.csv: mean(default)"), "--unmarked"
    )
    assert complaints == 0
    assert "page.rst:2: 0.55 has no markup" in printed
    assert "0.739 has no markup" not in printed


def test_equal_figures_are_told_apart_by_their_order(check):
    text = "First 0.9, then 0.9 again; at last 1,900 and 0.95."
    lines = ['0.9 = real.csv: default["iris"]', '0.9 = real.csv: "k-means"["iris"]', '0.9 = real.csv: default["iris"]']
    assert check(page(text, *lines[:2]))[0] == 0
    assert check(page(text, *lines))[0] == 1  # no third one: 1,900 and 0.95 are other figures
