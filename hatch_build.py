"""The README as it is shown where the repository is not: its links and pictures lead back to the repository."""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ReadmeHook(MetadataHookInterface):
    """Fills in ``readme``, which pyproject.toml leaves to us."""

    def update(self, metadata: dict) -> None:
        home = metadata["urls"]["Homepage"]
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = re.sub(r"(!\[[^\]]*\])\((?!http)([^)]+)\)", rf"\1({home}/raw/main/\2)", text)
        text = re.sub(r"\]\((?!http)([^)]+)\)", rf"]({home}/blob/main/\1)", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
