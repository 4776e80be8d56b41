# SPDX-License-Identifier: GPL-3.0-or-later
"""Parser of the command's arguments, and the job that they describe."""

from __future__ import annotations

import argparse
import dataclasses
import glob
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...animation import Options
from ...animation.edit.enable import MAX_CHANGE
from ...animation.reduction.choices import ANGLE, ERROR, KEY_METHODS, TOGETHER
from ...animation.store.parameters import LIMITS
from ...animation.store.table.options import SAMPLE_LIMIT, shown
from ...animation.translation import n_, rpt_
from ...interp.rotations.orientations import Path as RotationPath
from .check import CHECK_EXAMPLES, add_check_options, check_options
from .curves import CURVES_EXAMPLES, add_curves_options, curves_options
from .exchange import (
    EXPORT_EXAMPLES,
    IMPORT_EXAMPLES,
    RESULTS,
    add_export_options,
    add_import_options,
    exchange_options,
)
from .numbers import above_two, angle_and_percent, at_least_one, distance, frame_range, frames, number, positive, within
from .rotations import ROTATIONS_EXAMPLES, add_rotations_options, rotations_options
from .tables import (
    EXPORT_TABLE_EXAMPLES,
    IMPORT_TABLE_EXAMPLES,
    VELOCITIES_EXAMPLES,
    add_export_table_options,
    add_import_table_options,
    add_velocities_options,
    table_options,
)

_EXAMPLES = """\
  {program} bake walk.blend --output baked/
  {program} bake shots/*.blend --in-place --objects 'Prop_*' --step 0.5
  {program} bake walk.blend --output walk_baked.blend --extend 1 250 --tension 0.3
  {program} bake shots/*.blend --output baked/ --jobs 4 --skip-done
"""
_LOG = ".tcb-done.jsonl"
_BAKE = Options()
"""The options of a bake where none is given."""
_TO_FILE = n_(
    "where to write: a folder (one that is there, or that ends with a slash and is made), or for one FILE a {:s}"
)
_A_BLEND_FILE = n_("a .blend file, or several")
_A_3DS_FILE = n_("a 3D Studio file (.3ds), or several")


@dataclass(frozen=True)
class Job:
    """The arguments; `targets` holds for each file the path of its result, links resolved."""

    verb: str
    files: list[Path]
    targets: list[Path]
    """Empty where files are only read."""
    in_place: bool
    makes_folder: bool
    """The folder of the results may be made."""
    patterns: list[str]
    options: Options
    keep_look: bool
    """Keep the motion, as nearly as parameters can, of what becomes TCB."""
    path: RotationPath | None
    """How rotations of what becomes TCB turn from key to key; None: as Enable chooses."""
    max_change: tuple[float, float]
    """An angle, and a share of a track's range: a larger change of motion is visible."""
    enables: bool
    """Bake all that has keys, which becomes TCB."""
    discards_edits: bool
    """Free baked tracks that were edited outside, too."""
    is_strict: bool
    """Leave a file as it is if something in it is refused."""
    copies_skipped: bool
    """Copy a file in which there is nothing to do to its target."""
    is_dry: bool
    """Do everything but write."""
    as_json: bool
    processes: int
    """Most processes that work at a time."""
    log: Path | None
    skip_done: bool
    is_worker: bool
    """Another process started this one, and sends it numbers of files."""
    blender: str
    """What starts Blender for other processes; empty: the running program."""
    exchange: dict[str, Any]
    """Options of imports, exports and `rotations`."""
    check: dict[str, Any]
    """Options of a check."""
    reduction: dict[str, Any]
    """Options of a reduction."""

    @property
    def work(self) -> str:
        """The verb, or a finer name where options decide what is done.

        "no-velocities" takes away what was written; "enable-and-bake" may bake what is plain, too.
        """
        if self.verb == "bake" and (self.enables or self.patterns):
            return "enable-and-bake"
        return "no-velocities" if self.verb == "velocities" and not self.exchange["quantities"] else self.verb

    @property
    def asked(self) -> dict[str, Any]:
        """Everything but the file on which its result depends, as it comes out of JSON."""
        options = dataclasses.asdict(self.options)
        what = {
            "command": self.verb,
            "objects": self.patterns,
            "keep_look": self.keep_look,
            "path": self.path,
            "max_change": self.max_change,
            "enables": self.enables,
            "discards_edits": self.discards_edits,
            "strict": self.is_strict,
            "copies": self.copies_skipped,
        }
        asked: dict[str, Any] = json.loads(json.dumps({**what, **options, **self.exchange, **self.reduction}))
        return asked

    def log_of(self, number: int) -> Path | None:
        """Return the path of the log that records what became of the file; None: none does."""
        if self.log is None and self.skip_done:
            return self.targets[number].parent / _LOG
        return self.log


