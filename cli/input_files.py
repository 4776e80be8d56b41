# SPDX-License-Identifier: GPL-3.0-or-later
"""The input files of the command: named, listed in a file, or matched by patterns."""

from __future__ import annotations

import argparse
import glob
import os
from pathlib import Path

from ..animation.translation import rpt_


def input_files(parser: argparse.ArgumentParser, given: argparse.Namespace) -> list[Path]:
    """Return the files that are named, listed or matched by patterns, without duplicates."""
    names = list(given.files)
    if given.files_from is not None:
        try:
            listed = Path(given.files_from).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            parser.error(rpt_("--files-from {:s} cannot be read: {:s}", given.files_from, str(error)))
        names += [line for line in listed.splitlines() if line.strip()]
    elif not names:
        parser.error(rpt_("no input: specify a FILE or --files-from"))
    paths: list[str] = []
    for name in names:
        # Windows shells do not expand patterns.
        if glob.has_magic(name) and not os.path.lexists(name):
            matching = sorted(glob.glob(name, recursive=True))
            if not matching:
                parser.error(rpt_("no file matches {:s}", name))
            paths += matching
        else:
            paths.append(name)
    return [Path(name) for name in dict.fromkeys(paths)]
