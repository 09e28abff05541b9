"""Headless Chromium, where JOINTCLUST_BROWSER names it (`make test-browser` does)."""

import os
import time

import pytest

# The software renderer, so that WebGL2 is there on a machine without a graphics card; no talk with the outside.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]


def pytest_collection_modifyitems(items):
    own = [item for item in items if "/browser/" in item.path.as_posix()]
    for item in own:
        item.add_marker(pytest.mark.browser)
        if not os.environ.get("JOINTCLUST_BROWSER"):
            item.add_marker(pytest.mark.skip(reason="needs Chromium: run `make test-browser`"))


def until(page, expression, arg=None, seconds=10):
    """Wait until the expression is true; the page's policy forbids what Playwright's own waiting does."""
    end = time.monotonic() + seconds
    while not page.evaluate(expression, arg):
        assert time.monotonic() < end, f"{expression} is not true after {seconds} s"
        page.wait_for_timeout(20)


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=os.environ["JOINTCLUST_BROWSER"], args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser):
    """Opens a page; at the end, nothing was asked of the network, and nothing complained."""
    contexts, complaints, requests = [], [], []

    def visit(path, init=None, ready="html[data-ready]", **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        if init:
            page.add_init_script(init)
        page.on(
            "console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: (complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector(ready)
        if options.get("java_script_enabled", True):
            page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return page

    yield visit
    for context in contexts:
        context.close()
    # Chromium says so when the time that many points take is measured, and when a test reads pixels back.
    expected = ("GPU stall due to ReadPixels", "Multiple readback operations using getImageData")
    complaints = [text for text in complaints if not any(one in text for one in expected)]
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
