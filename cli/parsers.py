# SPDX-License-Identifier: GPL-3.0-or-later
"""The parsers of the command and of its verbs."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

from ..animation.edit.preserve_motion import MAX_CHANGE
from ..animation.options import (
    BAKE,
    FIX_ROTATIONS,
    FREE,
    IMPORT_TABLE,
    REDUCE,
    RESTORE_CURVES,
    TRACK,
    VELOCITIES,
    Option,
)
from ..animation.store.parameters import LIMITS
from ..animation.text import n_, rpt_
from ..exchange.options import EXPORT, IMPORT
from ..interp.rotations.base_rotation_spline import Path

OTHER_SUFFIXES = {"import": ".blend", "export": ".3ds", "export-table": ".csv"}
"""Suffixes of results that cannot replace the input file, by verb."""
_EXIT_STATUS = n_(
    "exit status: 0 if all files are done or skipped, 1 if a file failed, 2 if the arguments are invalid, 3 if a file "
    "has faults (a track was skipped or changes visibly, a library is missing or unreadable, or damaged data was lost)"
)
_AXES = ("X", "Y", "Z", "-X", "-Y", "-Z")
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
    "import": n_("Convert each 3D Studio file (.3ds) to a .blend file with its animation."),
    "export": n_("Convert each .blend file to a 3D Studio file (.3ds) with its animation."),
    "import-table": n_("Key an object from the rows of a table (CSV)."),
    "export-table": n_("Write the keys of an object to a table (CSV)."),
    "velocities": n_("Write velocities and accelerations of TCB tracks as custom properties."),
}
"""Descriptions of the verbs in the order of the help."""
_LARGEST = 1e30
"""The largest number that options accept. Such a number fits into float32 even after a conversion of units."""
_METAVARS = {"COUNT": "N", "FRAMES": "FRAMES", "DISTANCE": "UNITS", "ANGLE": "DEGREES"}
"""The names of values in the help, by the kind of the option. Other numbers are called NUMBER."""


def suffix_of(verb: str) -> str:
    """Return the suffix of a verb's results."""
    return OTHER_SUFFIXES.get(verb, ".blend")


