"""The command line, called as a user does."""

import csv
import os
import subprocess
import sys
from pathlib import Path

from jointclust import cli

ROOT = Path(__file__).parents[2]
RUN = {"labels.csv", "clusters.csv", "clusters.json", "embedding.parquet", "model.skops", "report.html", "run.json"}
FIT = ("--clusters", 3, "--id-column", "name", "--label-column", "kind", "--method", "ldakm")


def command(*arguments, **options):
    """Run ``jointclust`` in a process of its own."""
    call = [sys.executable, "-c", "from jointclust_command import main; main()", *map(str, arguments)]
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run(call, capture_output=True, text=True, env=environment, timeout=300, **options)


def call(*arguments):
    """Run it in this process; returns the exit status."""
    try:
        cli.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code
    return 0


def failure(capsys, *arguments):
    """The exit status and the one line that a failing call leaves."""
    status = call(*arguments)
    message = capsys.readouterr().err.strip().splitlines()[-1]
    assert status != 0
    assert message.startswith("Error: ")
    return status, message


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))
