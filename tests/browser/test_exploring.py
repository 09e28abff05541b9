"""The report as a place to explore, in a real browser: features, rows, layers, names, files, print."""

import json
import re
import shutil
import subprocess
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import jointclust as jc
from browser.conftest import until
from browser.test_page import HOSTILE, HOSTILE_CELL, node, pixels

N = 300


def expect(locator):
    from playwright.sync_api import expect  # the browser tests may be skipped where it is not

    return expect(locator)


@pytest.fixture(scope="module")
def data():
    X, y = jc.datasets.mixture(N, 12, 4, separation=25, n_nuisance=1, random_state=0)
    X[:, 3] = np.arange(N) % 7
    return X, y


@pytest.fixture(scope="module")
def model(data):
    return jc.JointConsensus(4, columns="all", effort="quick", random_state=0).fit(data[0])


@pytest.fixture(scope="module")
def report(data, model, tmp_path_factory):
    X, y = data
    path = tmp_path_factory.mktemp("exploring") / "report.html"
    jc.write_report(
        model,
        X,
        path,
        ids=[HOSTILE_CELL if i == 0 else f"=id {i}" for i in range(N)],
        classes=[f"{HOSTILE} {11 * k}" for k in y],
        feature_names=[HOSTILE, *(f"size {i}" for i in range(1, 12))],
        title="exploring",
        command=f"fit {HOSTILE} --out {'a folder with a long name ' * 2} --known-rows",
    )
    return path


def chosen(page):
    return page.locator("#colour option:checked").inner_text()


def saved(page, button):
    with page.expect_download() as download:
        page.click(button)
    return download.value.path().read_text()


def test_a_feature_is_found_and_shown(visit, report):
    page = visit(report)
    assert page.locator("#feature-found button").count() == 6, "the most telling ones are offered"
    page.fill("#feature-search", "SIZE 1")
    assert page.locator("#feature-found button").first.inner_text() == "size 1"
    before = page.locator("#points").screenshot()
    page.keyboard.press("Enter")
    page.wait_for_selector("#feature:not([hidden])")
    assert chosen(page) == "size 1"
    assert page.locator("#legend .title").inner_text() == "size 1"
    assert page.locator("#feature svg polygon").count() == 4
    assert page.locator("#points").screenshot() != before
    page.fill("#feature-search", "<script")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#feature h3")).to_have_text(HOSTILE)


@pytest.mark.parametrize("place", [".card", "#overview", "#heat"])
def test_a_feature_colours_the_map_wherever_it_is_named(visit, report, place):
    page = visit(report)
    link = page.locator(f"{place} [data-feature]").first
    name = link.inner_text()
    link.click()
    page.wait_for_selector("#feature:not([hidden])")
    assert chosen(page) == name


def test_a_row_is_found_and_told(visit, report, data):
    X, y = data
    page = visit(report)
    page.fill("#row-search", "ID 41")
    page.keyboard.press("Enter")
    page.wait_for_selector("#row:not([hidden])")
    texts = page.locator("#row").inner_text()
    assert "Row =id 41" in texts
    assert f"{HOSTILE} {11 * y[41]}" in texts
    values = dict(row.inner_text().split("\t")[:2] for row in page.locator("#row table").last.locator("tbody tr").all())
    assert float(values["size 3"]) == 41 % 7, "whole numbers are exact"
    for index in (1, 2, 11):
        assert float(values[f"size {index}"]) == pytest.approx(X[41, index], abs=2e-4 * np.ptp(X[:, index]))
    near = [int(text.split()[1]) for text in page.locator("#row .near button").all_inner_texts() if "id" in text]
    assert len(near) >= 5
    assert (y[near] == y[41]).all(), "clusters are far apart: neighbours are of the same"
    page.locator("#row .near button").first.click()
    expect(page.locator("#row .id")).not_to_have_text("=id 41")
    page.locator(".card [data-row]").first.click()
    row = page.locator(".card [data-row]").first.inner_text()
    expect(page.locator("#row .id")).to_have_text(row)


def test_rows_by_keyboard(visit, report):
    page = visit(report)
    page.focus("#points")
    page.keyboard.press("Enter")
    page.wait_for_selector("#row:not([hidden])")
    first = page.locator("#row .id").inner_text()
    page.keyboard.press("n")
    expect(page.locator("#row .id")).not_to_have_text(first)
    page.keyboard.press("s")
    assert page.locator("#count").inner_text() == "1 row selected"
    page.keyboard.press("v")
    assert page.locator("#count").inner_text() == f"{N} rows selected"
    page.keyboard.press("Escape")
    assert not page.locator("#row").is_visible()
    assert not page.locator("#selection").is_visible()


