# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the pages of docs/reference/api and docs/reference/interp from the docstrings.

    python tools/api_pages.py [FOLDER]

The first folder documents the functions and classes of `animation` and the operators, and needs Blender as a Python
module. The second folder documents `interp`. Each folder has an index that links every name. tests/docs/test_api.py
compares the pages with the docstrings, and runs their examples.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import itertools
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.docstring_markdown import DocstringMarkdown, anchor, in_order, summary
from tools.operator_pages import operator_section, operators

ROOT = Path(__file__).resolve().parents[1]
MARKDOWN = DocstringMarkdown(docs="../..", level=2)
TIMING = ("retimed", "ArcLength", "ConstantSpeed", "FunctionKeys")
"""Names of `interp.retiming` on its page."""
FITS = {
    "curves": ("fit_many", "handles", "Fit", "Knots"),
    "handles": ("fit_handles", "Handles"),
    "reduction": ("reduce_tracks", "low_pass", "SampledTracks", "Reduced"),
    "tcb_parameters": ("fit_parameters", "SplineToFit", "sample_frames"),
}
"""Names from the modules of `interp.fitting` on their pages."""
TURNS = (
    "follow_axis_angle",
    "follow_euler",
    "nearest_turns",
    "rotations_to_turns",
    "turn_sign",
    "turns_of_axis_angle",
    "turns_of_euler",
    "turns_to_rotations",
    "unroll_signs",
)
"""Names of `interp.rotations` on a separate page."""
GENERATED = "<!-- Made by tools/api_pages.py from the docstrings: edit those, then `make api`. -->"


class Outline(NamedTuple):
    """The contents of a page of docs/reference/api."""

    title: str
    introduction: str
    names: tuple[str, ...]
    """Names without `animation.`, or the modules of operators."""


class Page(NamedTuple):
    title: str
    introduction: str
    summaries: Mapping[str, str]
    """Text of the index for each documented name, in the order of the index."""
    sections: Iterable[str]


SCRIPTS = {
    "enable": Outline(
        "Enable, restore and remove",
        "Enable TCB on tracks, free bakes, and remove TCB.",
        (
            "enable",
            "enable_many",
            "free",
            "free_many",
            "restore",
            "restore_many",
            "apply",
            "apply_many",
            "remove",
            "remove_many",
        ),
    ),
    "bake": Outline(
        "Bake",
        "Bake tracks as samples or curves, or play them with handles.",
        ("bake", "bake_many", "bake_in_world", "bake_in_world_many", "Options", "ROTATION_TOLERANCE", "SAMPLE_LIMIT"),
    ),
    "keys": Outline(
        "Keys and tracks",
        "Set parameters of keys, choose methods of tracks, and read or write whole tracks as arrays.",
        (
            "key_set",
            "key_set_many",
            "choose",
            "choose_many",
            "find_track",
            "track_keys",
            "TrackKeys",
            "get_keys",
            "set_keys",
            "KeyArrays",
        ),
    ),
    "rotations": Outline(
        "Rotations",
        "Key all channels of rotations, and repair flips and jumps.",
        (
            "key_whole",
            "key_whole_many",
            "find_rotation_faults",
            "fix_rotations",
            "fix_rotations_many",
            "RotationFault",
        ),
    ),
    "timing": Outline(
        "Timing and velocities",
        "Retime a track independently of its keys, and write its velocities.",
        ("retime", "remove_retiming", "write_velocities", "write_velocities_many"),
    ),
    "files": Outline(
        "Tables and restored curves",
        "Read and write tables of keys, and restore the curves of FBX and glTF files.",
        ("import_table", "export_table", "TableKeys", "restore_curves"),
    ),
    "checks": Outline(
        "Checks",
        "Check cameras, scales and joints.",
        ("check", "check_many", "Checks", "Violation", "joint_gap", "Gap"),
    ),
    "relax": Outline(
        "Relax",
        "Change keys as little as possible to satisfy a condition.",
        ("relax", "Relaxation", "StaysAbove", "StaysAt", "TurnsWithin"),
    ),
    "reduce": Outline(
        "Reduce",
        "Reduce dense curves to few keys.",
        ("reduce", "reduce_many", "keys_by_error", "KeyCount", "Reduction"),
    ),
    "reports": Outline(
        "Reports, errors and datablocks",
        "Read results and errors, and find the datablocks of an object or a file.",
        ("Report", "Finding", "AnimationError", "of_file", "of_object", "__version__"),
    ),
}
"""Pages of docs/reference/api on `animation`, by file name."""
OPERATORS = {
    "operators_bake": Outline(
        "Operators: bake, check and reduce",
        "Operators on the selection.",
        ("bake", "checks", "gltf", "messages", "reduce", "relax"),
    ),
    "operators_keys": Outline(
        "Operators: keys and tracks",
        "Operators on keys, tracks, rotations and timing.",
        ("frame_function", "key_copy_paste", "key_drag", "key_set", "keys", "preset", "rotations", "tracks"),
    ),
    "operators_files": Outline(
        "Operators: files and velocities",
        "Operators that import, export and write velocities.",
        ("restore_curves", "tables", "three_ds", "velocities"),
    ),
}
"""Pages of docs/reference/api on operators, by file name."""
SCRIPTS_INDEX = f"""\
# Functions and operators for scripts

{GENERATED}

Scripts can rely on these names: the functions and classes of `animation`, and the operators.
To get started, see [Python](../../automate/python.md). The mathematics has [pages of its own](../interp/index.md). Rows
for operators give the label of the button.

## Scene of the examples

The examples run in a scene with an object *Ball* and an armature *Rig*. The location and the Euler rotation of *Ball*
have keys at frames 1, 20 and 40. *Rig* has the bones *upperarm.L*, *forearm.L* and *foot.L*. The location of *foot.L*
has keys at frames 1, 20, 30 and 60.
"""
SCRIPTS_BEGIN = """\
Each example runs in [the same scene](index.md#scene-of-the-examples) and begins with

```pycon
>>> import sys
>>> import addon_utils, bpy
>>> package = next(name for name in sys.modules if name.endswith(".tcb_animation") and addon_utils.check(name)[1])
>>> animation = sys.modules[f"{package}.animation"]
>>> ball, rig = bpy.data.objects["Ball"], bpy.data.objects["Rig"]

```
"""
OPERATORS_BEGIN = """\
Blender silently clamps numbers to the property's range. For example, `bpy.ops.tcb.key_set(tension=3)` sets the tension
to 1, but `animation.key_set` raises ValueError.
"""
MATHEMATICS_INDEX = f"""\
# The mathematics for scripts: `interp`

{GENERATED}

`interp` makes splines of keys, and needs only NumPy. Import it from a checkout, from the package
[tcb-splines](../../automate/package.md), or from the extension. [Splines](../../splines/README.md) has the classes of
all methods, and [Formulas](../../formulas/README.md) the derivations. For Blender's animation, see the [functions for
scripts](../api/index.md).
"""
MATHEMATICS_BEGIN = """\
The examples begin with

```pycon
>>> import numpy as np
>>> from tcb_splines import Keys, SplineBatch, evaluate_many, retiming, rotations, tcb
>>> from tcb_splines.fitting import Request, curves, handles, reduction, tcb_parameters
>>> np.set_printoptions(precision=6, suppress=True)

```
"""
SPLINE_PAGES = ("tcb", "lightwave_kochanek_bartels", "cubic")
"""Modules of `interp.splines` whose classes, documented in docs/splines, are linked from the index of `interp`."""


