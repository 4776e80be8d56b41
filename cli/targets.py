# SPDX-License-Identifier: GPL-3.0-or-later
"""The paths of the results, from the options `--output`, `--in-place` and `--relative-to`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from ..animation.translation import n_, rpt_
from .job import RESULT_SUFFIXES


def check_destination(parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """Reject missing and contradicting destinations."""
    if given.output is None and not given.in_place:
        parser.error(
            rpt_("there is no destination for the result. Use --output DIR or FILE, or --in-place to replace the files")
        )
    if given.output is not None and given.in_place:
        parser.error(rpt_("use either --output or --in-place, not both"))
    if given.relative_to is not None and given.output is None:
        parser.error(rpt_("--relative-to requires --output, whose subfolders it preserves"))


def is_folder(given: argparse.Namespace, file_count: int) -> bool:
    """Return whether `--output` names a folder."""
    return given.output is not None and (
        file_count > 1
        or given.relative_to is not None
        or given.output.endswith(("/", os.sep))
        or os.path.isdir(given.output)
    )


def targets_of(
    parser: argparse.ArgumentParser, files: Sequence[Path], given: argparse.Namespace, suffix: str
) -> list[Path]:
    """Return a unique target for each file, which is not an input file unless files are replaced."""
    output: str | None = given.output
    if output is None:
        targets = [Path(os.path.realpath(file)) for file in files]
    elif is_folder(given, len(files)):
        targets = _targets_in_folder(parser, files, given, suffix)
    elif output.lower().endswith(suffix):
        targets = [Path(os.path.realpath(output))]
    else:
        text = n_("--output {:s} is neither a folder nor a {:s}. To create a folder, end it with a slash")
        parser.error(rpt_(text, output, suffix))
    source_of_target: dict[str, Path] = {}
    for file, target in zip(files, targets, strict=True):
        other = source_of_target.setdefault(os.path.normcase(target), file)
        if other is not file:
            parser.error(rpt_("{} and {} would both be written to {}", other, file, target))
    for file in files:
        if output is not None and os.path.normcase(os.path.realpath(file)) in source_of_target:
            parser.error(
                rpt_("--output would replace the input file {}. To replace the input file, use --in-place", file)
            )
    return targets


def _targets_in_folder(
    parser: argparse.ArgumentParser, files: Sequence[Path], given: argparse.Namespace, suffix: str
) -> list[Path]:
    """Return the targets in the folder `--output`, in the files' subfolders below `--relative-to`."""
    output: str = given.output
    if os.path.exists(output) and not os.path.isdir(output):
        parser.error(rpt_("--output {:s} is a file, but the results need a folder", output))
    if len(files) > 1 and output.lower().endswith(suffix) and not os.path.isdir(output):
        text = n_("--output {:s} names one {:s} for {:d} files. To name a folder, end it with a slash")
        parser.error(rpt_(text, output, suffix, len(files)))
    if given.relative_to is None:
        names = [Path(file.name) for file in files]
    else:
        names = [_relative(parser, file, given.relative_to) for file in files]
    if given.verb in RESULT_SUFFIXES:
        names = [name.with_suffix(suffix) for name in names]
    return [Path(os.path.realpath(Path(output, name))) for name in names]


def _relative(parser: argparse.ArgumentParser, file: Path, folder: str) -> Path:
    """Return the path of a file relative to the folder."""
    try:
        return Path(os.path.abspath(file)).relative_to(os.path.abspath(folder))
    except ValueError:
        parser.error(rpt_("{} is outside --relative-to {:s}", file, folder))
