# SPDX-License-Identifier: GPL-3.0-or-later
"""Parse the arguments of all verbs into a job."""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..animation import Options, TableKeys, Velocities
from ..animation.edit.enable import MAX_CHANGE
from ..animation.options import (
    BAKE,
    ENABLE,
    FIX_ROTATIONS,
    FREE,
    IMPORT_TABLE,
    REDUCE,
    RESTORE_CURVES,
    TRACK,
    VELOCITIES,
    Option,
)
from ..animation.reduction.report import ReduceRequest
from ..animation.store.parameters import LIMITS
from ..animation.translation import n_, rpt_
from ..exchange.options import EXPORT, IMPORT
from . import outcome
from .input_files import input_files

_LARGEST = 1e30
"""The largest number that options accept. Such a number fits into float32 even after a conversion of units."""
_AXES = ("X", "Y", "Z", "-X", "-Y", "-Z")
_METAVARS = {"COUNT": "N", "FRAMES": "FRAMES", "DISTANCE": "UNITS", "ANGLE": "DEGREES"}
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
_SUMMARIES = {
    "bake": n_("Bake the exact motion into locked F-curves that any Blender plays."),
    "free": n_("Replace baked F-curves with the animator's keys and unlock them."),
    "restore": n_("Turn TCB motion off and keep the parameters."),
    "apply": n_("Convert the motion to animation without TCB."),
    "remove": n_("Restore the animator's curves and delete all TCB data."),
    "enable": n_("Enable TCB on tracks without baking them."),
    "reduce": n_("Reduce curves with a key at every frame to few keys that play the same motion."),
    "curves": n_("Replace imported keys with the keys and tangents of an FBX or glTF file."),
    "info": n_("List tracks with their keys, parameters and states. Write nothing."),
    "check": n_("Check cameras, scales and joints at every frame. Write nothing."),
    "rotations": n_("List or repair rotations in all actions that flip or jump between keys."),
    "import": n_("Convert each 3D Studio file (.3ds) to a .blend file with baked animation."),
    "export": n_("Convert each .blend file to a 3D Studio file (.3ds) with its animation."),
    "import-table": n_("Key an object from the rows of a table (CSV)."),
    "export-table": n_("Write the keys of an object to a table (CSV)."),
    "velocities": n_("Write velocities and accelerations of TCB tracks as custom properties."),
}
"""Descriptions of the verbs in the order of the help."""
_RESULTS = {"import": ".blend", "export": ".3ds", "export-table": ".csv"}
"""Suffixes of results that cannot replace the input file."""

File = tuple[Path, Path | None]
"""A file, and the path of its result with links resolved, or None if nothing is written."""


@dataclass(frozen=True)
class Job:
    """The verb, the files, and the arguments by name."""

    verb: str
    files: list[File]
    given: argparse.Namespace
    how: Any
    """The verb's options as one object, for functions of `animation` that take one."""
    suffix: str
    """The suffix of the results."""
    makes_folder: bool
    """True if the folder of the results may be created."""

    @property
    def work(self) -> str:
        """Return the verb, or a more specific name if options change the operation.

        "no-velocities" removes written velocities, and "enable-and-bake" also bakes tracks that were not TCB.
        """
        if self.verb == "bake" and (self.given.enable or self.given.objects):
            return "enable-and-bake"
        return "no-velocities" if self.verb == "velocities" and not self.given.quantities else self.verb

    @property
    def makes_new_files(self) -> bool:
        """Return whether every file has a result, even a file without animation."""
        return self.verb in ("import", "import-table") or self.suffix != ".blend"

    @property
    def inputs(self) -> list[str]:
        """Return the files on which all results depend."""
        names = (getattr(self.given, name, None) for name in ("table", "model"))
        return [os.path.realpath(name) for name in names if isinstance(name, str)]

    @property
    def asked(self) -> dict[str, Any]:
        """Return the arguments, except files, that affect the content of a result, as read from JSON."""
        asked = {name: value for name, value in vars(self.given).items() if name not in _WITHOUT_EFFECT}
        read: dict[str, Any] = json.loads(json.dumps(asked, default=sorted))
        return read