def parse(arguments: Sequence[str], program: str) -> Job:
    """Parse the arguments. Raises SystemExit, after a usage message, where they make no sense."""
    parser, verbs = _parsers(program)
    given = parser.parse_args(arguments)
    verb = verbs[given.verb]
    files = _files(verb, given)
    patterns = getattr(given, "objects", None) or []
    options = _options(verb, given)
    common: dict[str, Any] = {
        "verb": given.verb,
        "files": files,
        "patterns": patterns,
        "options": options,
        "keep_look": getattr(given, "keep_look", False),
        "path": getattr(given, "path", None),
        "max_change": getattr(given, "max_change", MAX_CHANGE),
        "enables": getattr(given, "enable", False),
        "discards_edits": getattr(given, "discard_edits", False),
        "is_strict": getattr(given, "strict", False),
        "is_dry": getattr(given, "dry_run", False),
        "copies_skipped": getattr(given, "copy_skipped", False),
        "as_json": given.json,
        "processes": min(given.jobs, len(files)),
        "log": None if given.log is None else Path(given.log),
        "is_worker": given.worker,
        "blender": given.blender or "",
        "exchange": {
            **exchange_options(given),
            **table_options(verb, given),
            **rotations_options(verb, given),
            **curves_options(given),
        },
        "check": check_options(verb, given),
        "reduction": _reduction(verb, given) if given.verb == "reduce" else {},
    }
    if given.log is not None and not os.path.isdir(os.path.dirname(given.log) or os.curdir):
        verb.error(rpt_("--log {:s} lies in no folder that is there", given.log))
    if given.verb in ("info", "check") or (given.verb == "rotations" and not (given.repair or given.key_whole)):
        return Job(targets=[], in_place=False, makes_folder=False, skip_done=False, **common)
    result = RESULTS.get(given.verb)
    if given.relative_to is not None and given.output is None:
        verb.error(rpt_("--relative-to is for --output: it keeps subfolders in that folder"))
    if given.output is None and result:
        verb.error(rpt_("say where the result goes: --output DIR or FILE{:s}", result))
    if given.output is None and not given.in_place:
        text = rpt_("say where the result goes: --output DIR or FILE; or --in-place, to replace the files themselves")
        verb.error(text)
    if given.output is not None and given.in_place:
        verb.error(rpt_("give --output or --in-place, not both"))
    if given.in_place and getattr(given, "copy_skipped", False):
        verb.error(rpt_("--copy-skipped copies to --output, and --in-place leaves a file where it is"))
    if given.in_place and given.make_folder:
        verb.error(rpt_("--make-folder is for --output, and --in-place leaves a file where it is"))
    into_folder = given.output is not None and (
        len(files) > 1
        or given.make_folder
        or given.relative_to is not None
        or given.output.endswith(("/", os.sep))
        or os.path.isdir(given.output)
    )
    targets = _targets(verb, files, given.output, into_folder, result, given.relative_to)
    return Job(targets=targets, in_place=given.in_place, makes_folder=into_folder, skip_done=given.skip_done, **common)


def _options(verb: argparse.ArgumentParser, given: argparse.Namespace) -> Options:
    if given.verb != "bake":
        return Options()
    return Options(
        step=given.step,
        extend=frame_range(verb, given.extend),
        sample_limit=given.sample_limit,
        defaults={name: value for name in LIMITS if (value := getattr(given, name)) is not None},
        output=given.output_mode,
        value_tolerance=given.value_tolerance or None,
        rotation_tolerance=math.radians(given.rotation_tolerance),
    )


