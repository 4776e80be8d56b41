# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the arguments of all verbs into a job, with the input files and the paths of the results."""

from __future__ import annotations

import argparse
import glob
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..animation import Options, TableKeys
from ..animation.options import BAKE, IMPORT_TABLE, REDUCE, Option
from ..animation.reduction.report import ReduceRequest
from ..animation.store.parameters import LIMITS
from ..animation.text import n_, rpt_
from .parsers import OTHER_SUFFIXES, make_parsers, suffix_of

_WITHOUT_EFFECT = frozenset(
    (
        "blender",
        "dry_run",
        "files",
        "files_from",
        "in_place",
        "jobs",
        "json",
        "output",
        "relative_to",
        "skip_done",
        "worker",
    )
)
"""Arguments that do not affect the content of a result."""


class File(NamedTuple):
    """A file to process."""

    source: Path
    target: Path | None
    """The path of the result with links resolved, or None if nothing is written."""


@dataclass(frozen=True)
class Job:
    """A run of a verb."""

    given: argparse.Namespace
    """The arguments by name."""
    request: Any
    """The options that a verb passes to `animation` as one object. None for verbs that pass them separately."""
    files: list[File]
    makes_folder: bool = True
    """True if the folder of the results may be created."""

    @property
    def verb(self) -> str:
        return str(self.given.verb)

    @property
    def work(self) -> str:
        """Return the verb, or a more specific name if options change the operation.

        "no-velocities" removes written velocities, and "enable-and-bake" also bakes tracks that were not TCB.
        """
        if self.verb == "bake" and (self.given.enable or self.given.objects):
            return "enable-and-bake"
        return "no-velocities" if self.verb == "velocities" and self.given.remove else self.verb

    @property
    def saves_open_file(self) -> bool:
        """Return whether the result is the .blend file that was opened, with changes."""
        return self.verb not in OTHER_SUFFIXES

    @property
    def always_has_result(self) -> bool:
        """Return whether every file has a result, even a file without animation."""
        return self.verb == "import-table" or not self.saves_open_file

    @property
    def inputs(self) -> list[str]:
        """Return the files on which all results depend."""
        names = (getattr(self.given, name, None) for name in ("table", "model"))
        return [os.path.realpath(name) for name in names if isinstance(name, str)]

    @property
    def options_of_result(self) -> dict[str, Any]:
        """Return the arguments, except files, that affect the content of a result, as read from JSON."""
        options = {name: value for name, value in vars(self.given).items() if name not in _WITHOUT_EFFECT}
        read: dict[str, Any] = json.loads(json.dumps(options))
        return read


class _UsageError(Exception):
    """Invalid arguments, with a message for the user."""


def parse(arguments: Sequence[str], program: str) -> Job:
    """Parse the arguments. Raises SystemExit after a usage message if the arguments are invalid."""
    parser, parsers_of_verbs = make_parsers(program)
    given, unknown = parser.parse_known_args(arguments)
    try:
        if unknown:
            # parse_args would print the usage of the command, without the verb's options.
            names = " ".join(unknown)
            raise _UsageError(rpt_("unknown arguments: {:s}", names))
        return _job(given)
    except _UsageError as error:
        parsers_of_verbs[given.verb].error(str(error))


def _job(given: argparse.Namespace) -> Job:
    writes = given.verb not in ("info", "check")
    if given.verb == "rotations":
        writes = given.repair or given.key_whole
    _check_options(given, writes)
    try:
        request = _REQUESTS[given.verb](given) if given.verb in _REQUESTS else None
    except ValueError as error:
        raise _UsageError(str(error)) from error
    if given.worker:
        return Job(given, request, [])
    sources = _input_files(given)
    if not writes:
        return Job(given, request, [File(source, None) for source in sources])
    makes_folder = given.output is not None and _is_folder(given, len(sources))
    files = list(map(File, sources, _targets(given, sources, makes_folder)))
    _check_targets(given, files)
    return Job(given, request, files, makes_folder)


def _check_options(given: argparse.Namespace, writes: bool) -> None:
    """Reject empty ranges, incompatible options and unreadable tables."""
    for name in ("range", "extend"):
        ends = getattr(given, name, None)
        if ends is not None and not ends[0] <= ends[1]:
            raise _UsageError(rpt_("the frame range {:g} to {:g} is empty", *ends))
    if given.verb == "rotations" and not writes and (given.output is not None or given.in_place):
        raise _UsageError(rpt_("--output and --in-place require --repair or --key-whole"))
    if given.verb == "import-table" and not os.access(given.table, os.R_OK):
        raise _UsageError(rpt_("--table {:s} cannot be read", given.table))


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


