"""Takes the pictures of the documentation anew: reports on the tables of its pages, in headless Chromium.

    JOINTCLUST_DATA=folder python docs/pictures.py [NAME ...]

Writes docs/_static/tasks/NAME.png, and docs/_static/report.png. Chromium is the one that CHROMIUM names, or the first
one on the path. The pictures of cells need pbmc3k in the folder that JOINTCLUST_DATA names.
"""

import contextlib
import functools
import io
import os
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

import numpy as np
from openpyxl import load_workbook
from PIL import Image
from playwright.sync_api import sync_playwright

import jointclust as jc
from jointclust import cli

STATIC = Path(__file__).parent / "_static"
FIVE = ("--clusters", "5", "--show", "city,since", "--xlsx")
# Name: the data set, options of `jointclust fit`, and what is shown: the first screen, the verdict, a pinned row, the
# printed page, sheets, or the part of the page that a selector names.
PICTURES = {
    "tasks/customers": ("customers", (), "top"),
    "tasks/survey": ("survey", (), "top"),
    "tasks/documents": ("tickets", ("--text-column", "text"), "top"),
    "tasks/cells": ("pbmc3k", (), "top"),
    "tasks/images": ("digits", ("--clusters", "10", "--image-shape", "8x8"), "top"),
    "tasks/curves": ("daily_curves", (), "top"),
    "tasks/big_files": ("mixture", ("--clusters", "6"), "top"),
    "tasks/number": ("customers", (), ".candidates"),
    "tasks/which_columns": ("customers", ("--drop", "tickets"), "#columns"),
    "tasks/how_sure": ("customers", FIVE, "verdict"),
    "tasks/next_month": ("july", ("--clusters", "5", "--like", "january"), "#notes"),
    "tasks/presenting": ("customers", FIVE, "print"),
    "tasks/export": ("customers", FIVE, "sheets"),
    "tasks/from_kmeans": ("wine", ("--clusters", "3"), "top"),
    "tasks/from_bertopic": ("tickets", ("--text-column", "text"), "#clusters"),
    "tasks/from_scanpy": ("pbmc3k", (), "#overview"),
    "report": ("digits", ("--clusters", "10", "--image-shape", "8x8"), "row"),
}
HIGHEST = 900
ARGUMENTS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def table(data, folder):
    """The file of a data set, as the pages draw it."""
    if data == "mixture":
        path = folder / "rows.npy"
        np.save(path, jc.datasets.mixture(100_000, 16, 6, random_state=0)[0].astype(np.float32))
    elif data in ("january", "july"):
        path, (seed, segments) = folder / f"{data}.csv", {"january": (1, 4), "july": (7, 5)}[data]
        customers, segment = jc.datasets.everyday("customers", random_state=seed)
        customers[segment < segments].to_csv(path, index=False)
    else:
        path = folder / (f"{data}.npz" if data == "pbmc3k" else f"{data}.csv")
        cli.main(["datasets", data, "--no-classes", "--quiet", "--out", str(path)])
    return path


@functools.cache
def run(data, options, folder):
    """The folder of a fit of a data set; one fit may have several pictures."""
    folder = Path(tempfile.mkdtemp(dir=folder))
    if "january" in options:
        before = run("january", ("--clusters", "4"), folder)
        options = (*options[:-1], str(before))
    path = table(data, folder)
    with contextlib.chdir(folder):  # the page names the files as they are given here
        cli.main(["fit", path.name, *options, "--quiet", "--out", "run"])
    return folder / "run"


def saved(image, name):
    """A picture with few colours: small, and as good on a page."""
    image = image.convert("RGB")
    image = image.crop((0, 0, image.width, min(image.height, HIGHEST))).quantize(128, dither=Image.Dither.NONE)
    image.save(STATIC / f"{name}.png", optimize=True)


def printed(page, folder):
    """The first page of what the browser prints."""
    page.pdf(path=folder / "page.pdf", format="A4", print_background=True)
    subprocess.run(["pdftoppm", "-r", "80", "-png", "-f", "1", "-l", "1", "page.pdf", "page"], cwd=folder, check=True)
    return Image.open(next(folder.glob("page*.png")))


def sheets(path):
    """The first rows of the sheets of a workbook, as a page that looks like one."""
    book, parts = load_workbook(path, read_only=True), []
    for title, n_columns in (("labels", 6), ("clusters", 6)):
        rows = [[cell.value for cell in row[:n_columns]] for row in book[title].iter_rows(max_row=6)]
        lines = "".join(f"<tr>{''.join(f'<td>{escape(shown(value))}</td>' for value in row)}</tr>" for row in rows)
        parts.append(f"<h2>{title}</h2><table>{lines}</table>")
    style = (
        "body { font: 14px sans-serif; width: 1000px } h2 { font-size: 14px; margin: 12px 0 4px } "
        "table { border-collapse: collapse } tr:first-child { font-weight: bold; background: #eee } "
        "td { border: 1px solid #bbb; padding: 3px 8px; max-width: 330px; overflow: hidden; white-space: nowrap; "
        "text-overflow: ellipsis }"
    )
    return f"<meta charset='utf-8'><style>{style}</style><body>{''.join(parts)}</body>"


def shown(value):
    """A cell as a spreadsheet shows it."""
    return f"{value:.3f}" if isinstance(value, float) else "" if value is None else str(value)


def picture(page, folder, what):
    """What is shown of a run."""
    if what == "sheets":
        page.set_content(sheets(folder / "results.xlsx"))
        return Image.open(io.BytesIO(page.locator("body").screenshot()))
    page.goto((folder / "report.html").as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    page.wait_for_timeout(1500)  # the map is drawn
    if what == "print":
        return printed(page, folder.parent)
    if what == "row":
        page.fill("#row-search", "5")
        page.keyboard.press("Enter")
        page.wait_for_timeout(500)
    if what == "verdict":
        return Image.open(io.BytesIO(page.screenshot(clip={"x": 0, "y": 0, "width": 1280, "height": 300})))
    target = page.locator(what) if what[0] in ".#" else page
    return Image.open(io.BytesIO(target.screenshot()))


def main(names):
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        for name in names or PICTURES:
            data, options, what = PICTURES[name]
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            saved(picture(page, run(data, options, folder), what), name)
            page.close()
            print(name, flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
