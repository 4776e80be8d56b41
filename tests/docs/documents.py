# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents, their Python code, and the table that it reads."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
NOT_FOR_USERS = {"api", "api_interp", "glossary"}
USERS_PAGES = [
    *sorted((ROOT / "docs" / "start").glob("*.md")),
    *sorted((ROOT / "docs" / "use").glob("*.md")),
    ROOT / "docs" / "automate" / "python.md",
    ROOT / "docs" / "automate" / "command_line.md",
    *(page for page in sorted((ROOT / "docs" / "reference").glob("*.md")) if page.stem not in NOT_FOR_USERS),
]
"""The pages that name labels and messages of the interface."""
MESSAGES_PAGE = ROOT / "docs" / "reference" / "messages.md"
FINDS_THE_EXTENSION = """
package = next(name for name in sys.modules if name.endswith(".tcb_animation") and addon_utils.check(name)[1])
animation = sys.modules[f"{package}.animation"]
"""
"""The lines that find the enabled extension in any repository."""
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


BUILT = {"build", "dist"}
TEXTS = {".py", ".md", ".toml", ".sh", ".js", ".txt", ""}


@cache
def text_files() -> list[Path]:
    """Return the text files of the repository."""
    folders = [path for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "." and path.name not in BUILT]
    files = [*ROOT.iterdir(), *(path for folder in folders for path in folder.rglob("*"))]
    return sorted(path for path in files if path.suffix in TEXTS and path.is_file())


TABLE = "frame,location[0],location[1],location[2]\n1,0,0,3\n20,4,0,0\n40,8,0,3\n"