def test_what_is_hidden_is_told(visit, report, data):
    page = visit(report)
    page.click(f"[data-only='{node(page, 1)}']")
    page.select_option("#colour", "1")
    name = page.evaluate("clusterName(1)")
    assert f"Only {name} is shown" in page.locator("#legend").inner_text()
    sizes = [int(text) for text in page.locator("#legend small").all_inner_texts()]
    assert sum(sizes) == np.bincount(data[1])[0] == N / 4
    page.get_by_role("button", name="Show all clusters").click()
    assert sum(int(text) for text in page.locator("#legend small").all_inner_texts()) == N


def test_overview_sorts(visit, report):
    page = visit(report)
    head = page.locator("#overview th[aria-sort]").nth(1)
    sizes = page.locator("#overview tbody > tr > :nth-child(2)")
    for order in ("descending", "ascending"):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == order
        values = [int(text) for text in sizes.all_inner_texts()]
        assert values == sorted(values, reverse=order == "descending")
    page.locator("#layer").fill("7")
    values = [int(text) for text in sizes.all_inner_texts()]
    assert values == sorted(values), "as the head says, also of other clusters"
    page.click("#naming summary")
    for k, name in enumerate(["b", "a"]):
        page.fill(f"[aria-label='Name of cluster {k}']", f" {name}: first of all")
        page.keyboard.press("Tab")
    page.locator("#overview th[aria-sort] button").first.click()
    page.locator("#overview th[aria-sort] button").first.click()
    names = page.locator("#overview tbody th a").all_inner_texts()
    assert names.index("a: first of all") < names.index("b: first of all"), "by the names that are shown"


def test_the_slider_changes_everything(visit, report, data, model):
    page = visit(report)
    names_of_fit = page.locator(".names a").all_inner_texts()
    for count in (1, 2, 7, 4):
        page.locator("#layer").fill(str(count))
        for part in ("#legend button[aria-pressed]", ".names li", "#overview tbody tr", ".card", "#classes tbody tr"):
            assert page.locator(part).count() == count, part
        assert page.locator("#heat thead th").count() == count + 1
        names = page.locator(".names a").all_inner_texts()
        assert len(set(names)) == count
        for place in ("#legend .name", "#overview tbody th a", ".card h3 [data-name]", "#classes tbody [data-name]"):
            assert page.locator(place).all_inner_texts() == names, place
        assert page.locator(".sure [data-count]").inner_text() == str(count)
        assert page.locator(".other").is_visible() is (count != 4)
        layer = model.layers_[count - 1]
        split = page.locator("#split").inner_text()
        texts = "is supported by the data" if layer["split"] == "supported" else "is doubtful"
        assert split == "" if count == 1 else f"from {count - 1} to {count} {texts}" in split
        lines = [line.split(",")[:2] for line in saved(page, "#save-labels").splitlines()[1:]]
        assert [int(label) for _, label in lines] == model.cut(count).tolist()
        sizes = [
            int(text.replace(",", "")) for text in page.locator("#overview tbody td:nth-child(2)").all_inner_texts()
        ]
        assert sizes == np.bincount(model.cut(count)).tolist()
    assert names == names_of_fit, "back where it was"
    page.locator("#layer").fill("2")
    page.click("#back")
    assert page.locator(".card").count() == 4


def test_candidates_side_by_side(visit, tmp_path, data):
    model = jc.cluster(data[0], random_state=0, columns="all")
    jc.write_report(model, data[0], tmp_path / "r.html")
    page = visit(tmp_path / "r.html")
    shown = page.locator(".candidate")
    assert shown.count() >= 2
    numbers = [int(text.split()[0]) for text in shown.locator("h3").all_inner_texts()]
    assert numbers[0] == model.n_clusters
    assert set(numbers) <= {model.n_clusters, *model.number_.suggestions}
    assert all("predicted agreement " in text for text in shown.locator("ul").all_inner_texts()), shown.locator(
        "ul"
    ).all_inner_texts()
    drawn = "(sheet) => sheet.getContext('2d').getImageData(0, 0, 220, 150).data.some((value) => value > 0)"
    for k, number in enumerate(numbers):
        assert shown.nth(k).locator("canvas").evaluate(drawn)
        page.click(f"[data-look='{number}']")
        assert page.locator(".card").count() == number


