# SPDX-License-Identifier: GPL-3.0-or-later
"""The command from a checkout, in which a worker helps even with short work: `python tests/cli/helped.py VERB …`.

The first file waits until a worker has a file, too.
"""

from __future__ import annotations

import importlib
import runpy
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any

TOOL = Path(__file__).resolve().parents[2] / "tools" / "tcb.py"


def let_a_worker_help(workers: ModuleType, patch: Any = setattr) -> None:
    """Change `cli.run` so that a worker always helps."""

    take = workers._Pool.take
    helped = threading.Event()

    def take_when_helped(pool: Any) -> Any:
        file = take(pool)
        left = len(pool.waiting)
        if threading.current_thread() is threading.main_thread() and left and not helped.is_set():
            deadline = time.monotonic() + 60
            while len(pool.waiting) == left and time.monotonic() < deadline:
                time.sleep(0.001)
            helped.set()
        return file

    patch(workers._Pool, "take", take_when_helped)
    patch(workers._Pool, "another_pays_off", lambda _pool: True)


def main() -> None:
    tool = runpy.run_path(str(TOOL))
    streams = tool["load"]("streams", "cli/streams.py")
    streams.end_at_once_by_signals()
    with streams.only_results_on_standard_output():
        import bpy  # noqa: F401
    tool["load"](tool["PACKAGE"], "__init__.py", [str(TOOL.parent.parent)])
    command = importlib.import_module(f"{tool['PACKAGE']}.cli")
    let_a_worker_help(importlib.import_module(f"{command.__name__}.run"))
    tool["end_process"](command.main(sys.argv[1:], "python tools/tcb.py", [sys.executable, str(TOOL)]))


if __name__ == "__main__":
    main()
