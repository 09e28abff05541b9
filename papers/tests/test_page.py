import csv
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from jointclust_papers import page
from jointclust_papers.findings import VERDICTS, Claim, Findings, Reading, ahead, judged
from jointclust_papers.page import write_page

mpl = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
mpl.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

HOSTILE = '<b>&"$x'


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def figure(label="accuracy"):
    drawn, axes = plt.subplots(2, 3, layout="constrained")
    for index, ax in enumerate(axes.flat):
        ax.plot([0, 1, 2], [index, 1, 3], marker="o")
        ax.set_ylabel(label, parse_math=False)
    axes[0, 0].imshow(np.eye(3))
    axes[0, 1].scatter([0, 1], [1, 2], s=[20, 30], c=[0, 1])
    axes[0, 2].bar([0, 1], [1, 2], hatch="/")
    return drawn


def table(n=2, method="DEC"):
    ours = np.linspace(0.5, 0.7, n)
    return pd.DataFrame(
        {"data set": "iris", "method": [method] * n, "paper": 0.6, "ours": ours, "difference": ours - 0.6}
    )


def made_up(text="DEC"):
    """Three papers, in turn, with everything that findings can have."""
    return [
        Findings(
            "dec", "table 2", f"Accuracy of {text}", table(30, text), None, [Claim("k1", "II", "better", "holds", text)]
        ),
        Findings("ec", "table 4", text, None, figure(text), [Claim("k2", "III", text, "cannot be tested", "no data")]),
        Findings("dec", "figure 3", "Path", table(), figure(), [Claim("k3", "IV", "flat", "does not hold", "by 0.2")]),
        Findings("all", "ranks", "Ranks", notes=[text], missing=["usps", text], stand_ins=["digits", text]),
    ]


class Text(HTMLParser):
    """What a reader sees, the tags and their attributes; open tags close."""

    VOID = ("meta", "link")

    def __init__(self, source):
        super().__init__()
        self.words, self.tags, self.attributes, self.open = [], [], [], []
        self.feed(source)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    def __str__(self):
        return " ".join(" ".join(self.words).split())


def read(path):
    return Text(path.read_text(encoding="utf-8"))


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_all_files_are_there(tmp_path):
    path = write_page(made_up(), tmp_path / "new" / "folder")
    assert path.name == "index.html"
    assert set(contents(path.parent)) == {
        "index.html",
        "claims.csv",
        "notes.csv",
        "parts.csv",
        "dec-table-2.csv",
        "ec-table-4.svg",
        "dec-figure-3.csv",
        "dec-figure-3.svg",
    }


def test_notes_and_missing_data_are_a_file_too(tmp_path):
    one = Findings("dec", "table 2", "t", notes=["a, b"], missing=["corel"], stand_ins=["digits"])
    write_page([one], tmp_path)
    lines = (tmp_path / "notes.csv").read_text().splitlines()
    assert lines == [
        "paper,item,kind,note",
        'dec,table 2,note,"a, b"',
        "dec,table 2,missing data,corel",
        "dec,table 2,stand-in,digits",
    ]


def test_page_shows_everything(tmp_path):
    table = read(write_page(made_up(), tmp_path, title="The title", facts={"Runs": "1,240"}))
    text = str(table)
    for part in (
        "The title",
        "Runs 1,240",
        "Table 2: Accuracy of DEC",
        "Stand-ins , which are not in the paper: digits",
    ):
        assert part in text, part
    assert "Missing data: usps, DEC. How to get them: jointclust datasets usps , jointclust datasets DEC" in text
    assert "✗ does not hold IV. flat by 0.2" in text
    assert text.index("Figure 3: Path") < text.index("Table 4: DEC"), "the items of a paper are together"
    assert table.tags.count("svg") == 2
    assert table.tags.count("tr") == (1 + 3) + (1 + 3) + (1 + 30) + (1 + 2), "counts, claims and two tables"


def test_counts_of_verdicts(tmp_path):
    claims = [Claim("k", "p", "a", verdict, "b") for i, verdict in enumerate(VERDICTS) for _ in range(i)]
    text = write_page([Findings("dec", "table 2", "t", claims=claims)], tmp_path).read_text()
    row = re.search(r'<th scope="row">DEC</th>(.*?)</tr>', text)[1]
    assert re.findall(r">([^<]+)</td>", row) == ["\N{EN DASH}", "1", "2", "3", "4", "5"]


