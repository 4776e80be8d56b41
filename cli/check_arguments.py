# SPDX-License-Identifier: GPL-3.0-or-later
"""What the verb `check` can be told."""

from __future__ import annotations

import argparse
import math
from typing import Any

from ..words import rpt_

CHECK_EXAMPLES = """\
  {program} check shots/*.blend
  {program} check walk.blend --objects 'Camera*' --range 1 200 --json
  {program} check walk.blend --joint Rig:forearm.L --joint Lid --joint-tolerance 0.001
"""


def add_check_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--range",
        type=float,
        nargs=2,
        metavar=("START", "END"),
        help=rpt_("frames to look at (default: each scene's, and what keys there are before and after)"),
    )
    verb.add_argument(
        "--step",
        type=_frames,
        default=0.25,
        metavar="FRAMES",
        help=rpt_("from sample to sample (default: %(default)s)"),
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
        type=_distance,
        default=1e-4,
        metavar="NUMBER",
        help=rpt_("a joint that comes farther apart than this is an error (default: %(default)s)"),
    )


def check_said(verb: argparse.ArgumentParser, given: argparse.Namespace) -> dict[str, Any]:
    """How to check, as it was said; nothing for another verb. Raises SystemExit."""
    if given.verb != "check":
        return {}
    if given.range is not None and not all(map(math.isfinite, given.range)):
        verb.error(rpt_("the frame range {:g} to {:g} is not finite", *given.range))
    if given.range is not None and not given.range[0] <= given.range[1]:
        verb.error(rpt_("the frame range {:g} to {:g} is empty", *given.range))
    return {
        "range": None if given.range is None else (given.range[0], given.range[1]),
        "step": given.step,
        "joint": given.joint,
        "joint_tolerance": given.joint_tolerance,
    }


def _frames(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(rpt_("{:s} is not a positive number of frames", text))
    return value


def _distance(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(rpt_("{:s} is not a distance from 0", text))
    return value