def make_parsers(program: str) -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser of the command and the parsers of its verbs."""
    parser = argparse.ArgumentParser(
        prog=program,
        description=rpt_("Process tension, continuity, bias and ease of 3D Studio in .blend files."),
        epilog=rpt_(_EXIT_STATUS),
    )
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    parsers_of_verbs = {}
    for verb, summary in _SUMMARIES.items():
        text = rpt_(summary)
        parser_of_verb = subparsers.add_parser(verb, help=text, description=text, epilog=rpt_(_EXIT_STATUS))
        _add_common(parser_of_verb, verb)
        if verb in _ADD_OPTIONS:
            _ADD_OPTIONS[verb](parser_of_verb)
        parsers_of_verbs[verb] = parser_of_verb
    return parser, parsers_of_verbs


def _add_common(parser: argparse.ArgumentParser, verb: str) -> None:
    kind = n_("One or more 3D Studio files (.3ds)") if verb == "import" else n_("One or more .blend files")
    parser.add_argument("files", nargs="*", metavar="FILE", help=rpt_(kind))
    files_from = rpt_("Also process the files listed in this text file, one per line")
    parser.add_argument("--files-from", metavar="FILE", help=files_from)
    if verb == "import":
        parser.set_defaults(objects=[])
    else:
        objects = rpt_(
            "Process only objects with this name, including their data, shape keys, materials and nodes. * and ? match "
            "any characters. May be repeated"
        )
        parser.add_argument("--objects", action="append", default=[], metavar="GLOB", help=objects)
    _add_flag(parser, "--json", n_("Print a JSON object per file, each on a separate line"))
    jobs = Option("", n_("Maximum number of files to process at once"), 1, "COUNT", low=1)
    _add_option(parser, "--jobs", jobs)
    blender = rpt_("Program or script that starts Blender for --jobs (default: the running program)")
    parser.add_argument("--blender", metavar="PATH", help=blender)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    if verb in ("info", "check"):
        parser.set_defaults(strict=False, dry_run=False, skip_done=False)
    else:
        _add_output(parser, verb)


def _add_output(parser: argparse.ArgumentParser, verb: str) -> None:
    where = n_("Output folder (existing, or ending with a slash to create it), or a {:s} file for a single FILE")
    parser.add_argument("--output", metavar="DIR|FILE", help=rpt_(where, suffix_of(verb)))
    if verb in OTHER_SUFFIXES:
        parser.set_defaults(in_place=False)
    else:
        _add_flag(parser, "--in-place", n_("Replace each FILE with its result"))
    relative_to = rpt_("Preserve the subfolders of the FILEs below this folder in --output")
    parser.add_argument("--relative-to", metavar="DIR", help=relative_to)
    _add_flag(parser, "--dry-run", n_("Write nothing, and report how each track would change"))
    _add_flag(parser, "--strict", n_("Write no result for files with faults"))
    skip_done = n_(
        "Skip a FILE if an earlier run finished it without faults and its result would be the same. Use this option "
        "from the first run on, because it records finished files in .tcb-done.jsonl next to the results"
    )
    _add_flag(parser, "--skip-done", skip_done)


def _add_bake(parser: argparse.ArgumentParser) -> None:
    _add_enable(parser)
    enable = n_("First enable TCB on all tracks with keys, not only on --objects without any TCB track")
    _add_flag(parser, "--enable", enable)
    for name, option in BAKE.items():
        # --output is the file.
        _add_option(parser, "--output-mode" if name == "output" else f"--{name.replace('_', '-')}", option)
    _add_range(parser, "--extend", n_("Extend the bake to these frames, for cycles and linear extrapolation"))
    parameters = parser.add_argument_group(rpt_("Parameters in this bake for keys that have none of their own"))
    for name, (low, high) in LIMITS.items():
        bounds = Option("", rpt_("{:g} to {:g}", low, high), None, "NUMBER", low=low, high=high)
        _add_option(parameters, f"--{name.replace('_', '-')}", bounds)


def _add_enable(parser: argparse.ArgumentParser) -> None:
    plain = rpt_(
        "Enable TCB with all parameters set to 0, which changes the motion (default: fit the parameters to the motion)"
    )
    parser.add_argument("--plain", action="store_false", dest="keep_look", help=plain)
    turns = rpt_("Default: Shortest for quaternions. For angles: As Keyed, or whichever preserves motion better")
    description = f"{rpt_(TRACK['path'].description)} ({turns})"
    parser.add_argument("--turns", choices=get_args(Path), dest="path", help=description)
    change = rpt_(
        "Larger changes to the motion are faults: degrees for rotations, percent of the range for other tracks "
        "(default: 1,1)"
    )
    parser.add_argument(
        "--max-change", type=_angle_and_percent, default=MAX_CHANGE, metavar="ANGLE,PERCENT", help=change
    )


def _add_reduce(parser: argparse.ArgumentParser) -> None:
    for name, option in REDUCE.items():
        if name != "key_count":
            _add_option(parser, f"--{name.replace('_', '-')}", option)
    keys = n_(
        "Maximum number of keys of each object or armature (not of the file), counted as diamonds in the Dope Sheet, "
        "summed over bones. 0 means unlimited"
    )
    _add_option(parser, "--keys", replace(REDUCE["key_count"], description=keys), dest="key_count")
    frames = n_("Reduce only keys in these frames, and preserve all other keys and motion (default: all keys)")
    _add_range(parser, "--range", frames)


def _add_curves(parser: argparse.ArgumentParser) -> None:
    model = rpt_("The imported file: binary .fbx, .glb or .gltf")
    parser.add_argument("--from", required=True, dest="model", metavar="MODEL", help=model)
    for name, option in RESTORE_CURVES.items():
        argument = "--tcb" if name == "use_tcb" else f"--{name.replace('_', '-')}"
        _add_option(parser, argument, option, dest=name)


def _add_check(parser: argparse.ArgumentParser) -> None:
    frames = n_("Frames to check (default: each scene's frame range and all keys before and after it)")
    _add_range(parser, "--range", frames)
    joint = rpt_("Measure the joint between the parent and this object's origin or bone's head. May be repeated")
    parser.add_argument("--joint", action="append", default=[], metavar="OBJECT[:BONE]", help=joint)
    tolerance = Option("", n_("Largest distance at a joint that is not an error"), 1e-4, "DISTANCE", low=0.0)
    _add_option(parser, "--joint-tolerance", tolerance)


def _add_rotations(parser: argparse.ArgumentParser) -> None:
    repair = n_(
        "Replace keyed values with equivalent values where rotations flip or jump (default: only list the faults)"
    )
    _add_flag(parser, "--repair", repair)
    whole = n_("First key all channels of each rotation at every key, as handles require, without changing the motion")
    _add_flag(parser, "--key-whole", whole)
    _add_option(parser, "--turns", FIX_ROTATIONS["turns"])


def _add_exchange(parser: argparse.ArgumentParser, options: dict[str, Option]) -> None:
    """Add the common options of import and export."""
    names = {"--start": "frame_start", "--rate": "frame_rate", "--scale": "global_scale"}
    for argument, name in {**names, "--sample-limit": "sample_limit"}.items():
        _add_option(parser, argument, options[name], dest=name)
    _add_flag(parser, "--keep-time", options["timing"].choices["TIME"][1])
    for name, axis in (("forward", "Y"), ("up", "Z")):
        text = rpt_("The file's axis that corresponds to Blender's {:s}, such as =-Z (default: {:s})", axis, axis)
        parser.add_argument(f"--{name}", choices=_AXES, default=axis, help=text)


def _add_import(parser: argparse.ArgumentParser) -> None:
    _add_exchange(parser, IMPORT)
    _add_option(parser, "--bake", IMPORT["output"])
    _add_flag(parser, "--euler", IMPORT["rotations"].choices["EULER"][1])
    _add_option(parser, "--shorter-turns", IMPORT["use_shorter_turns"])
    _add_option(parser, "--between", IMPORT["between"])


def _add_bone(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--bone", default="", metavar="NAME", help=rpt_("The bone that the table describes"))


def _add_import_table(parser: argparse.ArgumentParser) -> None:
    table = rpt_("Table (CSV; see docs/files/tables.md)")
    parser.add_argument("--table", required=True, metavar="FILE", help=table)
    _add_bone(parser)
    _add_option(parser, "--start", IMPORT_TABLE["frame_start"], dest="frame_start")
    _add_option(parser, "--replace", IMPORT_TABLE["replace"])
    parser.add_argument("--plain", action="store_false", dest="use_tcb", help=rpt_("Do not enable TCB on the tracks"))


_ADD_OPTIONS: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "bake": _add_bake,
    "enable": _add_enable,
    "free": lambda parser: _add_option(parser, "--discard-edits", FREE["discard_edits"]),
    "reduce": _add_reduce,
    "curves": _add_curves,
    "check": _add_check,
    "rotations": _add_rotations,
    "import": _add_import,
    "export": lambda parser: _add_exchange(parser, EXPORT),
    "import-table": _add_import_table,
    "export-table": _add_bone,
    "velocities": lambda parser: _add_option(parser, "--remove", VELOCITIES["remove"]),
}
"""The functions that add the options of verbs with more than the common options."""


def _add_option(parser: Any, argument: str, option: Option, **more: Any) -> None:
    """Add an option with its declared description, choices, limits and default."""
    lines = [rpt_(option.description), *(f"{value}: {rpt_(text)}" for value, (_, text) in option.choices.items())]
    text = ". ".join(lines)
    if option.kind == "FLAG":
        parser.add_argument(argument, action="store_true", help=text, **more)
        return
    default = more.get("default", option.default)
    if option.kind == "CHOICE":
        checks: dict[str, Any] = {"choices": [*option.choices]}
    else:
        checks = {"type": _number_of(option), "metavar": _METAVARS.get(option.kind, "NUMBER")}
    if isinstance(default, str | int | float):
        shown = f"{math.degrees(float(default)):g}" if option.kind == "ANGLE" else str(default)
        text = f"{text} ({rpt_('default: {:s}', shown)})"
    parser.add_argument(argument, help=text.replace("%", "%%"), **{"default": default, **checks, **more})


def _add_flag(parser: argparse.ArgumentParser, argument: str, text: str) -> None:
    parser.add_argument(argument, action="store_true", help=rpt_(text))


def _add_range(parser: Any, argument: str, text: str) -> None:
    parser.add_argument(argument, type=_number, nargs=2, metavar=("START", "END"), help=rpt_(text))


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
        raise argparse.ArgumentTypeError(
            rpt_("{:s} does not have the form ANGLE,PERCENT, such as 1,1, without negative numbers", text)
        )
    return math.radians(numbers[0]), numbers[1] / 100.0
