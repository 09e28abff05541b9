"""Warnings that tell a user why a result should not be trusted, and what to do; and lists that collect them."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple


class CollapseWarning(UserWarning):
    """The subspace, or a cluster, has collapsed: the result says little about the data."""


class ScaleWarning(UserWarning):
    """One column of a table carries most of the variance, so that the clusters are those of this column alone."""


class ColumnWarning(UserWarning):
    """The clusters are (nearly) the levels of one column, or cells of one number, and no other column shows them."""


class PlainKMeansWarning(UserWarning):
    """The parameters make the method equal to plain k-means: there is nothing to gain from it."""


class Notice(UserWarning):
    """What was done to the data: worth knowing, and no danger."""


class NoticeText(str):
    """The message of a notice, among those that were collected."""

    __slots__ = ()


class Setting(NamedTuple):
    """A parameter that a message speaks of, with a value where that matters."""

    name: str
    value: object = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"


class Message(str):
    """A text with the settings it speaks of behind it, in parentheses."""

    text: str
    settings: tuple[Setting, ...]

    def __new__(cls, text: str, *settings: Setting, spell: Callable[[Setting], str] = str) -> Message:
        if isinstance(text, Message) and not settings:  # errors are made again of their arguments: from a pickle
            settings, text = text.settings, text.text
        message = super().__new__(cls, f"{text} ({', '.join(map(spell, settings))})" if settings else text)
        message.text, message.settings = text, settings
        return message


def tell(message: str, category: type[Warning]) -> None:
    """Warn, pointing at the first line outside this library and scikit-learn; where messages are collected, add it."""
    message = _subject.get() + message
    if _context_filter.match(NoticeText(message) if issubclass(category, Notice) else message):
        return
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def speaking_of(subject: str) -> Iterator[None]:
    """Warnings inside begin with what they are about."""
    token = _subject.set(f"{subject}: ")
    try:
        yield
    finally:
        _subject.reset(token)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Messages of all warnings inside, each once, which go to a list in place of the user.

    It holds for this context, that is, for this thread and those that :mod:`jointclust.rows.threads` starts from it;
    other threads warn as usual. Warnings of other libraries are collected, too, if Python shows them to filters: not
    those that it has shown from the same line before, nor those in scikit-learn's own workers.
    """
    messages: list[str] = []
    token = _collecting.set(messages)
    _context_filter.open()
    try:
        yield messages
    finally:
        _context_filter.close()
        _collecting.reset(token)


class _ContextFilter:
    """A filter for the warnings of other libraries, in Python's list of filters while anyone collects.

    Filters belong to the process. This one matches only in a context that collects: it then adds the message to the
    list, and the warning is ignored. Python has no public filter by context, so this object takes a pattern's place.
    """

    # scikit-learn's workers make filters anew from the patterns of these: there, this one matches nothing.
    pattern = "(?!)"

    def __init__(self) -> None:
        self.lock, self.depth, self.joined = threading.Lock(), 0, list[list[Any]]()

    def open(self) -> None:
        with self.lock:
            self.depth += 1
            filters: list[Any] = warnings.filters  # type: ignore[assignment]
            if _FILTER not in filters:
                filters.insert(0, _FILTER)
                self.joined.append(filters)

    def close(self) -> None:
        with self.lock:
            self.depth -= 1
            if self.depth == 0:
                # A thread in the middle of catch_warnings has put a copy in the place of the list that it brings back.
                filters: Any
                for filters in (*self.joined, warnings.filters):
                    if _FILTER in filters:
                        filters.remove(_FILTER)
                self.joined.clear()

    def match(self, message: str) -> bool:
        messages = _collecting.get()
        if messages is not None and message not in messages:
            messages.append(message)
        return messages is not None

    def __reduce__(self) -> str:
        return "_context_filter"  # workers in other processes get it by name


_INSIDE = {"jointclust", "sklearn", "joblib", "contextlib"}
_collecting: ContextVar[list[str] | None] = ContextVar("collecting", default=None)
_subject: ContextVar[str] = ContextVar("subject", default="")
_context_filter = _ContextFilter()
# Action, message, category, module and line, as in warnings.filters.
_FILTER = ("ignore", _context_filter, Warning, None, 0)
