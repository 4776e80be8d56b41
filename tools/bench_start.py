# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure what the extension adds to a start of Blender: `python tools/bench_start.py ZIP`, with Blender as a module.

Prints the processor time of enabling it, without and with bytecode, and the number of modules that it imports.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

PACKAGE = "bl_ext.user_default.tcb_animation"
TIMES = 6


def main(archive: str) -> None:
    sys.dont_write_bytecode = False
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as user_folder:
        os.environ["BLENDER_USER_RESOURCES"] = user_folder  # before bpy is imported
        import bpy

        path = str(Path(archive).resolve())
        bpy.ops.extensions.package_install_files(filepath=path, repo="user_default", enable_on_install=False)
        seconds = []
        for _ in range(TIMES):
            before, start = len(sys.modules), time.process_time()
            bpy.ops.preferences.addon_enable(module=PACKAGE)
            seconds.append(time.process_time() - start)
            count = len(sys.modules) - before
            bpy.ops.preferences.addon_disable(module=PACKAGE)
            for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
                del sys.modules[name]
        print(f"{count} modules; without bytecode {seconds[0]:.3f} s, with it {min(seconds[1:]):.3f} s")
    sys.stdout.flush()
    os._exit(0)  # Blender 4.2 as a module may crash while the process ends


if __name__ == "__main__":
    main(sys.argv[1])