def parse(arguments: Sequence[str], program: str) -> Job:
    """Parse the arguments. Raises SystemExit after a usage message if the arguments are invalid."""
    parser, verbs = _parsers(program)
    given, unknown = parser.parse_known_args(arguments)
    verb = verbs[given.verb]
    if unknown:
        # parse_args would print the usage of the command, without the verb's options.
        names = " ".join(unknown)
        verb.error(rpt_("unknown arguments: {:s}", names))
    for name in ("range", "extend"):
        ends = getattr(given, name, None)
        if ends is not None and not ends[0] <= ends[1]:
            verb.error(rpt_("the frame range {:g} to {:g} is empty", *ends))
    try:
        how = _HOW[given.verb](given) if given.verb in _HOW else None
    except ValueError as error:
        verb.error(str(error))
    suffix = _RESULTS.get(given.verb, ".blend")
    _check_options(verb, given)
    if given.worker:
        return Job(given.verb, [], given, how, suffix, makes_folder=True)
    files = input_files(verb, given)
    if not _writes(given):
        return Job(given.verb, [(file, None) for file in files], given, how, suffix, makes_folder=False)
    _check_destination(verb, given)
    into_folder = given.output is not None and (
        len(files) > 1
        or given.relative_to is not None
        or given.output.endswith(("/", os.sep))
        or os.path.isdir(given.output)
    )
    targets = _targets(verb, files, given, into_folder, suffix)
    return Job(given.verb, [*zip(files, targets, strict=True)], given, how, suffix, into_folder)


def _writes(given: argparse.Namespace) -> bool:
    if given.verb == "rotations":
        return bool(given.repair or given.key_whole)
    return given.verb not in ("info", "check")


