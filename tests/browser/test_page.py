"""The report in a real browser."""

import numpy as np
import pytest

import jointclust as jc

HOSTILE = "<script>alert(1)</script>"
HOSTILE_CELL = '</script><img src=x onerror="alert(2)">'

# The pixels of the map that are not blank, and how many have the colour asked for.
PIXELS = """([r, g, b]) => {
  const source = document.getElementById("points"), copy = document.createElement("canvas");
  copy.width = source.width; copy.height = source.height;
  const pen = copy.getContext("2d");
  pen.drawImage(source, 0, 0);
  const data = pen.getImageData(0, 0, copy.width, copy.height).data;
  let drawn = 0, same = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] < 100) continue;
    drawn++;
    if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 25) same++;
  }
  return [drawn, same];
}"""
BLUE = [0x00, 0x72, 0xB2]


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    X, y = jc.datasets.mixture(600, 20, 3, separation=25, n_nuisance=2, random_state=0)
    model = jc.JointConsensus(3, random_state=0).fit(X)
    path = tmp_path_factory.mktemp("report") / "report.html"
    jc.write_report(
        model,
        X,
        path,
        ids=[HOSTILE_CELL if i == 0 else f"row {i}" for i in range(600)],
        classes=[HOSTILE_CELL if k == 0 else f"class {k}" for k in y],
        feature_names=[HOSTILE if i == 0 else f"{HOSTILE}{i}" for i in range(20)],
        title=HOSTILE,
        warnings=[HOSTILE_CELL],
    )
    return path


def pixels(page, colour=BLUE):
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate(PIXELS, colour)


def node(page, k):
    """By which the page knows a cluster."""
    return page.evaluate("(k) => clusters.nodes[k]", k)


def hover_a_point(page):
    """Moves over the map until a point answers."""
    area = page.locator("#points").bounding_box()
    for x in np.linspace(0.05, 0.95, 40):
        for y in np.linspace(0.05, 0.95, 12):
            page.mouse.move(area["x"] + x * area["width"], area["y"] + y * area["height"])
            if page.locator("#tip").is_visible():
                return page.locator("#tip").inner_text()
    return None


def test_points_are_drawn_in_their_colours(visit, report):
    page = visit(report)
    drawn, blue = pixels(page)
    assert drawn > 2000
    assert blue > drawn / 10
    assert not page.locator("#message").is_visible()


def test_legend_hides_and_shows(visit, report):
    page = visit(report)
    before, blue = pixels(page)
    entry = page.locator("#legend button[aria-pressed]").first
    entry.click()
    after, left = pixels(page)
    assert entry.get_attribute("aria-pressed") == "false"
    assert left < blue / 100
    assert after < before
    entry.click()
    assert pixels(page) == [before, blue]


def test_hover_tells_what_a_point_is(visit, report):
    text = hover_a_point(visit(report))
    assert text.startswith("row ")
    assert "cluster: " in text
    assert "confidence: " in text


def test_colour_by_any_column(visit, report):
    page = visit(report)
    names = page.locator("#colour option").all_inner_texts()
    assert names[:3] == ["cluster", "class", "confidence"]
    seen = set()
    for name in range(len(names)):
        page.select_option("#colour", str(name))
        seen.add(page.locator("#points").screenshot())
    assert len(seen) == len(names)


def test_zoom_pan_and_keys(visit, report):
    page = visit(report)
    start = pixels(page)
    page.focus("#points")
    for key in ("+", "ArrowLeft", "ArrowUp", "-", "0"):
        page.keyboard.press(key)
        changed = pixels(page)
        assert (changed == start) is (key == "0")
    area = page.locator("#points").bounding_box()
    page.mouse.move(area["x"] + 300, area["y"] + 200)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    assert pixels(page) != start
    page.click("#reset")
    assert pixels(page) == start
    page.click("#out")
    smaller = pixels(page)
    assert smaller != start
    page.click("[data-mode=box]")
    page.click("[data-mode=move]")
    page.mouse.move(area["x"] + 300, area["y"] + 200)
    page.mouse.down()
    page.mouse.move(area["x"] + 100, area["y"] + 100, steps=3)
    page.mouse.up()
    assert pixels(page) != smaller
    assert not page.locator("#selection").is_visible(), "dragging moves"


