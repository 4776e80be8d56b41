# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of import and export of other programs' files."""

from __future__ import annotations

import argparse
from typing import Any, get_args

from ...animation.translation import rpt_
from ...exchange.rotation_keys import BetweenKeys
from ...exchange.sample_limits import EXPORT_LIMIT, IMPORT_LIMIT
from .numbers import at_least_one, number, positive

RESULTS = {"import": ".blend", "export": ".3ds", "export-table": ".csv"}
"""Suffixes of results that are not of the kind of the files that are read."""
IMPORT_EXAMPLES = """\
  {program} import run.3ds --output run.blend
  {program} import scenes/*.3ds --output blends/ --bake CURVES --scale 0.01
  {program} import game.3ds --output game.blend --forward=-Z --up=Y
"""
EXPORT_EXAMPLES = """\
  {program} export run.blend --output run.3ds
  {program} export shots/*.blend --output files/ --objects 'Prop_*' --others REFUSE
"""
_AXES = ("X", "Y", "Z", "-X", "-Y", "-Z")
_OPTIONS_OF_VERB = {
    "import": (
        "bake",
        "sample_limit",
        "start",
        "rate",
        "keep_time",
        "scale",
        "forward",
        "up",
        "euler",
        "shorter_turns",
        "between",
    ),
    "export": ("start", "rate", "keep_time", "scale", "forward", "up", "others", "sample_limit"),
}


def exchange_options(given: argparse.Namespace) -> dict[str, Any]:
    """Return the options of the exchange by name; none for the verbs that only work on .blend files."""
    return {name: getattr(given, name) for name in _OPTIONS_OF_VERB.get(given.verb, ())}


def add_import_options(verb: argparse.ArgumentParser) -> None:
    how = verb.add_argument_group(rpt_("how to import"))
    how.add_argument(
        "--bake",
        choices=["HANDLES", "SAMPLES", "CURVES", "NONE"],
        default="HANDLES",
        help=rpt_(
            "no key but the file's, with handles that play the motion, and samples where these are more than a degree "
            "off; a linear key every frame; the fewest Bezier keys; or only keys and parameters (default: %(default)s)"
        ),
    )
    _add_limit(
        how, IMPORT_LIMIT, rpt_("let handles play what would come to more samples than this (default: %(default)s)")
    )
    _add_timing(
        how,
        rpt_("where frame 0 of the file comes to (default: 0)"),
        rpt_("move keys to where they play at the same time at the scene's frame rate (of a new one: 24)"),
    )
    _add_space(how, rpt_("Blender units a unit of the file (default: 1)"))
    how.add_argument("--euler", action="store_true", help=rpt_("let objects rotate by Euler angles, not quaternions"))
    how.add_argument(
        "--shorter-turns",
        action="store_true",
        help=rpt_("turn by the shorter way: some exporters wrote tiny turns as about 357 degrees"),
    )
    how.add_argument(
        "--between",
        choices=get_args(BetweenKeys),
        default="BY_FILE",
        help=rpt_("rotations between keys: as 3D Studio 4 or as 3ds Max (squad); default: by which made the file"),
    )


def add_export_options(verb: argparse.ArgumentParser) -> None:
    how = verb.add_argument_group(rpt_("how to export"))
    how.add_argument(
        "--others",
        choices=["SAMPLE", "REFUSE"],
        default="SAMPLE",
        help=rpt_("tracks that are not TCB: a key every frame of what they play, or no file (default: %(default)s)"),
    )
    _add_limit(
        how, EXPORT_LIMIT, rpt_("make no file of more samples than this, objects times frames (default: %(default)s)")
    )
    _add_timing(
        how,
        rpt_("the frame that becomes frame 0 of the file (default: 0)"),
        rpt_("keep the time, not the frame: frame 24 at 24 frames a second becomes frame 30 at 30"),
    )
    _add_space(how, rpt_("units of the file a Blender unit (default: 1)"))


def _add_limit(how: argparse._ArgumentGroup, limit: int, text: str) -> None:
    how.add_argument("--sample-limit", type=at_least_one, default=limit, metavar="N", help=text)


def _add_timing(how: argparse._ArgumentGroup, start: str, keep_time: str) -> None:
    how.add_argument("--start", type=number, default=0.0, metavar="FRAME", help=start)
    how.add_argument(
        "--rate", type=positive, default=30.0, metavar="FPS", help=rpt_("frames a second in the file (default: 30)")
    )
    how.add_argument("--keep-time", action="store_true", help=keep_time)


def _add_space(how: argparse._ArgumentGroup, scale: str) -> None:
    how.add_argument("--scale", type=positive, default=1.0, metavar="NUMBER", help=scale)
    how.add_argument(
        "--forward",
        choices=_AXES,
        default="Y",
        help=rpt_("the file's axis that is Blender's Y, such as =-Z (default: Y)"),
    )
    how.add_argument(
        "--up", choices=_AXES, default="Z", help=rpt_("the file's axis that is Blender's Z, such as =Y (default: Z)")
    )
