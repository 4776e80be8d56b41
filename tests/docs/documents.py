# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents, the Python in them, and the table that they read."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "splines").glob("*.md")),
]
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)


TABLE = "frame,location.x,location.y,location.z\n1,0,0,3\n20,4,0,0\n40,8,0,3\n"