def test_the_page_scrolls_over_the_map(visit, report):
    page = visit(report, has_touch=True)
    before, start = pixels(page), page.evaluate("scrollY")
    page.locator("#keys").hover()
    page.mouse.wheel(0, 100)
    page.locator("#points").hover()
    page.mouse.wheel(0, -60)
    page.wait_for_timeout(500)
    assert page.evaluate("scrollY") > start
    assert pixels(page) == before, "a page that is being scrolled goes on"
    page.mouse.wheel(0, -60)
    page.wait_for_timeout(100)
    assert pixels(page) != before, "the wheel alone zooms"
    page.click("#reset")
    page.wait_for_timeout(400)
    page.locator("#points").hover()
    page.mouse.wheel(0, 200)
    page.wait_for_timeout(300)
    assert pixels(page) == before, "the whole map is in sight: there is nothing to zoom out of"
    page.evaluate("scrollTo(0, 0)")
    page.locator("#points").scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, document.querySelector('#points').getBoundingClientRect().top - 20)")
    start = page.evaluate("scrollY")
    area, fingers = page.locator("#points").bounding_box(), page.context.new_cdp_session(page)
    for step in range(11):
        place = [{"x": area["x"] + 150, "y": area["y"] + 120 - 10 * step}]
        kind = "touchMove" if step else "touchStart"
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": place})
    fingers.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert page.evaluate("scrollY") > start + 50, "one finger scrolls"
    assert pixels(page) == before
    page.click("[data-mode=lasso]")
    assert page.locator("#points").evaluate("(map) => map.style.touchAction") == "none", "a finger draws"


@pytest.mark.parametrize("mode", ["box", "lasso"])
def test_selection_and_export(visit, report, mode):
    page = visit(report)
    page.click(f"[data-mode={mode}]")
    area = page.locator("#points").bounding_box()
    corners = [(0, 0), (1, 0), (1, 1), (0, 1)] if mode == "lasso" else [(0, 0), (1, 1)]
    points = [(area["x"] + 2 + x * (area["width"] - 4), area["y"] + 2 + y * (area["height"] - 4)) for x, y in corners]
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point, steps=5)
    page.mouse.up()
    assert page.locator("#count").inner_text() == "600 rows selected"
    with page.expect_download() as download:
        page.click("#download")
    lines = download.value.path().read_text().splitlines()
    assert lines[0].startswith("id,label,cluster,class,confidence,outlier score,")
    assert len(lines[0].split(",")) == 26
    assert len(lines) == 601
    assert lines[1].startswith('"</script><img src=x onerror=""alert(2)"">",')
    page.focus("#download")
    page.keyboard.press("Escape")
    assert not page.locator("#selection").is_visible(), "whatever has the focus"


def test_cards_lead_to_the_map(visit, report):
    page = visit(report)
    drawn, _ = pixels(page)
    page.click(f"[data-only='{node(page, 1)}']")
    alone, blue = pixels(page)
    assert 0 < alone < drawn
    assert blue < drawn / 100
    page.click(f"[data-select='{node(page, 1)}']")
    assert page.locator("#count").inner_text() == "200 rows selected"


def test_a_button_shows_the_rule_for_sql_and_pandas(visit, report):
    page = visit(report)
    button, said = page.locator(f"[data-said='{node(page, 1)}']"), page.locator(f"#said-{node(page, 1)}")
    assert (said.is_visible(), button.get_attribute("aria-expanded")) == (False, "false")
    button.click()
    assert (said.is_visible(), button.get_attribute("aria-expanded")) == (True, "true")
    assert "after WHERE" in said.inner_text()
    assert said.locator("pre").count() >= 1
    button.click()
    assert not said.is_visible()


