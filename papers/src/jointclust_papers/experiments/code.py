"""The code that a result depends on, as a digest: modules of ours, followed by their imports."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import jointclust
import jointclust_papers

# Our packages, and where they are.
ROOTS = {"jointclust": Path(jointclust.__file__).parent, "jointclust_papers": Path(jointclust_papers.__file__).parent}


def digest(modules: Iterable[str]) -> str:
    """A fingerprint of the text of modules and, where they are ours, of all of ours that they import.

    An installed package is known by its version instead, and left out; so is what has no file, as in a notebook.
    """
    return _of_all(frozenset(modules))


@functools.cache
def _of_all(modules: frozenset[str]) -> str:
    files = {file for name in modules for file in _files(name)}
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(files):
        digest.update(_text(file))
    return digest.hexdigest()


@functools.cache
def _files(name: str) -> frozenset[Path]:
    """The file of a module and, where it is ours, of all that it imports, one after another."""
    if name.partition(".")[0] not in ROOTS:
        try:
            file = Path(inspect.getsourcefile(sys.modules[name]) or "")
        except (KeyError, TypeError):  # not loaded; or of a notebook, or built in
            return frozenset()
        return frozenset() if "site-packages" in file.parts or not file.is_file() else frozenset([file])
    files: set[Path] = set()
    waiting = [name]
    while waiting:
        own = _file(waiting.pop())
        if own is not None and own not in files:
            files.add(own)
            waiting += _imported(own)
    return frozenset(files)


@functools.cache
def _text(file: Path) -> bytes:
    """The code without comments and docstrings, which change no result."""
    tree = ast.parse(file.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree).encode()


@functools.cache
def _imported(file: Path) -> tuple[str, ...]:
    return tuple(name for node in ast.walk(ast.parse(file.read_bytes())) for name in _names(node))


def _names(node: ast.AST) -> Iterator[str]:
    """Modules that a statement imports; a package is meant only where something of its own is."""
    if isinstance(node, ast.Import):
        yield from (one.name for one in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        for one in node.names:
            inner = f"{node.module}.{one.name}"
            yield node.module if _file(inner) is None else inner


def _file(name: str) -> Path | None:
    first, *rest = name.split(".")
    if first not in ROOTS:
        return None
    base = ROOTS[first].joinpath(*rest)
    candidates = (base.with_suffix(".py") if rest else base / "__init__.py", base / "__init__.py")
    return next((one for one in candidates if one.is_file()), None)
