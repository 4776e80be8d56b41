# SPDX-License-Identifier: GPL-3.0-or-later
"""`compiled`: the tasks that the job type creates from settings."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def compiled() -> Callable[..., dict[str, Any]]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not here to run JavaScript")

    def compile_job(**settings: object) -> dict[str, Any]:
        """Return the output of flamenco.js."""
        command = [node, str(ROOT / "tests" / "farm" / "flamenco.js"), str(ROOT / "farm" / "tcb_bake.js")]
        job = json.dumps({"name": "Bake", "type": "tcb-bake", "settings": settings})
        ran = subprocess.run(command, input=job, capture_output=True, encoding="utf-8", timeout=60)
        assert ran.returncode == 0, ran.stderr
        result: dict[str, Any] = json.loads(ran.stdout)
        return result

    return compile_job