def _check_options(verb: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """Reject incompatible options."""
    if given.verb == "rotations" and not _writes(given) and (given.output is not None or given.in_place):
        verb.error(rpt_("--output and --in-place require --repair or --key-whole"))
    if given.verb == "import-table" and not os.access(given.table, os.R_OK):
        verb.error(rpt_("--table {:s} cannot be read", given.table))


def _check_destination(verb: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """Reject missing and contradicting destinations."""
    if given.output is None and not given.in_place:
        verb.error(
            rpt_("there is no destination for the result. Use --output DIR or FILE, or --in-place to replace the files")
        )
    if given.output is not None and given.in_place:
        verb.error(rpt_("use either --output or --in-place, not both"))
    if given.relative_to is not None and given.output is None:
        verb.error(rpt_("--relative-to requires --output, whose subfolders it preserves"))


def _targets(
    verb: argparse.ArgumentParser, files: list[Path], given: argparse.Namespace, into_folder: bool, suffix: str
) -> list[Path]:
    """Return a unique target for each file, which is not an input file unless files are replaced."""
    output: str | None = given.output
    if output is None:
        targets = [Path(os.path.realpath(file)) for file in files]
    elif into_folder:
        if os.path.exists(output) and not os.path.isdir(output):
            verb.error(rpt_("--output {:s} is a file, but the results need a folder", output))
        if len(files) > 1 and output.lower().endswith(suffix) and not os.path.isdir(output):
            text = n_("--output {:s} names one {:s} for {:d} files. To name a folder, end it with a slash")
            verb.error(rpt_(text, output, suffix, len(files)))
        folder = given.relative_to
        places = [Path(file.name) if folder is None else _within(verb, file, folder) for file in files]
        if given.verb in _RESULTS:
            places = [place.with_suffix(suffix) for place in places]
        targets = [Path(os.path.realpath(Path(output, place))) for place in places]
    elif output.lower().endswith(suffix):
        targets = [Path(os.path.realpath(output))]
    else:
        text = n_("--output {:s} is neither a folder nor a {:s}. To create a folder, end it with a slash")
        verb.error(rpt_(text, output, suffix))
    writers: dict[str, Path] = {}
    for file, target in zip(files, targets, strict=True):
        other = writers.setdefault(os.path.normcase(target), file)
        if other is not file:
            verb.error(rpt_("{} and {} would both be written to {}", other, file, target))
    if output is not None:
        for file in files:
            if os.path.normcase(os.path.realpath(file)) in writers:
                verb.error(
                    rpt_("--output would replace the input file {}. To replace the input file, use --in-place", file)
                )
    return targets


def _within(verb: argparse.ArgumentParser, file: Path, folder: str) -> Path:
    """Return the path of a file relative to the folder."""
    try:
        return Path(os.path.abspath(file)).relative_to(os.path.abspath(folder))
    except ValueError:
        verb.error(rpt_("{} is outside --relative-to {:s}", file, folder))


# Options that functions of `animation` take and check. Their names are the names of the functions' arguments.


def _named(given: argparse.Namespace, options: dict[str, Option]) -> dict[str, Any]:
    return {name: option.argument(getattr(given, name)) for name, option in options.items()}


def _bake(given: argparse.Namespace) -> Options:
    defaults = {name: value for name in LIMITS if (value := getattr(given, name)) is not None}
    named = _named(given, {name: option for name, option in BAKE.items() if name != "output"})
    return Options(**named, output=given.output_mode, extend=given.extend, defaults=defaults)


_HOW: dict[str, Callable[[argparse.Namespace], Any]] = {
    "bake": _bake,
    "reduce": lambda given: ReduceRequest(**_named(given, REDUCE), frame_range=given.range),
    "import-table": lambda given: TableKeys(**_named(given, IMPORT_TABLE)),
    "velocities": lambda given: Velocities(**_named(given, VELOCITIES)),
}


# The parser


def _parsers(program: str) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser of the command and the parsers of its verbs."""
    parser = argparse.ArgumentParser(
        prog=program,
        description=rpt_("Process tension, continuity, bias and ease of 3D Studio in .blend files."),
        epilog=rpt_(outcome.HELP),
    )
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    verbs = {}
    for name, summary in _SUMMARIES.items():
        text = rpt_(summary)
        verbs[name] = verb = subparsers.add_parser(name, help=text, description=text, epilog=rpt_(outcome.HELP))
        _add_common(verb, name)
        if name in _OF_VERB:
            _OF_VERB[name](verb)
    return parser, verbs


def _add_common(verb: argparse.ArgumentParser, name: str) -> None:
    kind = n_("One or more 3D Studio files (.3ds)") if name == "import" else n_("One or more .blend files")
    verb.add_argument("files", nargs="*", metavar="FILE", help=rpt_(kind))
    verb.add_argument(
        "--files-from", metavar="FILE", help=rpt_("Also process the files listed in this text file, one per line")
    )
    if name == "import":
        verb.set_defaults(objects=[])
    else:
        verb.add_argument(
            "--objects",
            action="append",
            default=[],
            metavar="GLOB",
            help=rpt_(
                "Process only objects with this name, including their data, shape keys, materials and nodes. * and ? "
                "match any characters. May be repeated"
            ),
        )
    verb.add_argument("--json", action="store_true", help=rpt_("Print a JSON object per file, each on a separate line"))
    jobs = Option("", n_("Maximum number of files to process at once"), 1, "COUNT", low=1)
    _add(verb, "--jobs", jobs)
    verb.add_argument(
        "--blender",
        metavar="PATH",
        help=rpt_("Program or script that starts Blender for --jobs (default: the running program)"),
    )
    verb.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    if name in ("info", "check"):
        verb.set_defaults(strict=False, dry_run=False, skip_done=False)
    else:
        _add_output(verb, name)


def _add_output(verb: argparse.ArgumentParser, name: str) -> None:
    suffix = _RESULTS.get(name, ".blend")
    where = n_("Output folder (existing, or ending with a slash to create it), or a {:s} file for a single FILE")
    verb.add_argument("--output", metavar="DIR|FILE", help=rpt_(where, suffix))
    if name in _RESULTS:
        verb.set_defaults(in_place=False)
    else:
        verb.add_argument("--in-place", action="store_true", help=rpt_("Replace each FILE with its result"))
    relative_to = rpt_("Preserve the subfolders of the FILEs below this folder in --output")
    verb.add_argument("--relative-to", metavar="DIR", help=relative_to)
    dry_run = rpt_("Write nothing, and report how each track would change")
    verb.add_argument("--dry-run", action="store_true", help=dry_run)
    strict = rpt_("Write no result for files with faults")
    verb.add_argument("--strict", action="store_true", help=strict)
    verb.add_argument(
        "--skip-done",
        action="store_true",
        help=rpt_(
            "Skip a FILE if an earlier run finished it without faults and its result would be the same. Use this "
            "option from the first run on, because it records finished files in .tcb-done.jsonl next to the results"
        ),
    )


def _add(to: Any, argument: str, option: Option, **more: Any) -> None:
    """Add an option with its declared description, choices, limits and default."""
    lines = [rpt_(option.description), *(f"{value}: {rpt_(text)}" for value, (_, text) in option.choices.items())]
    text = ". ".join(lines)
    if option.kind == "FLAG":
        to.add_argument(argument, action="store_true", help=text, **more)
        return
    default = more.get("default", option.default)
    if option.kind == "CHOICES":
        how: dict[str, Any] = {"nargs": "*", "choices": [*option.choices], "metavar": "NAME"}
    elif option.kind == "CHOICE":
        how = {"choices": [*option.choices]}
    else:
        how = {"type": _number_of(option), "metavar": _METAVARS.get(option.kind, "NUMBER")}
    if isinstance(default, str | int | float):
        shown = f"{math.degrees(float(default)):g}" if option.kind == "ANGLE" else str(default)
        text = f"{text} ({rpt_('default: {:s}', shown)})"
    to.add_argument(argument, help=text.replace("%", "%%"), **{"default": default, **how, **more})


def _number_of(option: Option) -> Callable[[str], float]:
    """Return the argparse type of an option, with angles in degrees. argparse names the option in messages."""
    unit = math.pi / 180.0 if option.kind == "ANGLE" else 1.0
    low = -_LARGEST if option.low is None else option.low / unit
    high = _LARGEST if option.high is None else option.high / unit

    def parse_number(text: str) -> float:
        value = _whole(text) if option.kind == "COUNT" else _number(text)
        if value < low:
            raise argparse.ArgumentTypeError(rpt_("{:s} is below {:g}", text, low))
        if value > high:
            raise argparse.ArgumentTypeError(rpt_("{:s} is above {:g}", text, high))
        return math.radians(value) if option.kind == "ANGLE" else value

    return parse_number


def _number(text: str) -> float:
    """Parse a finite number."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(rpt_("{:s} is not a number", text)) from None
    if not abs(value) <= _LARGEST:
        raise argparse.ArgumentTypeError(rpt_("{:s} is not a number within ±{:g}", text, _LARGEST))
    return value


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(rpt_("{:s} is not a whole number", text)) from None


def _angle_and_percent(text: str) -> tuple[float, float]:
    """Parse an angle in degrees and a percentage, and return radians and a fraction."""
    numbers = [_number(part) for part in text.split(",")]
    if len(numbers) != 2 or min(numbers) < 0.0:
        raise argparse.ArgumentTypeError(rpt_("{:s} does not have the form ANGLE,PERCENT, such as 1,1", text))
    return math.radians(numbers[0]), numbers[1] / 100.0


def _add_range(to: Any, argument: str, text: str) -> None:
    to.add_argument(argument, type=_number, nargs=2, metavar=("START", "END"), help=rpt_(text))


def _add_enable(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--plain",
        action="store_false",
        default=ENABLE["keep_look"].default,
        dest="keep_look",
        help=rpt_(
            "Enable TCB with all parameters set to 0, which changes the motion (default: fit the parameters to the "
            "motion)"
        ),
    )
    turns = rpt_("Default: Shortest for quaternions. For angles: As Keyed, or whichever preserves motion better")
    verb.add_argument(
        "--turns",
        choices=[*TRACK["path"].choices],
        dest="path",
        help=f"{rpt_(TRACK['path'].description)} ({turns})",
    )
    verb.add_argument(
        "--max-change",
        type=_angle_and_percent,
        default=MAX_CHANGE,
        metavar="ANGLE,PERCENT",
        help=rpt_(
            "Larger changes to the motion are faults: degrees for rotations, percent of the range for other tracks "
            "(default: 1,1)"
        ),
    )


def _add_bake(verb: argparse.ArgumentParser) -> None:
    _add_enable(verb)
    enable = rpt_("First enable TCB on all tracks with keys, not only on --objects without any TCB track")
    verb.add_argument("--enable", action="store_true", help=enable)
    for name, option in BAKE.items():
        if name == "output":
            _add(verb, "--output-mode", option, dest="output_mode")
        else:
            _add(verb, f"--{name.replace('_', '-')}", option)
    _add_range(verb, "--extend", n_("Extend the bake to these frames, for cycles and linear extrapolation"))
    parameters = verb.add_argument_group(rpt_("Parameters in this bake for keys that have none of their own"))
    for name, (low, high) in LIMITS.items():
        bounds = Option("", rpt_("{:g} to {:g}", low, high), None, "NUMBER", low=low, high=high)
        _add(parameters, f"--{name.replace('_', '-')}", bounds)


def _add_reduce(verb: argparse.ArgumentParser) -> None:
    for name, option in REDUCE.items():
        if name != "key_count":
            _add(verb, f"--{name.replace('_', '-')}", option)
    keys = n_(
        "Maximum number of keys of each object or armature (not of the file), counted as diamonds in the Dope Sheet, "
        "summed over bones. 0 means unlimited"
    )
    _add(verb, "--keys", replace(REDUCE["key_count"], description=keys), dest="key_count")
    _add_range(
        verb,
        "--range",
        n_("Reduce only keys in these frames, and preserve all other keys and motion (default: all keys)"),
    )


def _add_curves(verb: argparse.ArgumentParser) -> None:
    model = rpt_("The imported file: binary .fbx, .glb or .gltf")
    verb.add_argument("--from", required=True, dest="model", metavar="MODEL", help=model)
    _add(verb, "--exact", RESTORE_CURVES["exact"])
    _add(verb, "--value-tolerance", RESTORE_CURVES["value_tolerance"])
    _add(verb, "--rotation-tolerance", RESTORE_CURVES["rotation_tolerance"])
    _add(verb, "--tcb", RESTORE_CURVES["use_tcb"], dest="use_tcb")


def _add_check(verb: argparse.ArgumentParser) -> None:
    _add_range(
        verb, "--range", n_("Frames to check (default: each scene's frame range and all keys before and after it)")
    )
    joint = rpt_("Measure the joint between the parent and this object's origin or bone's head. May be repeated")
    verb.add_argument("--joint", action="append", default=[], metavar="OBJECT[:BONE]", help=joint)
    tolerance = Option("", n_("Largest distance at a joint that is not an error"), 1e-4, "DISTANCE", low=0.0)
    _add(verb, "--joint-tolerance", tolerance)


def _add_rotations(verb: argparse.ArgumentParser) -> None:
    repair = rpt_(
        "Replace keyed values with equivalent values where rotations flip or jump (default: only list the faults)"
    )
    verb.add_argument("--repair", action="store_true", help=repair)
    whole = rpt_(
        "First key all channels of each rotation at every key, as handles require, without changing the motion"
    )
    verb.add_argument("--key-whole", action="store_true", help=whole)
    _add(verb, "--turns", FIX_ROTATIONS["turns"])


def _add_exchange(verb: argparse.ArgumentParser, options: dict[str, Option]) -> None:
    """Add the common options of import and export."""
    _add(verb, "--start", options["frame_start"], dest="frame_start")
    _add(verb, "--rate", options["frame_rate"], dest="frame_rate")
    _add(verb, "--scale", options["global_scale"], dest="global_scale")
    _add(verb, "--sample-limit", options["sample_limit"])
    keep_time = rpt_(options["timing"].choices["TIME"][1])
    verb.add_argument("--keep-time", action="store_true", help=keep_time)
    for name, axis in (("forward", "Y"), ("up", "Z")):
        text = rpt_("The file's axis that corresponds to Blender's {:s}, such as =-Z (default: {:s})", axis, axis)
        verb.add_argument(f"--{name}", choices=_AXES, default=axis, help=text)


def _add_import(verb: argparse.ArgumentParser) -> None:
    _add_exchange(verb, IMPORT)
    _add(verb, "--bake", IMPORT["output"])
    euler = rpt_(IMPORT["rotations"].choices["EULER"][1])
    verb.add_argument("--euler", action="store_true", help=euler)
    _add(verb, "--shorter-turns", IMPORT["use_shorter_turns"])
    _add(verb, "--between", IMPORT["between"])


def _add_bone(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--bone", default="", metavar="NAME", help=rpt_("The bone that the table describes"))


def _add_import_table(verb: argparse.ArgumentParser) -> None:
    table = rpt_("Table (CSV; see docs/files/tables.md)")
    verb.add_argument("--table", required=True, metavar="FILE", help=table)
    _add_bone(verb)
    _add(verb, "--start", IMPORT_TABLE["frame_start"], dest="frame_start")
    _add(verb, "--replace", IMPORT_TABLE["replace"])
    verb.add_argument("--plain", action="store_false", dest="use_tcb", help=rpt_("Do not enable TCB on the tracks"))
    _add(verb, "--known-only", IMPORT_TABLE["known_only"])


def _add_velocities(verb: argparse.ArgumentParser) -> None:
    for name, option in VELOCITIES.items():
        _add(verb, f"--{name}", option)


_OF_VERB: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "bake": _add_bake,
    "enable": _add_enable,
    "free": lambda verb: _add(verb, "--discard-edits", FREE["discard_edits"]),
    "reduce": _add_reduce,
    "curves": _add_curves,
    "check": _add_check,
    "rotations": _add_rotations,
    "import": _add_import,
    "export": lambda verb: _add_exchange(verb, EXPORT),
    "import-table": _add_import_table,
    "export-table": _add_bone,
    "velocities": _add_velocities,
}
"""The functions that add the options of verbs with more than the common options."""