def test_links_lead_somewhere(tmp_path):
    table = read(write_page(made_up(), tmp_path))
    ids = [value for name, value in table.attributes if name == "id"]
    assert len(ids) == len(set(ids)), "two figures name their parts alike"
    links = [
        value for name, value in table.attributes if name in ("href", "xlink:href") and not value.startswith("data:")
    ]
    assert links
    for link in links:
        assert link[1:] in ids if link.startswith("#") else (tmp_path / link).exists(), link
    for reference in re.findall(r"url\(#([^)]+)\)", (tmp_path / "index.html").read_text()):
        assert reference in ids


def test_text_is_shown_as_text(tmp_path):
    path = write_page(made_up(HOSTILE), tmp_path, title=HOSTILE, facts={HOSTILE: HOSTILE})
    table = read(path)
    assert table.tags.count("b") == 2, "our own, before missing data and stand-ins"
    once = ["title", "h1", "dt", "dd", "note", "missing", "code", "stand-ins", "because", "claim"]
    listed = ["contents", "heading"] * 2 + ["claim in the summary"]
    assert str(table).count(HOSTILE) == len(once) + len(listed) + 30 + 6, "30 rows, 6 panels"
    assert "script" not in table.tags
    policy = next(value for _, value in table.attributes if value and value.startswith("default-src"))
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert [row["method"] for row in csv.DictReader((tmp_path / "dec-table-2.csv").open())] == [HOSTILE] * 30


