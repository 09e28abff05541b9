"""The whole story on data that come with the library, by the commands that a user would type."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

import jointclust as jc
from jointclust.cli import commands, data_sets, options, saved
from jointclust.cli.console import Voice
from jointclust.exceptions import collected
from jointclust.types import Labels


@click.command()
@options.out("FOLDER", "Folder for the files.", "jointclust-demo")
@options.force
@options.speaking
def demo(out: str, force: bool, **given: Any) -> None:
    """Show what jointclust does, in a minute, on handwritten digits; ends with the path of a report to open."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    voice = Voice(given)
    extra = [*(["--force"] if force else []), "--quiet"]
    digits, run, model = str(folder / "digits.csv"), str(folder / "run"), str(folder / "run" / "model.skops")

    voice.say("1797 handwritten digits, 64 pixels each, as a CSV file with a column of classes:")
    _call(voice, data_sets.datasets, ["digits", "--out", digits], extra)
    voice.say("\nTen clusters, a model and a report from one command; it never looks at the classes:")
    layout = ["--label-column", "class", "--image-shape", "8x8"]
    _call(voice, commands.fit, [digits, "--clusters", "10", *layout, "--out", run], extra)
    voice.say("\nThe saved model labels new rows:")
    _call(voice, saved.predict, [run, digits, "--out", str(folder / "labels.csv")], extra)
    voice.say("\nAgainst the known classes, which no method saw:")
    table = _comparison(jc.load(model).labels_)
    report = (folder / "run" / "report.html").resolve()
    if not voice.quiet:
        voice.table(table, {"table": table, "report": str(report)})
    if not voice.as_json:
        click.echo(str(report) if voice.quiet else f"\nOpen {report}")


def _call(voice: Voice, command: click.Command, arguments: list[str], extra: list[str]) -> None:
    voice.say(f"  $ jointclust {command.name} {shlex.join(arguments)}")
    command.main([*arguments, *extra], prog_name=f"jointclust {command.name}", standalone_mode=False)


def _comparison(consensus: Labels) -> dict[str, list[Any]]:
    """Accuracy of what people use and of a few methods of this library."""
    digits = jc.datasets.load("digits")
    methods = {
        "k-means (10 starts)": KMeans(10, n_init=10, random_state=0),
        "PCA, then k-means": make_pipeline(PCA(9, random_state=0), KMeans(10, n_init=10, random_state=0)),
        "LDAKMeans": jc.LDAKMeans(10, n_init=5, random_state=0),
        "ODC, neighbour graph": jc.OptimalDiscriminantClustering(10, kernel="nearest_neighbors", random_state=0),
    }
    with collected():
        partitions = {name: method.fit_predict(digits.data) for name, method in methods.items()}
    partitions["JointConsensus (the run above)"] = consensus
    return {
        "method": list(partitions),
        "accuracy": [jc.metrics.clustering_accuracy(digits.target, labels) for labels in partitions.values()],
        "NMI": [jc.metrics.normalized_mutual_info(digits.target, labels) for labels in partitions.values()],
    }
