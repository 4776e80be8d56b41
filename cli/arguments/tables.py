# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the verbs that have to do with tables: `import-table`, `export-table` and `velocities`."""

from __future__ import annotations

import argparse
import os
from typing import Any

from ...animation.tables.velocities import QUANTITIES
from ...animation.translation import rpt_
from .numbers import frame_range, frames, number

IMPORT_TABLE_EXAMPLES = """\
  {program} import-table empty.blend --table run.csv --objects Ball --output ball.blend
  {program} import-table rig.blend --table arm.csv --objects Rig --bone upper_arm.L --replace --in-place
"""
EXPORT_TABLE_EXAMPLES = """\
  {program} export-table walk.blend --objects Hips --output hips.csv
  {program} export-table shots/*.blend --objects Ball --content MOTION --step 0.5 --seconds --output tables/
"""
VELOCITIES_EXAMPLES = """\
  {program} velocities walk.blend --output walk_velocities.blend --unit SECOND
  {program} velocities shots/*.blend --objects 'Car*' --table --step 0.5 --output tables/
"""
_OPTIONS_OF_VERB = {
    "import-table": ("table", "bone", "start", "replace", "plain", "rotation", "known_only"),
    "export-table": ("bone", "content", "rotation", "step", "range", "seconds", "start"),
    "velocities": ("quantities", "unit", "step", "range", "table"),
}


def table_options(verb: argparse.ArgumentParser, given: argparse.Namespace) -> dict[str, Any]:
    """Return the options by name; none for other verbs. Raises SystemExit."""
    options = {name: getattr(given, name) for name in _OPTIONS_OF_VERB.get(given.verb, ())}
    if "range" in options:
        options["range"] = frame_range(verb, given.range)
    if given.verb == "export-table" and given.content == "KEYS" and (given.step, given.range) != (None, None):
        verb.error(rpt_("--step and --range are of the motion: give --content MOTION too"))
    if "step" in options and given.step is None:
        options["step"] = 1.0
    if given.verb == "velocities":
        options["quantities"] = sorted(set(QUANTITIES if given.quantities is None else given.quantities))
        if given.table and not options["quantities"]:
            verb.error(rpt_("a table of no quantity would be empty: give --quantities a name"))
        if given.table and given.in_place:
            verb.error(rpt_("a table does not go into the file itself: give --output"))
    if given.verb == "import-table":
        # The result depends on the table's content.
        try:
            status = os.stat(given.table)
        except OSError as error:
            verb.error(rpt_("--table {:s} can't be read: {}", given.table, error.strerror))
        options["version"] = [status.st_mtime_ns, status.st_size]
    return options


def table_result(given: argparse.Namespace) -> str | None:
    """Return the suffix of the result's name where it is a table."""
    is_table = given.verb == "export-table" or (given.verb == "velocities" and given.table)
    return ".csv" if is_table else None


def add_import_table_options(verb: argparse.ArgumentParser) -> None:
    how = verb.add_argument_group(rpt_("how to import"))
    how.add_argument("--table", required=True, metavar="FILE", help=rpt_("the table (CSV; see docs/files/tables.md)"))
    _add_bone(how)
    how.add_argument(
        "--start",
        type=number,
        default=0.0,
        metavar="FRAME",
        help=rpt_("where frame 0, or second 0, comes to (default: 0)"),
    )
    how.add_argument("--replace", action="store_true", help=rpt_("take away the keys that its properties have already"))
    how.add_argument("--plain", action="store_true", help=rpt_("do not make the tracks TCB"))
    how.add_argument(
        "--rotation",
        choices=["OBJECT", "TABLE"],
        default="OBJECT",
        help=rpt_("keep the object's rotation mode, or take over the table's (default: %(default)s)"),
    )
    how.add_argument(
        "--known-only", action="store_true", help=rpt_("leave out columns that name no property of the object")
    )


def add_export_table_options(verb: argparse.ArgumentParser) -> None:
    how = verb.add_argument_group(rpt_("how to export"))
    _add_bone(how)
    how.add_argument(
        "--content",
        choices=["KEYS", "MOTION"],
        default="KEYS",
        help=rpt_(
            "a row at each frame with keys, or a row every --step of what is played, baked or not "
            "(default: %(default)s)"
        ),
    )
    how.add_argument(
        "--rotation",
        choices=["OBJECT", "QUATERNION", "EULER_DEGREES", "MATRIX"],
        default="OBJECT",
        help=rpt_("rotations with the numbers that their channels have, or in that form (default: %(default)s)"),
    )
    _add_frames(
        how,
        rpt_("of the motion, frames from row to row (default: 1)"),
        rpt_("of the motion, frames (default: from first to last key)"),
    )
    how.add_argument("--seconds", action="store_true", help=rpt_("let the first column count seconds, not frames"))
    how.add_argument(
        "--start",
        type=number,
        default=0.0,
        metavar="FRAME",
        help=rpt_("what becomes frame 0, or second 0 (default: 0)"),
    )


def add_velocities_options(verb: argparse.ArgumentParser) -> None:
    how = verb.add_argument_group(rpt_("what to write"))
    names = ", ".join(QUANTITIES)
    how.add_argument(
        "--quantities",
        nargs="*",
        choices=QUANTITIES,
        metavar="NAME",
        help=rpt_(
            "of {:s} (default: all); of rotations angular ones; with no name those that were written before are "
            "taken away",
            names,
        ),
    )
    how.add_argument(
        "--unit", choices=["FRAME", "SECOND"], default="FRAME", help=rpt_("a frame or a second (default: %(default)s)")
    )
    _add_frames(how, rpt_("frames from row to row (default: 1)"), rpt_("frames (default: from first to last key)"))
    how.add_argument(
        "--table", action="store_true", help=rpt_("as a table, instead of custom properties in the .blend")
    )


def _add_bone(how: argparse._ArgumentGroup) -> None:
    how.add_argument("--bone", default="", metavar="NAME", help=rpt_("the bone of the object that it is about"))


def _add_frames(how: argparse._ArgumentGroup, step: str, ends: str) -> None:
    how.add_argument("--step", type=frames, metavar="FRAMES", help=step)
    how.add_argument("--range", type=number, nargs=2, metavar=("START", "END"), help=ends)
