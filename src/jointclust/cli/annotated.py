"""Labels written into a copy of an AnnData file, as columns of its observations."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from jointclust.cli.errors import OutputError
from jointclust.cli.files import written
from jointclust.readers.annotated import annotate_file


def write_annotated(source: Path, target: Path, columns: dict[str, NDArray[Any]]) -> None:
    """A copy of ``source`` at ``target``, which may be the same, with labels as categories and what goes with them."""
    if not source.is_file():
        raise OutputError(f"{target}: labels go into a copy of a .h5ad file, and DATA came from standard input.")
    with written(target) as temporary:
        shutil.copyfile(source, temporary)
        annotate_file(temporary, columns)
