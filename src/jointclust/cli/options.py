"""Options that subcommands share, and the file they can come from."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from jointclust.cli.models import Clusters, hint
from jointclust.cli.preparing import SCALES
from jointclust.cli.runs import part_of_record
from jointclust.readers import FORMATS, ReadError
from jointclust.registry import METHODS
from jointclust.views.written import DAY_FIRST, MONTH_FIRST

F = TypeVar("F", bound=Callable[..., Any])


def together(*decorators: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several options as one decorator, shown in this order."""

    def apply(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


def _configured(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Make the values of a file the defaults of this command; the command line still goes first."""
    if path is None:
        return None
    try:
        if path.endswith(".json"):
            values = part_of_record(Path(path), "parameters")
        else:
            values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(f"--config {path} cannot be read: {error}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ReadError(f"--config {path} is neither TOML nor a run.json: {error}") from error
    known = {
        name.lstrip("-").replace("-", "_"): parameter
        for parameter in context.command.params
        for name in (str(parameter.name), *parameter.opts)
        if name.startswith("--") or not name.startswith("-")
    }
    defaults: dict[str, Any] = {}
    for name, value in values.items():
        if name.replace("-", "_") not in known:
            raise click.UsageError(f"--config {path} sets {name!r}. {hint(name, sorted(known))}")
        parameter = known[name.replace("-", "_")]
        is_one_of_many = getattr(parameter, "multiple", False) and isinstance(value, str | int | float)
        defaults[str(parameter.name)] = [value] if is_one_of_many else value
    context.default_map = {**(context.default_map or {}), **defaults}
    return path


def _clusters(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> Clusters:
    """One number, a range such as 2-8, or several numbers to choose among."""
    numbers: list[int] = []
    for text in map(str, texts):
        ends = [int(part) if part.strip().isdecimal() else -1 for part in text.split("-")]
        if len(ends) > 2 or -1 in ends:
            raise click.BadParameter(f"{text!r} is neither a number nor a range such as 2-8.")
        if ends[0] < 1 or ends[-1] < ends[0]:
            raise click.BadParameter(f"{text} is not in the range: numbers of clusters start at 1, and rise.")
        if len(ends) == 2 and len(texts) == 1:
            return text
        numbers += range(ends[0], ends[-1] + 1)
    return numbers[0] if len(numbers) == 1 else sorted(set(numbers)) or None


_DELIMITERS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "space": " "}


def _delimiter(context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    """One character, or its name."""
    delimiter = None if text is None else _DELIMITERS.get(text.lower(), text)
    if delimiter is not None and len(delimiter) != 1:
        raise click.BadParameter(f"{text!r} is neither one character nor one of {', '.join(_DELIMITERS)}.")
    return delimiter


def choice(name: str, values: Sequence[str], help: str) -> Callable[[F], F]:
    """One of some values, the first of which is the default."""
    return click.option(name, type=click.Choice(values), default=values[0], show_default=True, help=help)


def missing(help: str) -> Callable[[F], F]:
    """What to do with empty cells."""
    return choice("--missing", ["auto", "refuse", "mean", "median"], f"What to do with empty cells: {help}")


def out(metavar: str, help: str, default: str | None = None) -> Callable[[F], F]:
    """Where the results go."""
    return click.option("-o", "--out", default=default, show_default=True, type=FILE, metavar=metavar, help=help)


# A path for shells to complete; whether it can be read, the readers say.
FILE = click.Path(readable=False)
data = click.argument("data", metavar="DATA", type=FILE)
_clusters_option = click.option(
    "-k",
    "--clusters",
    multiple=True,
    callback=_clusters,
    metavar="N",
    help="Number of clusters, a range such as 2-8, or repeated: what to choose among (default: found in the data).",
)
data_and_clusters = together(data, _clusters_option)
data_or_blocks = together(
    click.argument("data", metavar="[DATA]", type=FILE, required=False),
    click.option(
        "--block",
        "blocks",
        multiple=True,
        metavar="NAME=FILE",
        help="In place of DATA: one of several files with the same rows, which are joined by their ids; repeat.",
    ),
)
data_or_blocks_and_clusters = together(data_or_blocks, _clusters_option)
reading = together(
    click.option("--format", type=click.Choice(list(FORMATS)), help="Format of DATA, where its name does not tell."),
    click.option("--id-column", metavar="NAME", help="Column that names the rows (default: their numbers, from 0)."),
    click.option("--encoding", default="utf-8-sig", metavar="NAME", help="Encoding of a text file (default: UTF-8)."),
    click.option(
        "--delimiter",
        metavar="CHAR",
        callback=_delimiter,
        help="What separates cells, also tab, comma, semicolon, pipe or space (default: found in the first line).",
    ),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="Decimal sign; the other one is for thousands (default: found in the first rows).",
    ),
    click.option(
        "--dates",
        type=click.Choice([DAY_FIRST, MONTH_FIRST]),
        help="Order of day and month in dates such as 1/2/2024 (default: found in their column).",
    ),
    click.option("--text-column", metavar="NAME", help="Cluster the texts of this column, by their words."),
    click.option(
        "--no-header/--header",
        "no_header",
        default=None,
        help="Whether the first line of a text file is data, or names (default: names, unless it looks like data).",
    ),
    click.option(
        "--any-size",
        is_flag=True,
        help="Read also what unpacks to 100 times its size, or needs more memory than is free.",
    ),
)
use = together(
    click.option("--label-column", metavar="NAME", help="Column of known classes: for evaluation only, never used."),
    click.option(
        "--columns",
        multiple=True,
        metavar="NAME,NAME",
        help="Columns to use, all of these and no others; numbers from 0 where they have no names.",
    ),
    click.option("--drop", multiple=True, metavar="NAME,NAME", help="Columns to leave out."),
    click.option(
        "--keep",
        multiple=True,
        metavar="NAME,NAME",
        help="Columns to use beside those that depend on each other, whatever they depend on.",
    ),
    click.option(
        "--show",
        multiple=True,
        metavar="NAME,NAME",
        help="Columns that are not clustered, but shown with the rows: in the report, to find, colour and export by.",
    ),
    click.option("--all-columns", is_flag=True, help="Use all columns, also those that depend on no others."),
)
columns = together(
    use,
    choice(
        "--categories",
        ["auto", "refuse", "onehot", "drop"],
        "What to do with columns of text: auto takes few values as categories, different ones as ids.",
    ),
)
known = together(
    click.option(
        "--known-column",
        metavar="NAME",
        help="Column of classes that are known of some rows, which keep them; an empty cell is an unknown one.",
    ),
    click.option(
        "--known-rows",
        type=FILE,
        metavar="FILE",
        help="A table with an id and a class of some rows (as suggest writes it), in place of a column of DATA.",
    ),
)
preparing = together(
    choice("--scale", SCALES, "How to scale the columns: auto as suits the kind of data; becomes part of the model."),
    missing("auto fills them from the row's others; becomes part of the model."),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed: the same one, the same result."),
    columns,
)
method = click.option(
    "--method",
    default="consensus",
    show_default=True,
    metavar="NAME",
    shell_complete=lambda context, option, begun: [one.name for one in METHODS if one.name.startswith(begun)],
    help=f"One of {', '.join(entry.name for entry in METHODS)}.",
)
force = click.option("--force", is_flag=True, help="Replace files that are there.")
speaking = together(
    click.option("--quiet", is_flag=True, help="Say nothing but errors."),
    click.option(
        "--verbose", is_flag=True, help="Say more: the time of every step, the method's parameters, the views."
    ),
    click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    click.option("--debug", is_flag=True, expose_value=False, help="Show where an error came from."),
)
writing = together(
    force,
    click.option(
        "--raw-cells",
        is_flag=True,
        help="Keep text that begins with = + - @ as it is; else an apostrophe keeps it from being a formula.",
    ),
    speaking,
)
results = together(
    click.option("--plot", type=FILE, metavar="FILE", help="Draw a map of the rows (.svg, .png or .pdf)."),
    click.option("--image-shape", metavar="HxW", help="Rows are images of this height and width, such as 32x32."),
    choice("--image-order", ["C", "F"], "Whether pixels are stored row by row (C) or column by column (F)."),
    click.option(
        "--resamples",
        type=click.IntRange(0),
        default=10,
        show_default=True,
        help="Refits on halves of the rows that say whether each cluster is found again (the consensus has its own).",
    ),
    click.option(
        "--name-by",
        metavar="NAME",
        help="Name the clusters by the words of this column, which is not clustered: for embeddings of texts.",
    ),
    click.option("--xlsx", is_flag=True, help="Write results.xlsx, too: sheets of labels, clusters and a summary."),
    click.option(
        "--report-megabytes",
        type=click.FloatRange(0, min_open=True),
        default=12,
        show_default=True,
        metavar="N",
        help="Size of report.html, at the most: a larger one carries more features to colour the map by.",
    ),
    click.option(
        "--config",
        type=FILE,
        is_eager=True,
        callback=_configured,
        metavar="FILE",
        help="Options from a TOML file, or a run.json.",
    ),
    writing,
)


def names_of(texts: tuple[str, ...]) -> list[str] | None:
    """Names with commas between them; those that hold a comma are in quotation marks.

    Examples
    --------
    >>> names_of(("a,b", '"c, d"'))
    ['a', 'b', 'c, d']
    """
    return [name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row] if texts else None