def interp_pages() -> dict[str, str]:
    """Return the texts of the pages of docs/reference/interp, by file name."""
    interp, rotations = importlib.import_module("interp"), interp_module("rotations")
    retiming, fitting = interp_module("retiming"), interp_module("fitting")
    spline_bases = {
        "base_spline.BaseSpline": interp_module("base_spline").BaseSpline,
        "base_spline.Derivative": interp_module("base_spline").Derivative,
        "base_spline.ComponentSpline": interp_module("base_spline").ComponentSpline,
        "cubics.PiecewisePolynomial": interp_module("cubics").PiecewisePolynomial,
        "rotations.base_rotation_spline.TurnedSpline": interp_module("rotations.base_rotation_spline").TurnedSpline,
    }
    other_rotations = [name for name in rotations.__all__ if name not in TURNS]
    fits = {name: interp_module(f"fitting.{name}") for name in FITS}
    fit_objects = {name: objects_of(name, module, FITS[name]) for name, module in fits.items()}
    keys = {name: getattr(interp, name) for name in interp.__all__ if not inspect.ismodule(getattr(interp, name))}
    text_of = MARKDOWN.text_of
    pages = {
        "keys": object_page("Keys and evaluation", "Keys, and many splines at once.", keys),
        "splines": object_page("Methods of all splines", "Methods of every spline.", spline_bases),
        "rotations": object_page("Rotations", text_of(rotations), objects_of("rotations", rotations, other_rotations)),
        "turns": object_page(
            "Turns and channels of rotations",
            "Whole turns, signs, and the numbers of channels.",
            objects_of("rotations", rotations, TURNS),
        ),
        "retiming": object_page("Retiming", text_of(retiming), objects_of("retiming", retiming, TIMING)),
        "curves": object_page(
            "Fitted curves", text_of(fits["curves"]), {"Request": fitting.Request, **fit_objects["curves"]}
        ),
        "handles": object_page("Fitted handles", text_of(fits["handles"]), fit_objects["handles"]),
        "reduction": object_page("Fewest keys", text_of(fits["reduction"]), fit_objects["reduction"]),
        "tcb_parameters": object_page(
            "Fitted TCB parameters", text_of(fits["tcb_parameters"]), fit_objects["tcb_parameters"]
        ),
    }
    index = index_of(MATHEMATICS_INDEX, pages)
    for name in SPLINE_PAGES:
        summaries = {title: summary(cls) for title, cls in splines_of(name, interp_module(f"splines.{name}")).items()}
        index += "\n" + index_table(f"`interp.splines.{name}`", f"../../splines/{name}.md", summaries)
    return {"index.md": index, **texts_of(pages, MATHEMATICS_BEGIN)}


