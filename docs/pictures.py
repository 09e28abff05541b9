"""Takes the pictures of the guide anew: reports on the tables of its pages, in headless Chromium.

    JOINTCLUST_DATA=folder python docs/pictures.py [NAME ...]

Writes docs/_static/tasks/NAME.png. Chromium is the one that CHROMIUM names, or the first one on the path. The picture
of the cells needs pbmc3k in the folder that JOINTCLUST_DATA names.
"""

import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from jointclust import cli

FOLDER = Path(__file__).parent / "_static" / "tasks"
# Name: the data set, options of `jointclust fit`, and what is shown: the first screen, a section, or the printed page.
PICTURES = {
    "customers": ("customers", [], "top"),
    "survey": ("survey", [], "top"),
    "documents": ("tickets", ["--text-column", "text"], "top"),
    "cells": ("pbmc3k", [], "top"),
    "images": ("digits", ["--clusters", "10", "--image-shape", "8x8"], "top"),
    "curves": ("daily_curves", [], "top"),
    "number": ("customers", [], ".candidates"),
    "how_sure": ("customers", ["--clusters", "5"], "verdict"),
    "presenting": ("customers", ["--clusters", "5", "--show", "city,since"], "print"),
}


def report(data, options, folder):
    """The report on a data set, by the commands of the page."""
    table = folder / (f"{data}.npz" if data == "pbmc3k" else f"{data}.csv")
    cli.main(["datasets", data, "--no-classes", "--quiet", "--out", str(table)])
    cli.main(["fit", str(table), *options, "--quiet", "--out", str(folder / "run")])
    return folder / "run" / "report.html"


def saved(image, name):
    """A picture with few colours: small, and as good on a page."""
    image = image.convert("RGB").quantize(128, dither=Image.Dither.NONE)
    FOLDER.mkdir(parents=True, exist_ok=True)
    image.save(FOLDER / f"{name}.png", optimize=True)


def printed(page, folder):
    """The first page of what the browser prints."""
    page.pdf(path=folder / "page.pdf", format="A4", print_background=True)
    subprocess.run(["pdftoppm", "-r", "80", "-png", "-f", "1", "-l", "1", "page.pdf", "page"], cwd=folder, check=True)
    return Image.open(next(folder.glob("page*.png")))


def main(names):
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in names or PICTURES:
            data, options, shown = PICTURES[name]
            with tempfile.TemporaryDirectory() as folder:
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                page.goto(report(data, options, Path(folder)).as_uri())
                page.wait_for_timeout(1500)  # the map is drawn
                if shown == "print":
                    saved(printed(page, Path(folder)), name)
                else:
                    clip = {"clip": {"x": 0, "y": 0, "width": 1280, "height": 300}} if shown == "verdict" else {}
                    target = page.locator(shown) if shown.startswith(".") else page
                    saved(Image.open(io.BytesIO(target.screenshot(**clip))), name)
                page.close()
            print(name, flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