def test_what_was_opened_is_closed(visit, report):
    page = visit(report)
    page.evaluate("pin(3)")
    page.wait_for_selector("#row:not([hidden])")
    page.click("#row .close")
    assert not page.locator("#row").is_visible()
    page.evaluate("colourBy(page.features[0])")
    page.wait_for_selector("#feature:not([hidden])")
    page.click("#feature .close")
    assert not page.locator("#feature").is_visible()
    assert chosen(page) == "cluster"
    page.click(f"[data-select='{node(page, 0)}']")
    page.click("#clear")
    assert not page.locator("#selection").is_visible()


def test_all_are_hidden_and_shown(visit, report):
    page = visit(report)
    before = pixels(page)
    button = page.locator("#legend .all")
    button.click()
    assert pixels(page)[0] == 0
    assert button.inner_text() == "Show all"
    button.click()
    assert pixels(page) == before


def test_all_values_of_a_row(visit, tmp_path):
    X, _ = jc.datasets.mixture(90, 40, 3, separation=25, random_state=0)
    jc.write_report(jc.LDAKMeans(3, random_state=0).fit(X), X, tmp_path / "r.html")
    page = visit(tmp_path / "r.html")
    page.evaluate("pin(0)")
    page.wait_for_selector("#row:not([hidden])")
    values = page.locator("#row table").last.locator("tbody tr")
    assert values.count() == 30
    page.get_by_role("button", name="All 40 values").click()
    expect(values).to_have_count(40)


def test_shares_in_words(visit, report):
    """As in the parts of the page that need no script."""
    found = visit(report).evaluate("[0, 0.004, 0.006, 0.5, 0.994, 0.996, 1].map(percent)")
    assert found == ["0%", "<1%", "1%", "50%", "99%", ">99%", "100%"]


def test_selection_against_the_rest(visit, report):
    page = visit(report)
    page.click(f"[data-select='{node(page, 0)}']")
    page.click("#compare")
    page.wait_for_selector("#compared table")
    assert page.locator("#compared").evaluate("(one) => one.getBoundingClientRect().top < innerHeight"), "in sight"
    line = page.locator("#compared tbody tr").first.inner_text().split("\t")
    card = dict(row.inner_text().split("\t")[:4:2] for row in page.locator(".card").first.locator("tbody tr").all())
    assert float(line[1]) == pytest.approx(float(card[line[0]]), abs=0.11), "the same effect as in the card"
    page.click("#close-comparison")
    assert not page.locator("#comparing").is_visible()


def test_two_clusters_and_two_selections_are_compared(visit, report, data, model):
    from scipy import stats

    X, labels = data[0], model.labels_
    page = visit(report)
    page.click("#compare-clusters")
    page.select_option("#side-a", "cluster 1")
    page.select_option("#side-b", "cluster 2")
    until(page, "document.querySelectorAll('#compared tbody tr').length > 3")
    tested = page.evaluate(
        """async () => {
          await Promise.all(page.features.map(ready));
          const group = groupOf({ has: (i) => clusters.codes[i] === 1 }, { has: (i) => clusters.codes[i] === 2 });
          return page.features.map((one) => [one.index, differenceOf(one, group).p, differenceOf(one, group).effect]);
        }"""
    )
    for index, p, effect in tested:
        a, b = X[labels == 1, index], X[labels == 2, index]
        assert p == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue, rel=0.05, abs=1e-9)
        pooled = np.sqrt(((a.size - 1) * a.var(ddof=1) + (b.size - 1) * b.var(ddof=1)) / (a.size + b.size - 2))
        assert effect == pytest.approx((a.mean() - b.mean()) / pooled, rel=0.01, abs=0.01)
    page.click(f"[data-select='{node(page, 1)}']")
    page.click("#keep-selection")
    page.click(f"[data-select='{node(page, 2)}']")
    page.click("#compare")
    chosen_sides = page.locator("#comparing option:checked").all_inner_texts()
    assert chosen_sides[0].startswith("the selection (")
    assert chosen_sides[1].startswith("selection A (")
    page.locator("[data-against]").first.click()
    assert page.locator("#side-b option:checked").inner_text() == "all other rows"


def test_tests_of_categories_are_those_of_scipy(visit, report):
    from scipy import stats

    page = visit(report)
    for value, degrees in ((0.3, 1), (5.0, 2), (40.0, 12), (300.0, 3)):
        result = page.evaluate(f"chiSquaredBeyond({value}, {degrees})")
        assert result == pytest.approx(stats.chi2.sf(value, degrees), rel=1e-6)
    for t, degrees in ((0.2, 3), (2.5, 10.5), (12, 200)):
        assert page.evaluate(f"studentBeyond({t}, {degrees})") == pytest.approx(2 * stats.t.sf(t, degrees), rel=1e-6)
    result = page.evaluate("corrected([{p: 0.01}, {p: 0.04}, {p: 0.03}]).map((one) => one.p)")
    assert result == pytest.approx([0.03, 0.06, 0.06])