def _targets(
    verb: argparse.ArgumentParser,
    files: list[Path],
    output: str | None,
    into_folder: bool,
    result: str | None,
    relative_to: str | None,
) -> list[Path]:
    """Return each file's target: no other file's and, unless the files are replaced, none of them.

    `result`: the suffix of the target's name where it is another than the file's; `relative_to`: the folder whose
    subfolders are kept in the output.
    """
    kind = result or ".blend"
    if output is None:
        targets = [Path(os.path.realpath(file)) for file in files]
    elif into_folder:
        if os.path.exists(output) and not os.path.isdir(output):
            verb.error(rpt_("--output {:s} is a file, and the results need a folder", output))
        if len(files) > 1 and output.lower().endswith(kind) and not os.path.isdir(output):
            text = rpt_(
                "--output {:s} names a {:s}, and there are {:d} files; for a folder, end it with a slash",
                output,
                kind,
                len(files),
            )
            verb.error(text)
        places = [Path(file.name) if relative_to is None else _within(verb, file, relative_to) for file in files]
        places = [place.with_suffix(result) if result else place for place in places]
        targets = [Path(os.path.realpath(Path(output, place))) for place in places]
    elif output.lower().endswith(kind):
        targets = [Path(os.path.realpath(output))]
    else:
        text = rpt_("--output {:s} is neither a folder nor a {:s}; for a new folder, end it with a slash", output, kind)
        verb.error(text)
    writers: dict[str, Path] = {}
    for file, target in zip(files, targets, strict=True):
        other = writers.setdefault(os.path.normcase(target), file)
        if other is not file:
            verb.error(rpt_("{} and {} would both be written to {}", other, file, target))
    if output is not None:
        for file in files:
            if os.path.normcase(os.path.realpath(file)) in writers:
                verb.error(rpt_("--output would replace {}, which is read; if you mean that, say --in-place", file))
    return targets


def _within(verb: argparse.ArgumentParser, file: Path, folder: str) -> Path:
    """Return the path of a file below the folder."""
    try:
        return Path(os.path.abspath(file)).relative_to(os.path.abspath(folder))
    except ValueError:
        verb.error(rpt_("{} lies outside --relative-to {:s}", file, folder))


def _files(verb: argparse.ArgumentParser, given: argparse.Namespace) -> list[Path]:
    """Return the files that are named, listed or matched by patterns, each once; a worker gets them from its parent."""
    if given.worker:
        return [Path(name) for name in json.loads(sys.stdin.readline())]
    names = list(given.files)
    if given.files_from is not None:
        try:
            listed = sys.stdin.read() if given.files_from == "-" else Path(given.files_from).read_text(encoding="utf-8")
        except (OSError, UnicodeError) as error:
            verb.error(rpt_("--files-from {:s} can't be read: {:s}", given.files_from, str(error)))
        names += [line for line in listed.splitlines() if line.strip()]
    elif not names:
        verb.error(rpt_("name a FILE, or give --files-from"))
    found: list[str] = []
    for name in names:
        # Shells of Windows leave patterns to the program.
        if glob.has_magic(name) and not os.path.lexists(name):
            matching = sorted(glob.glob(name, recursive=True))
            if not matching:
                verb.error(rpt_("no file matches {:s}", name))
            found += matching
        else:
            found.append(name)
    return [Path(name) for name in dict.fromkeys(found)]


def _epilog() -> str:
    text = rpt_(
        "exit status: 0 if all files are done or skipped; 1 if a file failed; 2 if the command makes no sense; "
        "3 if all files are done, but one with faults: something was refused, changes visibly, lacks a library, or is "
        "lost, as the file is damaged"
    )
    return f"{text}\n"


