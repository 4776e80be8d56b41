# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the verbs that have to do with tables: `import-table`, `export-table` and `velocities`."""

from __future__ import annotations

import argparse
import os
from typing import Any

from ...animation.edit.velocities import QUANTITIES
from ...animation.translation import rpt_
from .numbers import frames, number

IMPORT_TABLE_EXAMPLES = """\
  {program} import-table empty.blend --table run.csv --objects Ball --output ball.blend
  {program} import-table rig.blend --table arm.csv --objects Rig --bone upper_arm.L --replace --in-place
"""
EXPORT_TABLE_EXAMPLES = """\
  {program} export-table walk.blend --objects Hips --output hips.csv
  {program} export-table shots/*.blend --objects Ball --output tables/
"""
VELOCITIES_EXAMPLES = """\
  {program} velocities walk.blend --output walk_velocities.blend --unit SECOND
  {program} velocities shots/*.blend --objects 'Car*' --step 0.5 --output done/
"""
_OPTIONS_OF_VERB = {
    "import-table": ("table", "bone", "start", "replace", "plain", "known_only"),
    "export-table": ("bone",),
    "velocities": ("quantities", "unit", "step"),
}


def table_options(verb: argparse.ArgumentParser, given: argparse.Namespace) -> dict[str, Any]:
    """Return the options by name; none for other verbs. Raises SystemExit."""
    options = {name: getattr(given, name) for name in _OPTIONS_OF_VERB.get(given.verb, ())}
    if given.verb == "velocities":
        options["quantities"] = sorted(set(QUANTITIES if given.quantities is None else given.quantities))
    if given.verb == "import-table":
        # The result depends on the table's content.
        try:
            status = os.stat(given.table)
        except OSError as error:
            verb.error(rpt_("--table {:s} can't be read: {}", given.table, error.strerror))
        options["version"] = [status.st_mtime_ns, status.st_size]
    return options


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
        "--known-only", action="store_true", help=rpt_("leave out columns that name no property of the object")
    )


def add_export_table_options(verb: argparse.ArgumentParser) -> None:
    _add_bone(verb.add_argument_group(rpt_("how to export")))


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
    how.add_argument(
        "--step", type=frames, default=1.0, metavar="FRAMES", help=rpt_("frames from number to number (default: 1)")
    )


def _add_bone(how: argparse._ArgumentGroup) -> None:
    how.add_argument("--bone", default="", metavar="NAME", help=rpt_("the bone of the object that it is about"))