def test_names_and_merges_are_saved_and_loaded(visit, report, tmp_path):
    page = visit(report)
    page.click("#naming summary")
    page.fill("[aria-label='Name of cluster 0']", HOSTILE_CELL)
    page.fill("[aria-label='Note on cluster 2']", "look again")
    page.select_option("[aria-label='What cluster 3 is a part of']", index=1)
    assert chosen(page) == "named cluster"
    others = page.evaluate("[clusterName(1), clusterName(2)]")
    assert page.locator("#legend .name").all_inner_texts() == [HOSTILE_CELL, *others]
    assert page.locator(".card h3 [data-name]").first.inner_text() == HOSTILE_CELL
    text = saved(page, "#save-names")
    names = {"0": HOSTILE_CELL, "1": others[0], "2": others[1]}
    texts = {"n_clusters": 4, "names": names, "merged": [[0, 3]], "notes": {"2": "look again"}}
    assert json.loads(text) == texts
    rows = saved(page, "#save-rows").splitlines()
    assert rows[0] == "id,class"
    assert len(rows) == 1 + N / 2
    assert any(line.startswith("'=id ") for line in rows), "no formula for a spreadsheet"
    (tmp_path / "names.json").write_text(text)
    again = visit(report)
    again.click("#naming summary")
    again.set_input_files("#load-names", tmp_path / "names.json")
    expect(again.locator("#legend .name")).to_have_count(3)
    assert json.loads(saved(again, "#save-names")) == texts


def test_names_are_kept_on_reload(visit, report):
    page = visit(report)
    page.click("#naming summary")
    page.fill("[aria-label='Name of cluster 0']", HOSTILE_CELL)
    page.fill("[aria-label='Note on cluster 1']", "a note")
    page.keyboard.press("Tab")
    page.click(f"[data-select='{node(page, 2)}']")
    page.fill("#row-name", "mine")
    page.click("#name-rows")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.locator(".names a").first.inner_text() == HOSTILE_CELL
    assert page.locator("#legend .name").first.inner_text() == HOSTILE_CELL
    assert sum(line.endswith(",mine") for line in saved(page, "#save-labels").splitlines()) == N / 4
    page.click("#naming summary")
    assert page.locator("[aria-label='Note on cluster 1']").input_value() == "a note"
    page.click("#forget")
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.locator(".names a").first.inner_text() != HOSTILE_CELL


def test_a_page_that_may_keep_nothing_says_so(visit, report):
    refuse = (
        "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } })"
    )
    page = visit(report, init=refuse)
    page.click("#naming summary")
    page.fill("[aria-label='Name of cluster 0']", "a name")
    page.keyboard.press("Tab")
    assert "keeps nothing" in page.locator("#kept").inner_text()
    assert page.locator(".names a").first.inner_text() == "a name"
    page.click("#forget")


def test_the_map_as_a_picture(visit, report):
    page = visit(report)
    with page.expect_download() as download:
        page.click("#png")
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    page.select_option("#colour", "1")
    drawing = saved(page, "#svg")
    assert drawing.count("Z") >= N
    assert "&lt;script&gt;" in drawing
    assert "<script" not in drawing


def test_names_on_the_map_do_not_overlap(visit, report):
    page = visit(report)
    page.select_option("#colour", "1")
    result = page.evaluate("texts(overlay.getContext('2d')).filter((one) => one.kind === 'name')")
    assert 1 <= len(result) <= 4
    places = [(one["x"], one["y"]) for one in result]
    assert all(abs(a[0] - b[0]) > 20 or abs(a[1] - b[1]) >= 18 for a in places for b in places if a != b)


def test_long_names_are_whole_on_the_map_and_in_its_picture(visit, tmp_path, rng):
    """In two lines; the value at the end is what they say."""
    X = np.vstack([rng.standard_normal((60, 3)) + 9 * place for place in np.eye(3)])
    names = ["I know what I spent last month", "I pay more for what will last", "I repair my things at home"]
    model = jc.JointConsensus(3, columns="all", effort="quick", trust=False, random_state=0).fit(X)
    jc.write_report(model, X, tmp_path / "r.html", feature_names=names)
    page = visit(tmp_path / "r.html")
    called = page.locator(".names a").all_inner_texts()
    assert min(map(len, called)) > 26
    said = page.evaluate("texts(overlay.getContext('2d')).filter((one) => one.kind === 'name')")
    lines = {k: " ".join(one["text"] for one in said if one["of"] == k) for k in range(3)}
    assert list(lines.values()) == called
    drawing = saved(page, "#svg")
    assert all(drawing.count(name.replace(">", "&gt;")) >= 1 for name in called), "in the legend of the picture"
    hides = "(one) => one.scrollHeight > one.clientHeight + 1"
    assert not any(one.evaluate(hides) for one in page.locator("#legend .name").all())