def _input_files(given: argparse.Namespace) -> list[Path]:
    """Return the files that are named, listed or matched by patterns, without duplicates."""
    names = list(given.files)
    if given.files_from is not None:
        try:
            listed = Path(given.files_from).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeError) as error:
            raise _UsageError(rpt_("--files-from {:s} cannot be read: {:s}", given.files_from, str(error))) from error
        names += [line for line in listed.splitlines() if line.strip()]
    elif not names:
        raise _UsageError(rpt_("no input: specify a FILE or --files-from"))
    paths: list[str] = []
    for name in names:
        # Windows shells do not expand patterns.
        if glob.has_magic(name) and not os.path.lexists(name):
            matching = sorted(glob.glob(name, recursive=True))
            if not matching:
                raise _UsageError(rpt_("no file matches {:s}", name))
            paths += matching
        else:
            paths.append(name)
    return [Path(name) for name in dict.fromkeys(paths)]


def _is_folder(given: argparse.Namespace, file_count: int) -> bool:
    """Return whether `--output` names a folder."""
    is_folder = given.output.endswith(("/", os.sep)) or os.path.isdir(given.output)
    return is_folder or file_count > 1 or given.relative_to is not None


def _targets(given: argparse.Namespace, sources: Sequence[Path], is_folder: bool) -> list[Path]:
    """Return the path of each file's result, with links resolved. `is_folder` is true if `--output` is a folder."""
    if given.output is None and not given.in_place:
        raise _UsageError(
            rpt_("there is no destination for the result. Use --output DIR or FILE, or --in-place to replace the files")
        )
    if given.output is not None and given.in_place:
        raise _UsageError(rpt_("use either --output or --in-place, not both"))
    if given.relative_to is not None and given.output is None:
        raise _UsageError(rpt_("--relative-to requires --output, whose subfolders it preserves"))
    if given.output is None:
        targets = list(sources)
    elif is_folder:
        targets = _targets_in_folder(given, sources)
    elif given.output.lower().endswith(suffix_of(given.verb)):
        targets = [Path(given.output)]
    else:
        text = n_("--output {:s} is neither a folder nor a {:s}. To create a folder, end it with a slash")
        raise _UsageError(rpt_(text, given.output, suffix_of(given.verb)))
    return [Path(os.path.realpath(target)) for target in targets]


def _targets_in_folder(given: argparse.Namespace, sources: Sequence[Path]) -> list[Path]:
    """Return the targets in the folder `--output`, in the files' subfolders below `--relative-to`."""
    output, suffix = given.output, suffix_of(given.verb)
    if os.path.exists(output) and not os.path.isdir(output):
        raise _UsageError(rpt_("--output {:s} is a file, but the results need a folder", output))
    if len(sources) > 1 and output.lower().endswith(suffix) and not os.path.isdir(output):
        text = n_("--output {:s} names one {:s} for {:d} files. To name a folder, end it with a slash")
        raise _UsageError(rpt_(text, output, suffix, len(sources)))
    targets = []
    for source in sources:
        name = Path(source.name)
        if given.relative_to is not None:
            try:
                name = Path(os.path.abspath(source)).relative_to(os.path.abspath(given.relative_to))
            except ValueError as error:
                raise _UsageError(rpt_("{} is outside --relative-to {:s}", source, given.relative_to)) from error
        targets.append(Path(output, name.with_suffix(suffix) if given.verb in OTHER_SUFFIXES else name))
    return targets


def _check_targets(given: argparse.Namespace, files: Sequence[File]) -> None:
    """Reject results that would replace each other, or an input file without --in-place."""
    source_of_target: dict[str, Path] = {}
    for source, target in files:
        other = source_of_target.setdefault(os.path.normcase(str(target)), source)
        if other is not source:
            raise _UsageError(rpt_("{} and {} would both be written to {}", other, source, target))
    for source, _ in files:
        if not given.in_place and os.path.normcase(os.path.realpath(source)) in source_of_target:
            raise _UsageError(
                rpt_("--output would replace the input file {}. To replace the input file, use --in-place", source)
            )
