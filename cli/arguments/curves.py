# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the verb `curves`."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from ...animation.translation import rpt_
from ...interp.fitting.curves import ROTATION_TOLERANCE, VALUE_TOLERANCE
from .numbers import positive

CURVES_EXAMPLES = """\
  {program} curves walk.blend --from walk.fbx --output curves.blend
  {program} curves walk.blend --from walk.glb --in-place --exact
"""


def add_curves_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--from",
        required=True,
        dest="model",
        metavar="MODEL",
        help=rpt_("the file that was imported: binary .fbx, .glb or .gltf"),
    )
    verb.add_argument(
        "--exact", action="store_true", help=rpt_("add keys where handles alone do not reach the tolerances")
    )
    verb.add_argument(
        "--part",
        type=positive,
        default=VALUE_TOLERANCE,
        metavar="NUMBER",
        help=rpt_("maximum deviation of locations and scales, as a part of the range of each (default: %(default)s)"),
    )
    verb.add_argument(
        "--degrees",
        type=positive,
        default=round(math.degrees(ROTATION_TOLERANCE), 6),
        metavar="DEGREES",
        help=rpt_("maximum deviation of rotations (default: %(default)s)"),
    )
    verb.add_argument("--tcb", action="store_true", help=rpt_("make tracks TCB where parameters play the same motion"))


def curves_options(given: argparse.Namespace) -> dict[str, Any]:
    """Return the options by name; none for other verbs."""
    if given.verb != "curves":
        return {}
    return {
        "model": str(Path(given.model)),
        "exact": given.exact,
        "part": given.part,
        "degrees": given.degrees,
        "tcb": given.tcb,
    }