def test_categories_that_are_all_over_the_map_have_no_names_on_it(visit, tmp_path, rng):
    kind, city = np.repeat([0, 1, 2], 60), rng.randint(3, size=180)
    X = 9.0 * np.eye(3)[kind] + rng.standard_normal((180, 3))
    model = jc.JointConsensus(3, columns="all", effort="quick", trust=False, random_state=0).fit(X)
    columns = {"city": np.array(["Oslo", "Graz", "Como"])[city], "shop": np.array(["north", "south", "west"])[kind]}
    jc.write_report(model, X, tmp_path / "r.html", shown=columns)
    page = visit(tmp_path / "r.html")
    for column, expected in (("city", []), ("shop", ["north", "south", "west"])):
        page.select_option("#colour", label=column)
        said = "texts(overlay.getContext('2d')).filter((one) => one.kind === 'name').map((one) => one.text)"
        assert sorted(page.evaluate(said)) == expected


def test_two_ways_to_draw(visit, report):
    page = visit(report)
    axes = "texts(overlay.getContext('2d')).filter((one) => one.kind === 'axis').map((one) => one.text)"
    by_neighbours = page.locator("#points").screenshot()
    assert page.evaluate(axes)[0].startswith("neighbour map")
    assert not page.locator("#across").is_visible()
    page.select_option("#layout", label="directions")
    assert [text.partition(" (")[0] for text in page.evaluate(axes)] == ["direction 1", "direction 2"]
    assert page.locator("#points").screenshot() != by_neighbours
    page.select_option("#up", label="direction 3")
    page.select_option("#across", label="direction 2")
    assert [text[:11] for text in page.evaluate(axes)] == ["direction 2", "direction 3"]


def test_full_screen(visit, report):
    page = visit(report)
    page.click("#full")
    expect(page.locator("#map")).to_have_css("position", "fixed")
    assert page.locator("#stage").bounding_box()["height"] > 0.8 * page.viewport_size["height"]
    page.click("#full")
    expect(page.locator("#map")).to_have_css("position", "static")


def test_on_paper(visit, report):
    page = visit(report, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('.swatch')).printColorAdjust") == "exact"
    assert page.evaluate("getComputedStyle(document.querySelector('.card')).breakInside") == "avoid"


