"""The report as a place to explore, in a real browser: features, rows, layers, names, files, print."""

import json

import numpy as np
import pytest

import jointclust as jc
from browser.test_page import HOSTILE, HOSTILE_CELL, pixels

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
def report(data, tmp_path_factory):
    X, y = data
    path = tmp_path_factory.mktemp("exploring") / "report.html"
    jc.write_report(
        jc.JointConsensus(4, columns="all", effort="quick", random_state=0).fit(X),
        X,
        path,
        ids=[HOSTILE_CELL if i == 0 else f"=id {i}" for i in range(N)],
        classes=[f"{HOSTILE} {11 * k}" for k in y],
        feature_names=[HOSTILE, *(f"size {i}" for i in range(1, 12))],
        title="exploring",
        command=f"fit {HOSTILE}",
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
    told = page.locator("#row").inner_text()
    assert "Row =id 41" in told
    assert f"{HOSTILE} {11 * y[41]}" in told
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
    page.click("[data-only='1']")
    page.select_option("#colour", "1")
    assert "Only Cluster 1 is shown" in page.locator("#legend").inner_text()
    sizes = [int(text) for text in page.locator("#legend small").all_inner_texts()]
    assert sum(sizes) == np.bincount(data[1])[0] == N / 4
    page.get_by_role("button", name="Show all clusters").click()
    assert sum(int(text) for text in page.locator("#legend small").all_inner_texts()) == N


def test_overview_sorts(visit, report):
    page = visit(report)
    head = page.locator("#overview th[aria-sort]").nth(1)
    sizes = page.locator("#overview tbody td:nth-child(2)")
    for order in ("descending", "ascending"):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == order
        found = [int(text) for text in sizes.all_inner_texts()]
        assert found == sorted(found, reverse=order == "descending")


def test_layers_recolour(visit, report):
    page = visit(report)
    for count in (1, 2, 4):
        page.locator("#layer").fill(str(count))
        assert chosen(page) == f"layer of {count} cluster{'s' * (count > 1)}"
        assert page.locator("#legend button[aria-pressed]").count() == count
    sizes = [int(text) for text in page.locator("#legend small").all_inner_texts()]
    assert sizes == [N / 4] * 4


def test_selection_against_the_rest(visit, report):
    page = visit(report)
    page.click("[data-select='0']")
    page.click("#compare")
    page.wait_for_selector("#compared table")
    line = page.locator("#compared tbody tr").first.inner_text().split("\t")
    card = dict(row.inner_text().split("\t")[:4:2] for row in page.locator("#cluster-0 tbody tr").all())
    assert float(line[1]) == pytest.approx(float(card[line[0]]), abs=0.11), "the same effect as in the card"


def test_names_and_merges_are_saved_and_loaded(visit, report, tmp_path):
    page = visit(report)
    page.click("#naming summary")
    page.fill("[aria-label='Name of cluster 0']", HOSTILE_CELL)
    page.fill("[aria-label='Note on cluster 2']", "look again")
    page.select_option("[aria-label='What cluster 3 is a part of']", label="Cluster 0")
    assert chosen(page) == "named cluster"
    assert page.locator("#legend .name").all_inner_texts() == [HOSTILE_CELL, "Cluster 1", "Cluster 2"]
    assert page.locator("#cluster-0 h3").inner_text().strip() == HOSTILE_CELL
    text = saved(page, "#save-names")
    assert json.loads(text) == {"names": {"0": HOSTILE_CELL}, "merged": [[0, 3]], "notes": {"2": "look again"}}
    rows = saved(page, "#save-rows").splitlines()
    assert rows[0] == "id,class"
    assert len(rows) == 1 + N / 2
    assert any(line.startswith("'=id ") for line in rows), "no formula for a spreadsheet"
    (tmp_path / "names.json").write_text(text)
    again = visit(report)
    again.click("#naming summary")
    again.set_input_files("#load-names", tmp_path / "names.json")
    expect(again.locator("#legend .name")).to_have_count(3)


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
    found = page.evaluate("texts(overlay.getContext('2d')).filter((one) => one.kind === 'name')")
    assert 1 <= len(found) <= 4
    places = [(one["x"], one["y"]) for one in found]
    assert all(abs(a[0] - b[0]) > 20 or abs(a[1] - b[1]) >= 18 for a in places for b in places if a != b)


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
    assert page.evaluate(axes)[1].startswith("direction 3")


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
    assert page.evaluate("getComputedStyle(document.getElementById('points')).objectFit") == "contain"
    assert page.evaluate("getComputedStyle(document.querySelector('.card')).breakInside") == "avoid"


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
    page.click("[data-select='0']")
    page.evaluate("pin(3), colourBy(page.features[0])")
    page.wait_for_selector("#feature:not([hidden])")
    page.click("#naming summary")
    found = axe.Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in ("serious", "critical")] == []


def test_forty_clusters_look_different(visit, tmp_path):
    labels = np.repeat(np.arange(40), 5).astype(np.int32)
    Y = np.column_stack([labels % 8, labels // 8]) + np.random.RandomState(0).standard_normal((200, 2)) / 20
    model = jc.LDAKMeans(40, random_state=0).fit(Y)
    model.labels_ = labels
    jc.write_report(model, Y, tmp_path / "r.html", coordinates=Y, classes=["a name without end " * 9] * 200)
    page = visit(tmp_path / "r.html")
    names = page.locator("#legend .name").all_inner_texts()
    assert names == [str(k) for k in range(40)]
    looks = page.evaluate("clusters.names.map((_, k) => `${lookOf(k)} ${shapeOf(k)}`)")
    assert len(set(looks)) == 40
    named = page.evaluate("texts(overlay.getContext('2d')).filter((one) => one.kind === 'name')")
    assert {one["text"] for one in named} == set(names)
    # Five rows close together would be gone under a name at their centre.
    for one in named:
        rows = page.evaluate("(k) => [...Array(5).keys()].map((i) => placeOf(5 * k + i))", int(one["text"]))
        assert any(abs(x - one["x"]) > 12 or abs(y - one["y"]) > 9 for x, y in rows)
    page.select_option("#colour", "1")
    count = page.locator("#legend small").bounding_box()
    assert count["height"] < 25, "a long name does not break it"
    assert pixels(page)[0] > 100
    page = visit(tmp_path / "r.html", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    for part in (".title", ".all"):
        assert page.locator(f"#legend {part}").bounding_box()["height"] > 15, "a long legend leaves it whole"
