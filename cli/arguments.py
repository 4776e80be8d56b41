# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the arguments of all verbs into a job."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..animation import Options, TableKeys
from ..animation.options import BAKE, IMPORT_TABLE, REDUCE, Option
from ..animation.reduction.report import ReduceRequest
from ..animation.store.parameters import LIMITS
from ..animation.translation import rpt_
from .input_files import input_files
from .job import RESULT_SUFFIXES, File, Job
from .parsers import make_parsers
from .targets import check_destination, is_folder, targets_of


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
    suffix = RESULT_SUFFIXES.get(given.verb, ".blend")
    if given.worker:
        return Job(given.verb, [], given, request, suffix, makes_folder=True)
    sources = input_files(parser, given)
    if not _writes(given):
        return Job(given.verb, [File(source, None) for source in sources], given, request, suffix, makes_folder=False)
    check_destination(parser, given)
    files = list(map(File, sources, targets_of(parser, sources, given, suffix)))
    return Job(given.verb, files, given, request, suffix, makes_folder=is_folder(given, len(files)))


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