def test_nothing_is_asked_of_the_network(tmp_path):
    text = write_page(made_up(), tmp_path).read_text()
    assert set(re.findall(r"https?://[^\"' ]+", text)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_light_and_dark_are_the_readers(tmp_path):
    """The report's colours are taken over, less the switch that needs a script."""
    text = write_page([], tmp_path).read_text()
    assert "data-theme" not in text
    assert re.search(r"prefers-color-scheme: dark\) \{ :root \{ color-scheme: dark;[^}]*--down: [^}]*\} \}", text)


def test_writing_twice_gives_the_same_bytes(tmp_path):
    findings = made_up()
    one, again, anew = (tmp_path / name for name in ("one", "again", "anew"))
    for folder, result in ((one, findings), (again, findings), (anew, iter(made_up()))):
        write_page(result, folder)
    assert contents(one) == contents(again) == contents(anew)


def test_figures_keep_their_text(tmp_path):
    write_page(made_up(), tmp_path)
    text = (tmp_path / "dec-figure-3.svg").read_text()
    assert text.count(">accuracy</text>") == 6
    assert "<metadata>" not in text


def test_claims_file(tmp_path):
    write_page(made_up('a "b", c'), tmp_path)
    with (tmp_path / "claims.csv").open(newline="") as stream:
        rows = list(csv.reader(stream))
    assert rows == [
        ["paper", "item", "key", "place", "claim", "verdict", "share", "rests", "evidence"],
        ["dec", "table 2", "k1", "II", "better", "holds", "", 'a "b", c', ""],
        ["ec", "table 4", "k2", "III", 'a "b", c', "cannot be tested", "", "no data", ""],
        ["dec", "figure 3", "k3", "IV", "flat", "does not hold", "", "by 0.2", ""],
    ]


def test_parts_are_shown_and_written_with_their_interval(tmp_path):
    gains = [0.1, 0.12, 0.11, 0.13]
    readings = [
        Reading([ahead("<iris>", gains)], "at 1"),
        Reading([ahead("wine", [-g for g in gains])], "ours", counted=False),
    ]
    claim = judged("dec-x", "VI", "better", "ten runs", readings)
    text = write_page([Findings("dec", "table 2", "t", claims=[claim])], tmp_path).read_text()
    assert "Every part, and other readings" in text
    assert "&lt;iris&gt; +0.115 [+0.0945, +0.136]" in text
    assert "<b>ours</b>, not counted: does not hold" in text
    with (tmp_path / "parts.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["choice"], row["counted"], row["outcome"], row["n"]) for row in rows] == [
        ("at 1", "yes", "for", "4"),
        ("ours", "no", "against", "4"),
    ]


@pytest.mark.parametrize(
    ("value", "shown"), [(0.87654321, "0.8765"), (87.654321, "87.65"), (70000.4, "70000"), (1.23456e-7, "1.235e-07")]
)
def test_numbers_in_files(tmp_path, value, shown):
    write_page([Findings("dec", "t", "t", pd.DataFrame({"ours": [value, np.nan]}))], tmp_path)
    assert (tmp_path / "dec-t.csv").read_text().split("\n")[1] == shown


def cells(tmp_path, frame):
    text = write_page([Findings("dec", "t", "t", frame)], tmp_path).read_text()
    body = text[text.index("<article") :]
    return [re.findall(r"<td[^>]*>[^<]*</td>", row) for row in re.findall(r"<tr>(<td.*?)</tr>", body)]


def test_digits_suit_the_column(tmp_path):
    frame = pd.DataFrame(
        {
            "name": ["a", None],
            "percent": [87.654, 9.1],
            "share": [0.5, np.nan],
            "whole": [3.0, 70000],
            "p": [0.123456, 1e-9],
            "maybe": pd.array([1, None], dtype="Int64"),
        }
    )
    shown = [[re.sub("<.*?>", "", cell) for cell in row] for row in cells(tmp_path, frame)]
    assert shown == [["a", "87.65", "0.5000", "3", "0.1235", "1"], ["–", "9.10", "–", "70000", "1.0e−09", "–"]]  # noqa: RUF001


def test_differences_are_signed_and_coloured(tmp_path):
    difference = [0.01, -1.5, 1e-9, np.nan]
    frame = pd.DataFrame({"paper": [90, 80, 70, np.nan], "ours": [90.01, 78.5, 70, 60], "difference": difference})
    assert [row[2] for row in cells(tmp_path, frame)] == [
        '<td class="number more">+0.01</td>',
        '<td class="number less">−1.50</td>',  # noqa: RUF001
        '<td class="number">0.00</td>',
        '<td class="number">–</td>',  # noqa: RUF001
    ]
    assert "90.00" in cells(tmp_path, frame)[0][0], "the digits of what it is compared with"


def test_no_findings(tmp_path):
    text = str(read(write_page([], tmp_path)))
    assert "There are no findings." in text
    assert "There are no claims." in text
    assert (tmp_path / "claims.csv").read_text() == ("paper,item,key,place,claim,verdict,share,rests,evidence\n")


def test_empty_table(tmp_path):
    assert cells(tmp_path, table(0)) == []


@pytest.mark.parametrize("item", ["table 2", "../up", "figures 3/4"])
def test_findings_that_share_a_name_or_have_none(tmp_path, item):
    findings = [Findings("dec", "table 2", "One"), Findings("dec", item, "Other")]
    with pytest.raises(ValueError, match=re.escape(f"dec {item}")):
        write_page(findings, tmp_path / "folder")
    assert not (tmp_path / "folder").exists()


def test_written_again(tmp_path):
    write_page(made_up(), tmp_path)
    (tmp_path / "mine.txt").write_text("stays")
    write_page([Findings("dec", "table 2", "New", table(1))], tmp_path)
    assert len((tmp_path / "dec-table-2.csv").read_text().splitlines()) == 2
    assert (tmp_path / "mine.txt").read_text() == "stays"


def test_a_figure_that_fails_leaves_everything_as_it_was(tmp_path, monkeypatch):
    write_page(made_up(), tmp_path)
    before = contents(tmp_path)
    broken = made_up("EC")
    monkeypatch.setattr(broken[2].figure, "savefig", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_page(broken, tmp_path)
    assert contents(tmp_path) == before


def test_a_full_disk_leaves_whole_files(tmp_path, monkeypatch):
    old, new = tmp_path / "old", tmp_path / "new"
    write_page(made_up(), old)
    write_page(made_up("EC"), new)
    before, after, calls = contents(old), contents(new), []

    def replacing(path, real=page.replacing):
        calls.append(path)
        if len(calls) == 4:
            raise OSError("No space left on device")
        return real(path)

    monkeypatch.setattr(page, "replacing", replacing)
    with pytest.raises(OSError, match="No space"):
        write_page(made_up("EC"), old)
    now = contents(old)
    assert set(now) == set(before)
    assert all(now[name] in (before[name], after[name]) for name in now)
    assert now["index.html"] == before["index.html"], "the page comes last"
