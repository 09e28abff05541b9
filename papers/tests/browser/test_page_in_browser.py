"""The page of findings in a real browser."""

import numpy as np
import pandas as pd
import pytest

from jointclust_papers.findings import VERDICTS, Claim, Findings, Reading, ahead
from jointclust_papers.page import write_page

LONG = "AMethodWhoseNameIsLongerThanAnyScreenOfAPhoneIsWideAndThatHasNoPlaceToBreakItAtAll"


@pytest.fixture(scope="module")
def findings_page(tmp_path_factory):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6))
    for index, ax in enumerate(figure.subplots(2, 3).flat):
        ax.plot(np.arange(10) * index)
    wide = pd.DataFrame(np.random.RandomState(0).rand(120, 14), columns=[f"column {i}" for i in range(14)])
    reading = Reading([ahead(LONG, [0.1, 0.2]), ahead(LONG, [-0.1, 0.1])], LONG)
    claims = [Claim(f"{LONG}-{verdict}", LONG, LONG, verdict, LONG, LONG, readings=[reading]) for verdict in VERDICTS]
    findings = [
        Findings("dec", "table 2", LONG, wide.assign(method=LONG), figure, claims),
        Findings(LONG, LONG, LONG, notes=[LONG], missing=[LONG], stand_ins=[LONG]),
    ]
    return write_page(findings, tmp_path_factory.mktemp("page"), title=LONG, facts={LONG: LONG})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_only_boxes_scroll_sideways(visit, findings_page, width, scheme):
    page = visit(findings_page, ready="main", viewport={"width": width, "height": 740}, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    table, figure = page.locator("article .tall"), page.locator(".figure")
    assert table.evaluate("box => box.scrollWidth > box.clientWidth && box.scrollHeight > box.clientHeight")
    assert figure.evaluate("box => box.scrollWidth > box.clientWidth") == (width == 360)
    light = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert light == (scheme == "light")
    assert figure.evaluate("box => getComputedStyle(box).backgroundColor") == "rgb(255, 255, 255)"


def test_header_of_a_long_table_stays_in_sight(visit, findings_page):
    page = visit(findings_page, ready="main")
    table = page.locator("article .tall")
    table.evaluate("box => { box.scrollTop = 900; }")
    head = table.locator("th").first.bounding_box()
    assert head["y"] == pytest.approx(table.bounding_box()["y"], abs=2)
