# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the verb `rotations`."""

from __future__ import annotations

import argparse
from typing import Any

from ...animation.translation import rpt_

ROTATIONS_EXAMPLES = """\
  {program} rotations shots/*.blend
  {program} rotations walk.blend --repair --output walk_fixed.blend
  {program} rotations props.blend --objects 'Door*' --repair --turns SHORTEST --in-place
"""


def add_rotations_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--repair",
        action="store_true",
        help=rpt_("give keys at which rotations flip or jump equivalent numbers; without this they are listed only"),
    )
    verb.add_argument(
        "--key-whole",
        action="store_true",
        help=rpt_(
            "first key rotations in all their channels where one has a key, as handles need it; the motion stays"
        ),
    )
    verb.add_argument(
        "--turns",
        choices=("KEEP", "SHORTEST"),
        default="KEEP",
        help=rpt_(
            "turns of more than 180 degrees between two keys. KEEP: only jumps within one frame are repaired, as spins "
            "have the same keys. SHORTEST: all turn the short way (default: %(default)s)"
        ),
    )


def rotations_options(verb: argparse.ArgumentParser, given: argparse.Namespace) -> dict[str, Any]:
    """Return the options of `rotations`; none for another verb. Raises SystemExit."""
    if given.verb != "rotations":
        return {}
    if not (given.repair or given.key_whole) and (given.output is not None or given.in_place):
        verb.error(rpt_("--output and --in-place are for --repair and --key-whole: without these nothing is written"))
    return {"repair": given.repair, "key_whole": given.key_whole, "turns": given.turns}