def scripts_pages(animation: ModuleType) -> dict[str, str]:
    """Return the texts of the pages of docs/reference/api, by file name.

    `animation` is the module of the package. The operators of the extension must be registered.
    """
    check_each_on_one_page(SCRIPTS, animation.__all__)
    registered = operators(animation)
    check_each_on_one_page(OPERATORS, {module for module, _rna in registered.values()})
    functions = {
        file: object_page(outline.title, outline.introduction, objects_of("animation", animation, outline.names))
        for file, outline in SCRIPTS.items()
    }
    operator_pages = {}
    for file, outline in OPERATORS.items():
        properties = {name: rna for name, (module, rna) in sorted(registered.items()) if module in outline.names}
        operator_pages[file] = Page(
            outline.title,
            outline.introduction,
            {f"bpy.ops.{name}": rna.name for name, rna in properties.items()},
            itertools.starmap(operator_section, properties.items()),
        )
    return {
        "index.md": index_of(SCRIPTS_INDEX, functions | operator_pages),
        **texts_of(functions, SCRIPTS_BEGIN),
        **texts_of(operator_pages, OPERATORS_BEGIN),
    }


def check_each_on_one_page(outlines: Mapping[str, Outline], names: Iterable[str]) -> None:
    """Raise ValueError if a name is unknown, or is not on exactly one page."""
    counts = Counter(name for outline in outlines.values() for name in outline.names)
    expected = set(names)
    faults = {
        "on no page": sorted(expected - counts.keys()),
        "unknown": sorted(counts.keys() - expected),
        "on several pages": sorted(name for name, count in counts.items() if count > 1),
    }
    if any(faults.values()):
        raise ValueError("; ".join(f"{fault}: {', '.join(listed)}" for fault, listed in faults.items() if listed))


def object_page(title: str, introduction: str, objects: Mapping[str, Any]) -> Page:
    """Return a page on functions, classes and constants, by their names on the page."""
    summaries = {name: summary(objects[name]) for name in in_order(objects)}
    return Page(title, introduction, summaries, MARKDOWN.sections(objects))


def texts_of(pages: Mapping[str, Page], begin: str) -> dict[str, str]:
    """Return the text of each page by file name. `begin` precedes the sections."""
    texts = {}
    for name, page in pages.items():
        head = f"# {page.title}\n\n{GENERATED}\n\n{page.introduction.strip()}\n\n[All names](index.md)\n\n{begin}\n"
        texts[f"{name}.md"] = (head + "\n".join(page.sections)).rstrip("\n") + "\n"
    return texts


def index_of(head: str, pages: Mapping[str, Page]) -> str:
    """Return an index of pages, with a table for each page."""
    tables = (index_table(page.title, f"{name}.md", page.summaries) for name, page in pages.items())
    return "\n".join([head, *tables])


def index_table(title: str, path: str, summaries: Mapping[str, str]) -> str:
    """Return a heading and a table that links each name on a page."""
    rows = [
        f"| [`{name}`]({path}#{anchor(f'`{name}`')}) | {text.replace('|', '&#124;')} |"
        for name, text in summaries.items()
    ]
    return "\n".join([f"## {title}\n", "| | |", "| --- | --- |", *rows, ""])


def interp_module(name: str) -> ModuleType:
    return importlib.import_module(f"interp.{name}")


def objects_of(prefix: str, module: ModuleType, names: Sequence[str]) -> dict[str, Any]:
    """Return a module's objects with these names, by their names on the page."""
    return {f"{prefix}.{name}": getattr(module, name) for name in names}


def splines_of(prefix: str, module: ModuleType) -> dict[str, type]:
    """Return the splines that a module defines, by their names on the page."""
    return {
        f"{prefix}.{name}": cls
        for name, cls in vars(module).items()
        if inspect.isclass(cls) and name.endswith("Spline") and cls.__module__ == module.__name__
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the API reference from the docstrings.")
    parser.add_argument(
        "folder", nargs="?", type=Path, default=ROOT / "docs" / "reference", help="default: docs/reference/"
    )
    folder = parser.parse_args().folder
    # Fail before any page is written if Blender is missing.
    import bpy  # noqa: F401

    from tools import tcb

    write(folder / "interp", interp_pages())
    package = tcb.load(tcb.PACKAGE, "__init__.py", [str(ROOT)])
    package.register()
    animation = importlib.import_module(f"{package.__name__}.animation")
    write(folder / "api", scripts_pages(animation))
    tcb.end_process(0)


def write(folder: Path, pages: Mapping[str, str]) -> None:
    """Write the pages of a folder, and remove all other pages."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
