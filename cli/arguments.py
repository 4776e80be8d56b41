# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the arguments of all verbs into a job, with the input files and the paths of the results."""

from __future__ import annotations

import argparse
import glob
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..animation import Options, TableKeys
from ..animation.options import BAKE, IMPORT_TABLE, REDUCE, Option
from ..animation.reduction.report import ReduceRequest
from ..animation.store.parameters import LIMITS
from ..animation.text import n_, rpt_
from .job import RESULT_SUFFIXES, File, Job
from .parsers import make_parsers


def parse(arguments: Sequence[str], program: str) -> Job:
    """Parse the arguments. Raises SystemExit after a usage message if the arguments are invalid."""
    parser_of_command, parsers_of_verbs = make_parsers(program)
    given, unknown = parser_of_command.parse_known_args(arguments)
    parser = parsers_of_verbs[given.verb]
    if unknown:
        # parse_args would print the usage of the command, without the verb's options.
        names = " ".join(unknown)
        parser.error(rpt_("unknown arguments: {:s}", names))
    _check_options(parser, given)
    request = _request(parser, given)
    if given.worker:
        return Job(given, request, [])
    sources = _input_files(parser, given)
    if not _writes(given):
        return Job(given, request, [File(source, None) for source in sources])
    _check_destination(parser, given)
    files = list(map(File, sources, _targets_of(parser, sources, given)))
    return Job(given, request, files, makes_folder=_is_folder(given, len(files)))


def _request(parser: argparse.ArgumentParser, given: argparse.Namespace) -> Any:
    """Return the options of verbs that pass them to `animation` as one object, otherwise None."""
    try:
        return _REQUESTS[given.verb](given) if given.verb in _REQUESTS else None
    except ValueError as error:
        parser.error(str(error))


def _writes(given: argparse.Namespace) -> bool:
    if given.verb == "rotations":
        return bool(given.repair or given.key_whole)
    return given.verb not in ("info", "check")


def _check_options(parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """Reject empty ranges, incompatible options and unreadable tables."""
    for name in ("range", "extend"):
        ends = getattr(given, name, None)
        if ends is not None and not ends[0] <= ends[1]:
            parser.error(rpt_("the frame range {:g} to {:g} is empty", *ends))
    if given.verb == "rotations" and not _writes(given) and (given.output is not None or given.in_place):
        parser.error(rpt_("--output and --in-place require --repair or --key-whole"))
    if given.verb == "import-table" and not os.access(given.table, os.R_OK):
        parser.error(rpt_("--table {:s} cannot be read", given.table))


def _bake_options(given: argparse.Namespace) -> Options:
    defaults = {name: value for name in LIMITS if (value := getattr(given, name)) is not None}
    values = _values(given, {name: option for name, option in BAKE.items() if name != "output"})
    return Options(**values, output=given.output_mode, extend=given.extend, defaults=defaults)


def _values(given: argparse.Namespace, options: Mapping[str, Option]) -> dict[str, Any]:
    """Return the values of declared options, by the names of the functions' arguments."""
    return {name: option.argument(getattr(given, name)) for name, option in options.items()}


_REQUESTS: dict[str, Callable[[argparse.Namespace], Any]] = {
    "bake": _bake_options,
    "reduce": lambda given: ReduceRequest(**_values(given, REDUCE), frame_range=given.range),
    "import-table": lambda given: TableKeys(**_values(given, IMPORT_TABLE)),
}


def _input_files(parser: argparse.ArgumentParser, given: argparse.Namespace) -> list[Path]:
    """Return the files that are named, listed or matched by patterns, without duplicates."""
    names = list(given.files)
    if given.files_from is not None:
        try:
            listed = Path(given.files_from).read_text(encoding="utf-8-sig")
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


def _check_destination(parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    if given.output is None and not given.in_place:
        parser.error(
            rpt_("there is no destination for the result. Use --output DIR or FILE, or --in-place to replace the files")
        )
    if given.output is not None and given.in_place:
        parser.error(rpt_("use either --output or --in-place, not both"))
    if given.relative_to is not None and given.output is None:
        parser.error(rpt_("--relative-to requires --output, whose subfolders it preserves"))


def _is_folder(given: argparse.Namespace, file_count: int) -> bool:
    return given.output is not None and (
        file_count > 1
        or given.relative_to is not None
        or given.output.endswith(("/", os.sep))
        or os.path.isdir(given.output)
    )


def _targets_of(parser: argparse.ArgumentParser, files: Sequence[Path], given: argparse.Namespace) -> list[Path]:
    """Return a unique target for each file, which is not an input file unless files are replaced."""
    output: str | None = given.output
    suffix = RESULT_SUFFIXES.get(given.verb, ".blend")
    if output is None:
        targets = [Path(os.path.realpath(file)) for file in files]
    elif _is_folder(given, len(files)):
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
    try:
        return Path(os.path.abspath(file)).relative_to(os.path.abspath(folder))
    except ValueError:
        parser.error(rpt_("{} is outside --relative-to {:s}", file, folder))