def test_hostile_text_stays_text(visit, report):
    page = visit(report)
    assert page.title() == f"{HOSTILE}: clusters"
    assert page.locator("h1").inner_text() == HOSTILE
    assert page.locator(".warnings li").first.inner_text() == HOSTILE_CELL
    assert any(HOSTILE in name for name in page.locator(".features th").all_inner_texts())
    assert any(HOSTILE_CELL in text for text in page.locator(".card p").all_inner_texts())
    assert page.locator("script").count() == 2, "the data and our own"
    assert page.locator("img[src='x']").count() == 0
    page.select_option("#colour", "1")
    assert any(HOSTILE_CELL in text for text in page.locator("#legend button").all_inner_texts())
    hover_a_point(page)


def test_light_and_dark(visit, report):
    def background(page):
        return page.evaluate("() => getComputedStyle(document.body).backgroundColor")

    light, dark = visit(report, color_scheme="light"), visit(report, color_scheme="dark")
    assert background(light) == "rgb(255, 255, 255)"
    assert background(dark) == "rgb(20, 23, 27)"
    assert pixels(dark)[0] > 2000
    dark.click("#theme")
    assert background(dark) == "rgb(255, 255, 255)"


def test_everything_can_be_reached_by_keyboard(visit, report):
    page = visit(report)
    page.select_option("#layout", label="directions")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("() => document.activeElement.id || document.activeElement.textContent"))
    assert {
        "theme",
        "print-summary",
        "print-all",
        "layer",
        "save-labels",
        "compare-clusters",
        "colour",
        "layout",
        "across",
        "up",
        "points",
        "Lasso",
        "reset",
        "full",
    } <= reached
    assert {"feature-search", "row-search", "compare"} - reached == {"compare"}, "there is nothing to compare yet"


def test_on_a_phone(visit, report):
    page = visit(report, viewport={"width": 360, "height": 740}, has_touch=True, device_scale_factor=2)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 360, "nothing sticks out"
    assert pixels(page)[0] > 2000


def test_without_webgl(visit, report):
    own = "HTMLCanvasElement.prototype.getContext"
    refusal = "function (kind, ...rest) { return kind === 'webgl2' ? null : real.call(this, kind, ...rest); }"
    init = f"const real = {own}; {own} = {refusal};"
    page = visit(report, init=init)
    assert "no WebGL2" in page.locator("#message").inner_text()
    drawn, blue = pixels(page)
    assert drawn > 2000
    assert blue > drawn / 10
    assert hover_a_point(page)


def test_a_million_points(visit, tmp_path):
    """Stays usable: every step is well under the seconds at which a browser offers to stop the page."""
    rng = np.random.RandomState(0)
    labels = rng.randint(12, size=1_000_000).astype(np.int32)
    Y = rng.standard_normal((12, 2))[labels] * 8 + rng.standard_normal((1_000_000, 2))
    model = jc.LDAKMeans(12, random_state=0).fit(Y[:2000])
    model.labels_ = labels
    jc.write_report(model, Y, tmp_path / "million.html", coordinates=Y)
    assert (tmp_path / "million.html").stat().st_size < 20e6
    page = visit(tmp_path / "million.html")
    assert pixels(page)[0] > 10_000
    assert hover_a_point(page)
    page.locator("#legend button[aria-pressed]").first.click()
    page.click("#in")
    assert pixels(page)[0] > 10_000