def _parsers(program: str) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser of the whole command, and those of its verbs."""
    parser = argparse.ArgumentParser(
        prog=program,
        description=rpt_("Tension, continuity, bias and ease, as 3D Studio plays them, in .blend files."),
        epilog=_epilog(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)

    def add(name: str, summary: str, examples: str = "") -> argparse.ArgumentParser:
        verb = subparsers.add_parser(
            name,
            help=summary,
            description=summary,
            epilog=(f"{rpt_('examples:')}\n{examples.format(program=program)}\n" if examples else "") + _epilog(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        _add_common(verb, _A_3DS_FILE if name == "import" else _A_BLEND_FILE)
        return verb

    verbs = {name: add(name, summary, examples) for name, (summary, examples) in _summaries().items()}
    _add_options(verbs)
    return parser, verbs


def _summaries() -> dict[str, tuple[str, str]]:
    """Return what each verb does, and examples; in the order of the command's help."""
    return {
        "bake": (rpt_("Write the exact motion into locked F-curves, which any Blender plays."), _EXAMPLES),
        "free": (rpt_("Replace baked F-curves by the animator's own keys, unlocked."), ""),
        "restore": (rpt_("Switch the TCB motion off; the parameters stay."), ""),
        "apply": (rpt_("Keep the motion as plain animation, without TCB."), ""),
        "remove": (rpt_("Restore the animator's curves and delete all TCB data."), ""),
        "enable": (rpt_("Make the tracks TCB, without baking them yet."), ""),
        "reduce": (rpt_("Reduce curves with a key on every frame to few keys, whose handles play the same."), ""),
        "curves": (
            rpt_("Replace imported keys by those of an FBX or glTF file, with its tangents."),
            CURVES_EXAMPLES,
        ),
        "info": (rpt_("Show the tracks, their keys, parameters and state; nothing is written."), ""),
        "check": (
            rpt_("Look whether cameras, scales and joints are as they have to be at every frame."),
            CHECK_EXAMPLES,
        ),
        "rotations": (
            rpt_("List rotations that flip or jump between keys, of all actions, or repair them."),
            ROTATIONS_EXAMPLES,
        ),
        "import": (
            rpt_("Make a .blend of each 3D Studio file (.3ds), with its animation baked."),
            IMPORT_EXAMPLES,
        ),
        "export": (rpt_("Make a 3D Studio file (.3ds) of each .blend, with its animation."), EXPORT_EXAMPLES),
        "import-table": (rpt_("Make keys of the rows of a table (CSV) on an object."), IMPORT_TABLE_EXAMPLES),
        "export-table": (rpt_("Write an object's keys as a table (CSV)."), EXPORT_TABLE_EXAMPLES),
        "velocities": (
            rpt_("Write velocities and accelerations of TCB tracks as custom properties."),
            VELOCITIES_EXAMPLES,
        ),
    }


def _add_options(verbs: Mapping[str, argparse.ArgumentParser]) -> None:
    """Add the options of each verb, in the order of its help."""
    for name in ("bake", "enable"):
        _add_keep_look(verbs[name])
    for name in (
        "bake",
        "free",
        "restore",
        "apply",
        "remove",
        "enable",
        "reduce",
        "curves",
        "rotations",
        "import-table",
        "velocities",
    ):
        _add_output(verbs[name])
    for name, verb in verbs.items():
        if name != "import":
            _add_objects(verb)
    _add_bake_options(verbs["bake"])
    verbs["free"].add_argument(
        "--discard-edits",
        action="store_true",
        help=rpt_("also free tracks whose baked curves were edited by something else, and lose these edits"),
    )
    _add_reduce_options(verbs["reduce"])
    add_curves_options(verbs["curves"])
    add_check_options(verbs["check"])
    add_rotations_options(verbs["rotations"])
    _add_output(verbs["import"], ".blend")
    add_import_options(verbs["import"])
    _add_output(verbs["export"], ".3ds")
    add_export_options(verbs["export"])
    add_import_table_options(verbs["import-table"])
    _add_output(verbs["export-table"], ".csv")
    add_export_table_options(verbs["export-table"])
    add_velocities_options(verbs["velocities"])


