"""A call, so that it can be repeated: its parameters with who chose them, and as a plain command line."""

from __future__ import annotations

import shlex
from typing import Any

import click
from click.core import ParameterSource

# Options that change what is said or where it goes, not what is found.
_ASIDE = {"quiet", "verbose", "as_json", "config", "force", "out", "plot"}
_SOURCES = {
    ParameterSource.COMMANDLINE: "you",
    ParameterSource.DEFAULT_MAP: "config file",
    ParameterSource.ENVIRONMENT: "environment",
}


def origins(context: click.Context) -> dict[str, tuple[Any, str]]:
    """Every parameter of this call with its value and who chose it."""
    return {name: (value, _source(context, name)) for name, value in context.params.items() if name not in _ASIDE}


def command_line(context: click.Context) -> str:
    """What to type to repeat this call, whatever file its options came from."""
    arguments, options = [], []
    for parameter in context.command.params:
        name = str(parameter.name)
        value = context.params.get(name)
        if name in _ASIDE - {"out"} or value is None or _source(context, name) == "default":
            continue
        if isinstance(parameter, click.Argument):
            arguments.append(str(value))
        elif getattr(parameter, "is_flag", False):
            options.append((parameter.opts if value else parameter.secondary_opts)[-1:])
        else:
            many = value if isinstance(value, list | tuple) else [value]
            options += [[parameter.opts[-1], "tab" if one == "\t" else str(one)] for one in many]
    return shlex.join(["jointclust", str(context.info_name), *arguments, *(part for one in options for part in one)])


def _source(context: click.Context, name: str) -> str:
    source = context.get_parameter_source(name)
    return "default" if source is None else _SOURCES.get(source, "default")