def pages_of(page, folder):
    """The pages of the PDF as Poppler shows them, and their text."""
    image = pytest.importorskip("matplotlib.image", reason="matplotlib reads the pictures")
    if not shutil.which("pdftoppm"):
        pytest.skip("needs pdftoppm")
    page.pdf(path=folder / "r.pdf", format="A4")
    subprocess.run(["pdftoppm", "-r", "50", "-png", folder / "r.pdf", folder / "r"], check=True)
    text = subprocess.run(["pdftotext", folder / "r.pdf", "-"], check=True, capture_output=True, text=True).stdout
    return [image.imread(path) for path in sorted(folder.glob("r-*.png"))], text


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_summary_is_printed(visit, report, tmp_path, scheme):
    page = visit(report, color_scheme=scheme)
    pictures, text = pages_of(page, tmp_path)
    assert len(pictures) <= 2
    colours = [
        [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        for colour in page.evaluate("clusters.looks.map((_, k) => lookOf(k))")
    ]
    for colour in colours:
        near = np.abs(pictures[0][..., :3] - colour).max(axis=-1) < 0.12
        assert near.sum() > 60, "the map has rows of each cluster, which some viewers do not show if it is transparent"
    for name in page.locator(".names a").all_inner_texts():
        assert name[:12] in text
    for part in ("4 clusters in 300 rows", "Sure", "holds for", "fit <script>alert(1)</script>"):
        assert part in text, part
    assert "max_iter" not in text, "no lines of parameters"
    assert "--known-rows" in text, "options are whole"


def test_all_is_printed_where_it_is_wanted(visit, report, tmp_path):
    page = visit(report)
    page.evaluate("window.print = () => { window.asked = document.documentElement.dataset.print ?? 'summary'; }")
    for button, wanted in (("#print-all", "all"), ("#print-summary", "summary")):
        page.click(button)
        assert page.evaluate("asked") == wanted
    page.evaluate("document.documentElement.dataset.print = 'all'")
    assert "Overview" in pages_of(page, tmp_path)[1]


def test_without_javascript(visit, report):
    page = visit(report, ready="main", java_script_enabled=False)
    assert not any(button.is_visible() for button in page.locator("button, select, input").all())
    assert page.locator(".card").first.is_visible()


def test_a_wide_screen_is_used(visit, report):
    page = visit(report, viewport={"width": 2560, "height": 1400})
    assert page.locator("#stage").bounding_box()["width"] > 1280
    assert page.locator("#panel").bounding_box()["x"] > 1800


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_for_axe(visit, report, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
    page = visit(report, color_scheme=scheme)
    page.click(f"[data-select='{node(page, 0)}']")
    page.evaluate("pin(3), colourBy(page.features[0]), addBeside(page.features[1])")
    page.wait_for_selector("#feature:not([hidden])")
    page.click("#naming summary")
    page.click("#compare")
    page.wait_for_selector("#compared table")
    result = axe.Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in result if one["impact"] in ("serious", "critical")] == []


def test_forty_clusters_look_different(visit, tmp_path):
    labels = np.repeat(np.arange(40), 5).astype(np.int32)
    Y = np.column_stack([labels % 8, labels // 8]) + np.random.RandomState(0).standard_normal((200, 2)) / 20
    model = jc.LDAKMeans(40, random_state=0).fit(Y)
    model.labels_ = labels
    jc.write_report(model, Y, tmp_path / "r.html", coordinates=Y, classes=["a name without end " * 9] * 200)
    page = visit(tmp_path / "r.html")
    names = page.locator("#legend .name").all_inner_texts()
    assert len(set(names)) == 40
    looks = page.evaluate("clusters.names.map((_, k) => `${lookOf(k)} ${shapeOf(k)}`)")
    assert len(set(looks)) == 40
    named = page.evaluate("texts(overlay.getContext('2d')).filter((one) => one.kind === 'name')")
    assert len(named) > 20
    # Five rows close together would be gone under a name at their centre.
    for one in named:
        called = [k for k, name in enumerate(names) if one["text"].rstrip("…") in name]  # a map says less than a card
        rows = page.evaluate("(all) => all.flatMap((k) => [...Array(5).keys()].map((i) => placeOf(5 * k + i)))", called)
        assert any(abs(x - one["x"]) > 12 or abs(y - one["y"]) > 9 for x, y in rows)
    page.select_option("#colour", "1")
    count = page.locator("#legend small").bounding_box()
    assert count["height"] < 25, "a long name does not break it"
    assert pixels(page)[0] > 100
    page = visit(tmp_path / "r.html", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    for part in (".title", ".all"):
        assert page.locator(f"#legend {part}").bounding_box()["height"] > 15, "a long legend leaves it whole"


# -- charts ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def curves(tmp_path_factory):
    """Days of two kinds, hour by hour."""
    rng, hours = np.random.RandomState(0), np.arange(24)
    labels = np.repeat([0, 1, 1], 60)
    X = np.where(labels[:, None] == 0, 5 + hours, 30 - hours) + rng.standard_normal((180, 24))
    frame = pd.DataFrame(X, columns=[f"{hour:02d}:00" for hour in hours])
    path = tmp_path_factory.mktemp("curves") / "report.html"
    model = jc.JointConsensus(2, columns="all", effort="quick", random_state=0).fit(frame)
    jc.write_report(model, frame, path, classes=np.where(np.arange(180) % 3, "weekday", "weekend"))
    return path, X, model


def test_mean_curves_follow_the_slider(visit, curves):
    path, X, model = curves
    page = visit(path)
    assert page.locator("#curve-charts svg").count() == 2
    for k, node_ in enumerate(page.evaluate("clusters.nodes")):
        own = page.evaluate("(node) => page.curves.of(node)", node_)
        inside = X[model.labels_ == k]
        np.testing.assert_allclose(own["mean"], inside.mean(axis=0), atol=0.01)
        np.testing.assert_allclose(own["lower"], np.percentile(inside, 25, axis=0), atol=0.01)
        np.testing.assert_allclose(own["upper"], np.percentile(inside, 75, axis=0), atol=0.01)
    page.locator("#layer").fill("3")
    assert page.locator("#curve-charts svg").count() == 3
    assert page.locator(".names .spark").count() == 3


def test_many_curves_are_shown_when_asked_for(visit, curves):
    page = visit(curves[0])
    most = int(page.locator("#layer").get_attribute("max"))
    page.evaluate("(most) => setLayer(most)", most)
    assert page.locator("#curve-charts svg").count() == min(most, 12)
    if most > 12:
        page.get_by_role("button", name=f"Show all {most}").click()
        assert page.locator("#curve-charts svg").count() == most


def test_every_chart_is_saved(visit, curves):
    page = visit(curves[0])
    for name in ("tree", "class", "curve 0"):
        drawing = saved(page, f"[aria-label='Save {name} as SVG']")
        assert drawing.startswith("<svg")
        assert "var(" not in drawing, "no style of the page is needed"
        with page.expect_download() as download:
            page.click(f"[aria-label='Save {name} as PNG']")
        assert download.value.path().read_bytes().startswith(b"\x89PNG")


def test_bars_of_categories_by_cluster(visit, curves):
    page = visit(curves[0])
    labels, weekend = curves[2].labels_, np.arange(180) % 3 == 0
    text = page.locator("#bars title").all_text_contents()
    for k in range(2):
        share, count = weekend[labels == k].mean(), weekend[labels == k].sum()
        assert f"{page.evaluate('(k) => clusterName(k)', k)}: weekend {share:.0%} ({count})" in text
    assert "all rows: weekend 33% (60)" in text
    page.locator("#layer").fill("4")
    assert page.locator("#bars rect.level").count() >= 2 * 5 - 4
    page.locator("#bars figcaption button").first.click()
    assert chosen(page) == "class"


def test_four_features_side_by_side(visit, report):
    page = visit(report)
    for k in range(5):
        page.evaluate("(k) => colourBy(page.features[k])", k)
        until(page, "(k) => state.feature === page.features[k]", k)
        page.click("#feature .add")
        until(page, "(k) => beside.includes(page.features[k])", k)
    page.wait_for_timeout(300)
    assert page.locator("#beside canvas").count() == 4, "the first makes room for the fifth"
    drawn = """(sheet) => {
      const { data } = sheet.getContext('2d').getImageData(0, 0, sheet.width, sheet.height);
      return data.reduce((sum, value, at) => sum + (at % 4 === 3 && value > 0), 0);
    }"""
    before = [sheet.evaluate(drawn) for sheet in page.locator("#beside canvas").all()]
    assert min(before) > 100
    page.click("#in")
    page.click("#in")
    page.wait_for_timeout(600)
    assert [sheet.evaluate(drawn) for sheet in page.locator("#beside canvas").all()] != before, "they follow the map"
    page.locator("#beside .close").first.click()
    assert page.locator("#beside canvas").count() == 3


def test_shares_are_per_cents_and_categories_are_links(visit, tmp_path):
    rng = np.random.RandomState(0)
    kind = np.repeat([0, 1], 100)
    frame = pd.DataFrame(
        {
            "size": kind * 9 + rng.standard_normal(200),
            "weight": kind * 5 + rng.standard_normal(200),
            "channel": np.where(kind == 0, "shop", np.where(rng.rand(200) < 0.7, "app", "web")),
            "news": np.where((kind == 0) ^ (rng.rand(200) < 0.1), "yes", "no"),
        }
    )
    model = jc.JointConsensus(2, columns="all", effort="quick", random_state=0).fit(frame)
    jc.write_report(model, frame, tmp_path / "r.html")
    page = visit(tmp_path / "r.html")
    page.click("#compare-clusters")
    until(page, "document.querySelectorAll('#compared tbody tr').length > 2")
    compared = page.locator("#compared tbody th").all_inner_texts()
    assert sum(text.startswith("channel") for text in compared) == 1, "a category, and not its levels, too"
    page.click("#close-comparison")
    k = int(model.labels_[0])
    shop = page.locator(".card").nth(k).locator("tbody tr", has_text="channel = shop")
    assert shop.inner_text().split("\t")[-2:] == ["100%", "0%"]
    for name in ("channel = shop", "news = yes"):
        link = page.locator(".card").nth(k).locator("[data-feature]", has_text=name).first
        link.click()
        expect(page.locator("#feature h3")).to_have_text(name)
        assert chosen(page) == name
        assert "%" in page.locator("#feature td.number").first.inner_text()
    rule = page.locator(".card .rule").first.inner_text()
    assert re.search(r"holds for \S+% of these rows and \S+% of all others\.", rule)


# -- texts ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tickets(tmp_path_factory):
    """Two topics, with words that all texts have, one hostile text, and a number that is shown and not clustered."""
    rng = np.random.RandomState(0)
    topics = [["invoice", "refund", "payment", "card", "charged"], ["password", "login", "account", "locked", "reset"]]
    texts = [
        " ".join(rng.permutation([*rng.choice(topics[i % 2], 6), *["the", "my", "was", "please"]])) for i in range(120)
    ]
    texts[0] += f" {HOSTILE_CELL}"
    model = jc.JointConsensus(2, effort="quick", random_state=0).fit(texts)
    path = tmp_path_factory.mktemp("tickets") / "report.html"
    jc.write_report(
        model, texts, path, shown={"minutes": np.arange(120), "team": np.where(np.arange(120) % 3, "a", "b")}
    )
    return path, texts


def test_a_text_is_shown_with_its_telling_words(visit, tickets):
    path, texts = tickets
    page = visit(path)
    page.evaluate("pin(0)")
    page.wait_for_selector("#row .text")
    assert page.locator("#row .text").inner_text() == texts[0]
    marks = set(page.locator("#row mark").all_inner_texts())
    assert marks
    assert marks <= {"invoice", "refund", "payment", "card", "charged"}, "words of all texts tell nothing"
    facts = page.locator("#row .facts").inner_text()
    assert "minutes" in facts
    assert "team" in facts
    card = page.locator(".card").first
    assert card.locator(".text mark").count() > 3, "typical texts"
    page.evaluate("textsReady()")
    page.mouse.move(
        *page.evaluate("placeOf(7).map((v, k) => v + Object.values(canvas.getBoundingClientRect().toJSON())[k])")
    )
    expect(page.locator("#tip .text")).not_to_be_empty()


def test_search_in_texts(visit, tickets):
    path, texts = tickets
    page = visit(path)
    page.focus("#row-search")
    until(page, "() => Boolean(document_.texts)")
    page.fill("#row-search", "LOCKED")
    button = page.locator("#row-found button", has_text="rows that say it")
    button.click()
    wanted = sum("locked" in text for text in texts)
    assert page.locator("#count").inner_text() == f"{wanted} rows selected"
    lines = saved(page, "#download").splitlines()
    assert lines[0].endswith(",text")
    assert "minutes" in lines[0]
    assert all("locked" in line for line in lines[1:])


def test_what_is_shown_colours_and_is_compared(visit, tickets):
    page = visit(tickets[0])
    page.select_option("#colour", label="team")
    assert page.locator("#legend .name").all_inner_texts() == ["a", "b"]
    page.select_option("#colour", label="minutes")
    assert page.locator("#legend .ends").inner_text().split() == ["0", "119"]
    assert page.locator("#bars figcaption").all_inner_texts() == ["team"]


@pytest.mark.parametrize("width", [1280, 390])
def test_dates_have_room(visit, tmp_path, width):
    """In cards they do not lie over each other, and at the top nothing is cut off."""
    rng = np.random.RandomState(0)
    kind = np.repeat([0, 1], 60)
    first = pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.randint(20, size=120) + 200 * kind, unit="D")
    frame = pd.DataFrame({"last order": first, "first complaint": first, "size": kind * 5 + rng.standard_normal(120)})
    model = jc.JointConsensus(2, columns="all", effort="quick", random_state=0).fit(frame)
    jc.write_report(model, frame, tmp_path / "r.html")
    page = visit(tmp_path / "r.html", viewport={"width": width, "height": 844})
    edges = """(row) => [...row.cells].filter((cell) => cell.textContent).map((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return [range.getBoundingClientRect().left, range.getBoundingClientRect().right];
    })"""
    lines = [line for line in page.locator(".card .features tr").all() if "2025-" in line.inner_text()]
    assert lines
    for line in lines:
        places = line.evaluate(edges)
        assert all(left[1] < right[0] for left, right in pairwise(places))
    for phrase in page.locator(".phrase").all():
        assert "2025-" in phrase.inner_text()
        assert phrase.evaluate("(one) => one.scrollHeight <= one.clientHeight")


def test_gaps_are_shown_as_gaps(visit, tmp_path, data):
    X = data[0].copy()
    X[5, 2] = X[9, 2] = np.nan
    model = jc.JointConsensus(4, columns="all", effort="quick", random_state=0).fit(X)
    jc.write_report(model, X, tmp_path / "r.html")
    page = visit(tmp_path / "r.html")
    page.evaluate("pin(5)")
    page.wait_for_selector("#row table")
    value = page.locator("#row tr", has_text="x2").last.inner_text().split("\t")[1]
    assert re.fullmatch(r"missing \(filled in: -?[\d.]+\)", value)
    page.keyboard.press("s")
    page.evaluate("toggle(5)")
    line = saved(page, "#download").splitlines()
    assert dict(zip(line[0].split(","), line[1].split(","), strict=True))["x2"] == "", "no value that nobody observed"
