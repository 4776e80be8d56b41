# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the extension's command from a checkout, without installing it.

    python tools/tcb.py bake FILE… --output DIR
    blender --background --python tools/tcb.py -- bake FILE… --output DIR

The first command needs Blender as a Python module. A Python without the module runs this script again in the
environment of the project (see tools/environment.sh), which is created if missing. The environment variable BPY=4.2,
4.5, 5.0 or 5.2 chooses the Blender version.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import NoReturn

TOOL = Path(__file__).resolve()
ROOT = TOOL.parent.parent
PACKAGE = "tcb_animation"
MISSING = 2
"""Exit status if Blender is missing."""
HELP = """
A Python without Blender as a module runs this again in an environment of the checkout, .venv-bpy-VERSION, which is
made if need be: some minutes of downloading, once. BPY=4.2, 4.5, 5.0 or 5.2 chooses the Blender there.
"""


def load(name: str, file: str, folders: list[str] | None = None) -> ModuleType:
    """Load a file of the checkout as the module `name`, or with `folders` as a package with these folders."""
    spec = importlib.util.spec_from_file_location(name, ROOT / file, submodule_search_locations=folders)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def run_again_with_blender() -> NoReturn:
    """Replace this process with one in the environment of the project."""
    chosen = [version] if (version := os.environ.get("BPY")) else []
    script = str(ROOT / "tools" / "environment.sh")
    try:
        found = subprocess.run(["bash", script, "bpy", *chosen], stdout=subprocess.PIPE, text=True)
    except OSError as error:
        print(f"tcb: this Python has no bpy, and {script} needs bash: {error.strerror}", file=sys.stderr)
        sys.exit(MISSING)
    if found.returncode:
        print("tcb: this Python has no bpy, and the environment that would have it can't be used", file=sys.stderr)
        sys.exit(MISSING)
    python = found.stdout.strip()
    os.execv(python, [python, __file__, *sys.argv[1:]])


def end_process(status: int) -> NoReturn:
    """End the process immediately, because Blender 4.2 and 4.5 as Python modules may crash or hang on exit."""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)


def main() -> int:
    # When Blender runs a script, bpy is already loaded, and Blender's arguments are before the two dashes.
    inside_blender = "bpy" in sys.modules
    streams = load("streams", "cli/streams.py")
    streams.end_at_once_by_signals()
    if inside_blender:
        arguments = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else []
        program = "blender --background --python tools/tcb.py --"
        start = [sys.modules["bpy"].app.binary_path, "--background", "--python", str(TOOL), "--"]
    else:
        arguments = sys.argv[1:]
        program = "python tools/tcb.py"
        start = [sys.executable, str(TOOL)]
        # For Blender's NumPy, because more threads only slow down the small systems of equations of a fit.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        try:
            # Blender may also print something while it starts.
            with streams.only_results_on_standard_output():
                import bpy  # noqa: F401
        except ImportError:
            run_again_with_blender()
    # The checkout is loaded under this name, regardless of the name of its folder. The package is not registered,
    # because the command needs no operators, and nothing may bake automatically while it runs.
    load(PACKAGE, "__init__.py", [str(ROOT)])
    command = importlib.import_module(f"{PACKAGE}.cli")
    status: int = command.main(arguments, program, start)
    if arguments in (["-h"], ["--help"]):
        print(HELP, end="")
    if inside_blender:
        return status
    end_process(status)


if __name__ == "__main__":
    sys.exit(main())
