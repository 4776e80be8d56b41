# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the verb `check`."""

from __future__ import annotations

import argparse
from typing import Any

from ...animation.translation import rpt_
from .numbers import distance, frame_range, number

CHECK_EXAMPLES = """\
  {program} check shots/*.blend
  {program} check walk.blend --objects 'Camera*' --range 1 200 --json
  {program} check walk.blend --joint Rig:forearm.L --joint Lid --joint-tolerance 0.001
"""


def add_check_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--range",
        type=number,
        nargs=2,
        metavar=("START", "END"),
        help=rpt_("frames to look at (default: each scene's, and what keys there are before and after)"),
    )
    verb.add_argument(
        "--joint",
        action="append",
        default=[],
        metavar="OBJECT[:BONE]",
        help=rpt_(
            "also measure how far this object's origin, or this bone's head, gets from its place on its parent; "
            "may be repeated"
        ),
    )
    verb.add_argument(
        "--joint-tolerance",
        type=distance,
        default=1e-4,
        metavar="NUMBER",
        help=rpt_("a joint that comes farther apart than this is an error (default: %(default)s)"),
    )


def check_options(verb: argparse.ArgumentParser, given: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a check; none for another verb. Raises SystemExit."""
    if given.verb != "check":
        return {}
    return {
        "range": frame_range(verb, given.range),
        "joint": given.joint,
        "joint_tolerance": given.joint_tolerance,
    }