def _add_reduce_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--error",
        type=positive,
        default=ERROR,
        metavar="UNITS",
        help=rpt_("how far heads and tails of bones, locations and other values may be off at any frame ({:g})", ERROR),
    )
    verb.add_argument(
        "--angle",
        type=positive,
        default=math.degrees(ANGLE),
        metavar="DEGREES",
        help=rpt_("how far rotations of objects may be off ({:g})", math.degrees(ANGLE)),
    )
    verb.add_argument(
        "--keys",
        type=at_least_one,
        metavar="N",
        help=rpt_("at most so many keys of each object or armature, with an error as small as that allows"),
    )
    verb.add_argument(
        "--still",
        type=positive,
        metavar="UNITS",
        help=rpt_("how far heads and tails of bones, and locations, may be off while they stand still"),
    )
    verb.add_argument(
        "--period",
        type=above_two,
        metavar="FRAMES",
        help=rpt_("filter away before what swings faster than once in so many frames, which is reported by itself"),
    )
    verb.add_argument(
        "--together",
        choices=[*TOGETHER],
        default="BONE",
        help=rpt_("what has its keys at common frames: each track, each bone or object, bone collections, whole poses"),
    )
    verb.add_argument(
        "--range",
        type=number,
        nargs=2,
        metavar=("START", "END"),
        help=rpt_("only the keys from one frame to another: others, and what they play, stay (default: all keys)"),
    )
    verb.add_argument(
        "--method",
        choices=[*KEY_METHODS],
        default="HERMITE",
        help=rpt_("what plays the keys: velocities (HERMITE), or tension and bias (TCB)"),
    )
    verb.add_argument(
        "--sample-limit",
        type=at_least_one,
        default=SAMPLE_LIMIT,
        metavar="N",
        help=rpt_("refuse more samples than this, frames times components (default: %(default)s)"),
    )


def _reduction(verb: argparse.ArgumentParser, given: argparse.Namespace) -> dict[str, Any]:
    angle = math.radians(given.angle)
    return {
        "error": given.error,
        "angle": angle,
        "key_count": given.keys,
        "still": given.still,
        "period": given.period,
        "together": given.together,
        "frame_range": frame_range(verb, given.range),
        "method": given.method,
        "sample_limit": given.sample_limit,
    }


def _add_common(verb: argparse.ArgumentParser, kind: str) -> None:
    verb.add_argument("files", nargs="*", metavar="FILE", help=rpt_(kind))
    verb.add_argument(
        "--files-from",
        metavar="FILE",
        help=rpt_("also the files that this text file lists, one a line; -: standard input"),
    )
    verb.add_argument(
        "--json", action="store_true", help=rpt_("print one JSON object a file, each on a line of its own")
    )
    verb.add_argument(
        "--jobs",
        type=at_least_one,
        default=1,
        metavar="N",
        help=rpt_(
            "process up to this many files at once, in parallel processes where that saves time (default: 1); "
            "results come as they are ready"
        ),
    )
    verb.add_argument(
        "--blender",
        metavar="PATH",
        help=rpt_(
            "what starts Blender for --jobs, where that is a script of your own (default: the program that runs)"
        ),
    )
    verb.add_argument(
        "--log", metavar="FILE", help=rpt_("append one JSON object a file: what became of it, and what went wrong")
    )
    verb.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)


def _add_objects(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--objects",
        action="append",
        metavar="GLOB",
        help=rpt_(
            "only the objects of this name, each with the data, shape keys, materials and nodes that it is made of; "
            "* and ? stand for any characters; may be repeated"
        ),
    )


def _add_keep_look(verb: argparse.ArgumentParser) -> None:
    look = verb.add_mutually_exclusive_group()
    look.add_argument(
        "--keep-look",
        action="store_true",
        default=True,
        help=rpt_(
            "what becomes TCB gets the parameters with which its Bezier keys play most as they do now (the default)"
        ),
    )
    look.add_argument(
        "--plain",
        action="store_false",
        dest="keep_look",
        help=rpt_("what becomes TCB has parameters 0, so its motion changes"),
    )
    verb.add_argument(
        "--turns",
        choices=("SHORTEST", "AS_KEYED"),
        dest="path",
        help=rpt_(
            "how rotations of what becomes TCB turn from key to key: by the shorter way, or as far as the keys say "
            "(default: as keyed for angles, shortest for quaternions; with --keep-look what changes the motion less)"
        ),
    )
    verb.add_argument(
        "--max-change",
        type=angle_and_percent,
        default=MAX_CHANGE,
        metavar="ANGLE,PERCENT",
        help=rpt_(
            "a larger change of the motion is visible, and a fault: degrees of rotations, percent of the range of "
            "other tracks (default: 1,1)"
        ),
    )