def test_a_tap_tells_what_a_point_is(visit, report):
    page = visit(report, has_touch=True, viewport={"width": 400, "height": 740})
    page.evaluate("document.querySelector('#points').scrollIntoView({block: 'center'})")
    area = page.locator("#points").bounding_box()
    places = [(x, y) for x in np.linspace(0.1, 0.9, 20) for y in np.linspace(0.2, 0.8, 6)]
    for x, y in places:
        page.touchscreen.tap(area["x"] + x * area["width"], area["y"] + y * area["height"])
        if page.locator("#tip").is_visible():
            page.wait_for_selector("#row:not([hidden])")
            return
    pytest.fail("no point answered")


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
@pytest.mark.parametrize("n_clusters", [3, 40])
def test_the_first_view_says_what_there_is(visit, tmp_path, size, n_clusters):
    """The number of clusters, the verdict and its reason, and names with a phrase: of all, or of the first of many."""
    labels = np.repeat(np.arange(n_clusters), 20).astype(np.int32)
    X = np.random.RandomState(0).standard_normal((labels.size, 6)) + 8 * np.eye(n_clusters, 6)[labels]
    X[:, 5] += 3 * labels
    model = jc.LDAKMeans(n_clusters, random_state=0).fit(X)
    model.labels_ = labels
    jc.write_report(model, X, tmp_path / "r.html", stability=np.linspace(0.5, 1, n_clusters), title="a file.csv")
    page = visit(tmp_path / "r.html", viewport=dict(zip(("width", "height"), size, strict=True)))
    seen = """(one) => {
      const { top, bottom } = one.getBoundingClientRect();
      return top >= 0 && bottom > top && bottom <= innerHeight;
    }"""
    sure = page.locator(".sure")
    assert sure.evaluate(seen)
    assert sure.inner_text().startswith(
        f"{n_clusters} clusters in {labels.size:,} rows. {'Fairly' if n_clusters == 3 else 'Not'} sure: "
    )
    assert "on other rows" in sure.inner_text()
    lines = [line for line in page.locator(".names li").all() if line.is_visible()]
    assert len(lines) == n_clusters or (len(lines) >= 6 and page.locator("#more-names").evaluate(seen))
    for line in lines:
        assert line.evaluate(seen)
        assert line.locator("a").inner_text()
        assert "(others " in line.locator(".phrase").inner_text()
    if n_clusters == 40:
        page.click("#more-names")
        assert page.locator(".names li").last.is_visible()
        page.click("#more-names")
        assert not page.locator(".names li").last.is_visible()


def test_many_clusters_are_not_a_long_way_down(visit, tmp_path):
    labels = np.repeat(np.arange(60), 10).astype(np.int32)
    X = np.random.RandomState(0).standard_normal((600, 8)) + 9 * np.eye(60, 8)[labels] + labels[:, None] % 7
    model = jc.LDAKMeans(60, random_state=0).fit(X)
    model.labels_ = labels
    jc.write_report(model, X, tmp_path / "r.html")
    page = visit(tmp_path / "r.html", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollHeight") < 12_000
    card = page.locator(".card").first
    assert not card.locator(".actions").is_visible()
    page.locator("#overview tbody th a").first.click()
    assert card.locator(".actions").is_visible(), "a link to a card opens it"
    page.click("#open-cards")
    assert page.locator(".card .actions").last.is_visible()
    page.click("#open-cards")
    assert not card.locator(".actions").is_visible()
    hidden = """() => {
      const t = transform();
      const at = centres().map(({ x, y }) => [(x.at / 65535) * t.sx + t.ox, (y.at / 65535) * t.sy + t.oy]);
      const pen = overlay.getContext("2d");
      const named = placedNames(pen);
      pen.font = nameFont();
      const half = (text) => pen.measureText(text).width / 2;
      const covers = ({ text, x, y }, [a, b]) => Math.abs(a - x) < half(text) && Math.abs(b - y) < 9;
      return [named.length, named.map((one) => at.filter((place) => covers(one, place)).length)];
    }"""
    n_named, covered = page.evaluate(hidden)
    assert n_named > 5
    assert max(covered) <= 1, "a name hides no cluster but its own"
