"""Size and speed of the report in Chromium: ``JOINTCLUST_BROWSER=chromium python benchmarks/report_page.py``."""

import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import scipy.sparse as sp
from playwright.sync_api import sync_playwright

import jointclust as jc

# The software renderer: a graphics card is faster.
ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PAINTED = "await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# The page goes on while the renderer still draws: without a wait the next action pays for the last picture.
DRAWN = f"{PAINTED}; painter.finish()"
# Seconds that the page takes for something, drawn on the screen.
TIMED = "async () => {{ const began = performance.now(); {action}; return (performance.now() - began) / 1000; }}"
TYPED = "by('{field}').value = '{text}'; by('{field}').oninput()"


def opened(browser, path):
    began = time.perf_counter()
    page = browser.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    page.evaluate(f"async () => {{ {DRAWN} }}")
    print(f"{path.stem}: {path.stat().st_size / 1e6:.1f} MB, opens in {time.perf_counter() - began:.2f} s")
    return page


def timed(page, name, action, prepare="", times=5):
    """The median of some, and the longest, each from a page at rest: the browser shows a picture after it was drawn."""
    seconds = []
    for _ in range(times):
        page.evaluate(f"async () => {{ {prepare} }}")
        page.wait_for_timeout(500)
        seconds.append(page.evaluate(TIMED.format(action=action)))
    print(f"  {name}: {np.median(seconds):.3f} s, at most {max(seconds):.3f}")


def many_rows(folder, n=200_000):
    X, y = jc.datasets.mixture(n, 50, 12, separation=12, random_state=0)
    X = X.astype(np.float32)
    began = time.process_time()
    model = jc.JointConsensus(12, random_state=0).fit(X)
    fitted = time.process_time()
    path = folder / f"{n:,} rows.html"
    jc.write_report(model, X, path, ids=[f"row-{i}" for i in range(n)], classes=y)
    print(f"{n:,} rows: fit {fitted - began:.1f} s of CPU, report {time.process_time() - fitted:.1f}")
    return path


def many_features(folder, n=5_000):
    X = sp.random_array((4_000, n), density=0.01, format="csr", rng=np.random.default_rng(0))
    X.data = np.ceil(3 * X.data)
    path = folder / f"{n:,} features.html"
    model = jc.LDAKMeans(8, random_state=0, max_rank=50, variance=0.1).fit(X)
    jc.write_report(model, X, path, feature_names=[f"word {i}" for i in range(n)])
    return path


def main():
    folder = Path(tempfile.mkdtemp())
    many_rows(folder, 20_000)
    rows, features = many_rows(folder), many_features(folder)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["JOINTCLUST_BROWSER"], args=ARGUMENTS)
        page = opened(browser, rows)
        feature, cluster = (
            f"{action}; {DRAWN}" for action in ("await colourBy(page.features[3])", "setColour(clusters)")
        )
        timed(page, "colour by a feature", feature, prepare=cluster)
        timed(page, "colour by cluster", cluster, prepare=feature)
        timed(page, "row search", TYPED.format(field="row-search", text="19999"))
        timed(page, "row search, again", TYPED.format(field="row-search", text="177777"))
        timed(page, "a row's panel", "await pin(5)")
        timed(page, "another number of clusters", f"setLayer(20); {DRAWN}", prepare=f"setLayer(12); {DRAWN}")
        timed(page, "back to that of the fit", f"setLayer(12); {DRAWN}", prepare=f"setLayer(7); {DRAWN}")
        selected = f"select((i) => i % 3 === 0); {DRAWN}"
        timed(page, "select rows", selected, prepare="showSelection(null)")
        timed(page, "compare a selection", "await openComparison('selection', 'rest')", prepare=selected)
        timed(page, "compare two clusters", "await openComparison('cluster 0', 'cluster 1')")
        timed(page, "a name", f"setName(clusters.nodes[0], 'a name'); {DRAWN}", prepare="forget()")
        page.evaluate("async () => { for (let k = 0; k < 4; k++) await addBeside(page.features[k]); }")
        timed(page, "four maps beside", f"zoom(1.3); {DRAWN}", prepare="reset()")
        page = opened(browser, features)
        timed(page, "feature search", TYPED.format(field="feature-search", text="499"))
        timed(page, "colour by a feature", f"await colourBy(page.features.at(-1)); {DRAWN}")
        browser.close()


if __name__ == "__main__":
    main()
