# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure speed: `python tools/bench.py CASE [options]`.

`--help` lists the cases, and `CASE --help` describes one. docs/measurements contains the figures.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.tcb import end_process

CASES = {
    "bakes": "a bake's time, compared with Blender's ways to bake",
    "verbs": "what verbs cost per object, and the table of parameters",
    "package_speed": "splines of many tracks and of one track, compared with scipy and others",
    "live": "Live after a key was moved, and Enable",
    "parameter_drag": "drags of a parameter, with 100 bones live",
    "path_drag": "drags on the path, with 100 bones live",
    "window": "drags in a graphical Blender, until the last redraw",
    "overlay": "paths in the viewport of a graphical Blender",
}
"""Each case has a module in tools/benchmarks with `add_options` and `run`."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    cases = parser.add_subparsers(dest="case", required=True, metavar="CASE")
    for name, text in CASES.items():
        cases.add_parser(name, help=text, add_help=False)
    case = parser.parse_known_args(sys.argv[1:2])[0].case
    module = importlib.import_module(f"tools.benchmarks.{case}")
    options = argparse.ArgumentParser(
        prog=f"{parser.prog} {case}",
        description=module.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_options(options)
    status: int = module.run(options.parse_args(sys.argv[2:])) or 0
    return status


if __name__ == "__main__":
    end_process(main())