def _add_output(verb: argparse.ArgumentParser, result: str | None = None) -> None:
    verb.add_argument("--output", metavar="DIR|FILE", help=rpt_(_TO_FILE, result or ".blend"))
    verb.add_argument(
        "--make-folder",
        action="store_true",
        help=rpt_("--output is a folder, also where none is there yet and no slash ends its name"),
    )
    if result:
        verb.set_defaults(in_place=False)
    else:
        verb.add_argument("--in-place", action="store_true", help=rpt_("replace each FILE by its result"))
    verb.add_argument(
        "--relative-to",
        metavar="DIR",
        help=rpt_("keep in --output the subfolders that the FILEs have in this folder"),
    )
    if result in (None, ".blend"):
        verb.add_argument(
            "--dry-run",
            action="store_true",
            help=rpt_("write nothing, and report what would change of each track"),
        )
    if not result:
        verb.add_argument(
            "--strict",
            action="store_true",
            help=rpt_("write no result where a file would be done with faults"),
        )
        verb.add_argument(
            "--copy-skipped",
            action="store_true",
            help=rpt_("copy a FILE in which there is nothing to do to --output, too"),
        )
    verb.add_argument(
        "--skip-done",
        action="store_true",
        help=rpt_(
            "leave out a FILE that was done without faults and whose result is there, if neither has changed since (by "
            "time and size, and of the libraries that it links from too), and the options, TCB Animation and Blender "
            "are the same; what is done is written down in --log, or in {:s} beside the results, so give this from the "
            "first run on",
            _LOG,
        ),
    )


def _add_option(to: argparse._ArgumentGroup, name: str, flag: str = "", **more: Any) -> None:
    """Add an option of a bake, with the description, choices and default that it is declared with."""
    option = shown(name)
    lines = [rpt_(option.description), *(f"{value}: {rpt_(text)}" for value, (_, text) in option.choices.items())]
    more = {"default": getattr(_BAKE, name), "choices": list(option.choices) or None} | more
    to.add_argument(
        flag or f"--{name.replace('_', '-')}",
        help=f"{'. '.join(lines)} ({rpt_('default: %(default)s')})",
        **more,
    )


def _add_bake_options(bake: argparse.ArgumentParser) -> None:
    bake.add_argument(
        "--enable",
        action="store_true",
        help=rpt_(
            "all tracks that have keys become TCB first; without this only what is TCB is baked, and of --objects also "
            "those of which nothing is TCB, which become so"
        ),
    )
    how = bake.add_argument_group(rpt_("how to bake"))
    _add_option(how, "output", "--output-mode")
    _add_option(how, "value_tolerance", type=distance, default=0, metavar="NUMBER")
    degrees = round(math.degrees(_BAKE.rotation_tolerance), 6)
    _add_option(how, "rotation_tolerance", type=positive, default=degrees, metavar="DEGREES")
    _add_option(how, "step", type=frames, metavar="FRAMES")
    how.add_argument(
        "--extend",
        type=number,
        nargs=2,
        metavar=("START", "END"),
        help=rpt_(
            "extend the bake to these frames, for cycles and linear extrapolation (default: from the first to the last "
            "key)"
        ),
    )
    _add_option(how, "sample_limit", type=at_least_one, metavar="N")
    parameters = bake.add_argument_group(rpt_("parameters, in this bake, of keys that have none set"))
    for name, (low, high) in LIMITS.items():
        parameters.add_argument(
            f"--{name.replace('_', '-')}",
            type=within(low, high),
            metavar="NUMBER",
            help=rpt_("{:g} to {:g}", low, high),
        )
