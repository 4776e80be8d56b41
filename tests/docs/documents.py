# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents, the Python in them, and the table that they read."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


BUILT = {"build", "dist"}
TEXTS = {".py", ".md", ".toml", ".sh", ".js", ".txt", ""}


@cache
def text_files() -> list[Path]:
    """Return the files of the repository that hold text."""
    folders = [path for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "." and path.name not in BUILT]
    files = [*ROOT.iterdir(), *(path for folder in folders for path in folder.rglob("*"))]
    return sorted(path for path in files if path.suffix in TEXTS and path.is_file())


TABLE = "frame,location.x,location.y,location.z\n1,0,0,3\n20,4,0,0\n40,8,0,3\n"
