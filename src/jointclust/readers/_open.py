"""Files that may be compressed, as bytes and as lines of text."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from jointclust.readers._table import Options, ReadError, needed

ENDINGS = (".gz", ".bz2", ".xz", ".zst")
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\0": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
# The longer marks come first: that of UTF-32 begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_DEFAULT = Options().encoding


def compression_of(path: Path) -> str | None:
    """How a file is compressed, by its first bytes."""
    with path.open("rb") as stream:
        start = stream.read(10)
    kind = next((kind for magic, kind in _MAGIC.items() if start.startswith(magic)), None)
    return None if kind == "bz2" and start[4:] != b"1AY&SY" else kind


@contextmanager
def opened(path: Path) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The file on the disk, and its content."""
    kind = compression_of(path)
    with path.open("rb") as raw, _content(raw, kind) as content:
        yield raw, content


def _content(raw: BinaryIO, kind: str | None) -> BinaryIO:
    if kind == "zstd":
        pa = needed("pyarrow", "reading .zst")
        return cast(BinaryIO, pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd"))
    if kind is None:
        return raw
    return cast(BinaryIO, {"gzip": gzip, "bz2": bz2, "xz": lzma}[kind].open(raw))


@contextmanager
def lines_of(path: Path, encoding: str) -> Iterator[tuple[BinaryIO, TextIO]]:
    """The file on the disk, and its lines, with their ends."""
    with opened(path) as (raw, content), io.TextIOWrapper(content, encoding, newline="") as lines:
        yield raw, lines


def encoding_of(path: Path, given: str) -> tuple[str, str | None]:
    """The encoding to read a text file with, and a note where that is not the one given."""
    try:
        codecs.lookup(given)
    except LookupError as error:
        raise ReadError(f"--encoding {given}: there is no such encoding.") from error
    if given != _DEFAULT:
        return given, None
    with opened(path) as (_, content):
        start = content.read(1024)
    found = next((name for mark, name in _MARKS.items() if start.startswith(mark)), None)
    if found is not None:
        return found, f"The file is marked as {found.upper()}, and read as such."
    if b"\0" in start:
        raise ReadError(f"{path} is no text in UTF-8: it holds null bytes. If it is UTF-16: --encoding utf-16-le.")
    return given, None


def encoding_error(path: Path, encoding: str) -> ReadError:
    """Where the first undecodable byte is; a second pass, but only on the way to an error."""
    where = "it ends in the middle of a character"
    with opened(path) as (_, content):
        for number, line in enumerate(content if not encoding.startswith(("utf-16", "utf-32")) else (), 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError as error:
                where = f"line {number} holds the byte 0x{line[error.start]:02x}"
                break
    name = encoding.removesuffix("-sig")
    return ReadError(f"{path} is not {name}: {where}. Name its encoding, for example --encoding latin-1.")
