# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the pages of docs/reference/api and docs/reference/interp from the docstrings.

    python tools/api_pages.py [FOLDER]

The first folder documents the functions and classes of `animation` and the operators, and needs Blender as a Python
module. The second folder documents `interp`. Each folder has an index that links every name. tests/docs/test_api.py
compares the pages with the docstrings, and runs their examples.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import functools
import importlib
import inspect
import itertools
import re
import sys
import textwrap
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

ROOT = Path(__file__).resolve().parents[1]
LISTS = {"Parameters", "Attributes", "Returns", "Raises"}
"""Sections of docstrings that describe named items in indented lines."""
CHECKED = {
    "Positive": "float",
    "NotNegative": "float",
    "Count": "int",
    "FrameRange": "(float, float)",
    "Point": "(float, float, float)",
    "Parameters": "Mapping[str, float]",
    "Progress": "Callable[[int, int], None]",
}
"""The names of annotations for checked arguments, and their meanings."""
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
FUNCTIONS = {"retiming.ConstantSpeed"}
"""Callable classes that are not splines."""
FOR_BATCHES = {"batch", "chords", "curve", "prepared", "with_keys"}
"""Attributes of splines that only `interp.base_spline` uses."""
CITED = re.compile(r'docs/formulas,\s+("[^"]+"(?:,?\s+(?:and\s+)?"[^"]+")*)')
"""Headings of docs/formulas as named in docstrings."""
OPERATOR_MODULES = ("tcb", "import_anim", "export_anim")
GENERATED = "<!-- Made by tools/api_pages.py from the docstrings: change those, then `make api`. -->"


class Page(NamedTuple):
    title: str
    introduction: str
    names: tuple[str, ...]
    """Names without `animation.`, or the modules of operators."""


SCRIPTS = {
    "enable": Page(
        "Enable, restore and remove",
        "Enable TCB on tracks, free bakes, and remove TCB.",
        (
            *("enable", "enable_many", "free", "free_many", "restore", "restore_many"),
            *("apply", "apply_many", "remove", "remove_many"),
        ),
    ),
    "bake": Page(
        "Bake",
        "Bake tracks as samples or curves, or play them with handles.",
        ("bake", "bake_many", "bake_in_world", "Options", "ROTATION_TOLERANCE", "SAMPLE_LIMIT"),
    ),
    "keys": Page(
        "Keys and tracks",
        "Set parameters of keys, choose methods of tracks, and read or write whole tracks as arrays.",
        (
            *("key_set", "key_set_many", "choose", "choose_many", "find_track", "track_keys", "TrackKeys"),
            *("get_keys", "set_keys", "KeyArrays"),
        ),
    ),
    "rotations": Page(
        "Rotations",
        "Key all channels of rotations, and repair flips and jumps.",
        (
            *("key_whole", "key_whole_many", "find_rotation_faults", "fix_rotations", "fix_rotations_many"),
            "RotationFault",
        ),
    ),
    "timing": Page(
        "Timing and velocities",
        "Retime a track independently of its keys, and write its velocities.",
        ("retime", "remove_retiming", "write_velocities", "Velocities"),
    ),
    "files": Page(
        "Tables and restored curves",
        "Read and write tables of keys, and restore the curves of FBX and glTF files.",
        ("import_table", "export_table", "TableKeys", "restore_curves"),
    ),
    "checks": Page(
        "Checks",
        "Check cameras, scales and joints.",
        ("check", "check_many", "Checks", "Violation", "joint_gap", "Gap"),
    ),
    "relax": Page(
        "Relax",
        "Change keys as little as possible to satisfy a condition.",
        ("relax", "Relaxation", "StaysAbove", "StaysAt", "TurnsWithin"),
    ),
    "reduce": Page(
        "Reduce",
        "Reduce dense curves to few keys.",
        ("reduce", "reduce_many", "keys_by_error", "KeyCount", "Reduction"),
    ),
    "reports": Page(
        "Reports, errors and datablocks",
        "Read results and errors, and find the datablocks of an object or a file.",
        ("Report", "Finding", "AnimationError", "of_file", "of_object", "__version__"),
    ),
}
"""Pages of docs/reference/api on `animation`, by file name."""
OPERATORS = {
    "operators_bake": Page(
        "Operators: bake, check and reduce",
        "Operators on the selection.",
        ("bake", "checks", "messages", "reduce", "relax"),
    ),
    "operators_keys": Page(
        "Operators: keys and tracks",
        "Operators on keys, tracks, rotations and timing.",
        ("key_drag", "keys", "preset", "rotations", "tracks"),
    ),
    "operators_files": Page(
        "Operators: files and velocities",
        "Operators that import, export and write velocities.",
        ("restore_curves", "tables", "three_ds"),
    ),
}
"""Pages of docs/reference/api on operators, by file name."""
SCRIPTS_INDEX = f"""\
# Functions and operators for scripts

{GENERATED}

Scripts can rely on these names: the functions and classes of `animation`, and the operators.
To get started, see [Python](../../automate/python.md). The mathematics has [pages of its own](../interp/index.md). Rows
for operators give the label of the button.
"""
SCRIPTS_BEGIN = """\
The examples run in a scene with an object *Ball* and an armature *Rig*. The location and the Euler rotation of *Ball*
have keys at frames 1, 20 and 40. *Rig* has the bones *upperarm.L*, *forearm.L* and *foot.L*. The location of *foot.L*
has keys at frames 1, 20, 30 and 60. Each example begins with

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
    bases = {
        "base_spline.BaseSpline": interp_module("base_spline").BaseSpline,
        "base_spline.Derivative": interp_module("base_spline").Derivative,
        "component_spline.ComponentSpline": interp_module("component_spline").ComponentSpline,
        "rotations.orientations.TurnedSpline": interp_module("rotations.orientations").TurnedSpline,
    }
    turns = {f"rotations.{name}": getattr(rotations, name) for name in TURNS}
    others = {f"rotations.{name}": getattr(rotations, name) for name in rotations.__all__ if name not in TURNS}
    fits = {name: interp_module(f"fitting.{name}") for name in FITS}
    shown = {name: named(name, module, FITS[name]) for name, module in fits.items()}
    keys = {name: each for name in interp.__all__ if not inspect.ismodule(each := getattr(interp, name))}
    pages: dict[str, tuple[str, str, dict[str, Any]]] = {
        "keys": ("Keys and evaluation", "Keys, and many splines at once.", keys),
        "splines": (
            "What all splines have",
            "Methods of every spline.",
            {**bases, "cubics.PiecewisePolynomial": interp_module("cubics").PiecewisePolynomial},
        ),
        "rotations": ("Rotations", text_of(rotations), others),
        "turns": ("Turns and channels of rotations", "Whole turns, signs, and the numbers of channels.", turns),
        "retiming": ("Retiming", text_of(retiming), named("retiming", retiming, TIMING)),
        "curves": (
            "Fitted curves",
            text_of(fits["curves"]),
            {"Request": fitting.Request, **shown["curves"]},
        ),
        "handles": ("Fitted handles", text_of(fits["handles"]), shown["handles"]),
        "reduction": ("Fewest keys", text_of(fits["reduction"]), shown["reduction"]),
        "tcb_parameters": ("Fitted TCB parameters", text_of(fits["tcb_parameters"]), shown["tcb_parameters"]),
    }
    splines = [(f"../../splines/{name}.md", name, splines_of(name, spline_module(name))) for name in SPLINE_PAGES]
    index = [MATHEMATICS_INDEX]
    for name, (title, _introduction, objects) in pages.items():
        index.append(index_table(title, f"{name}.md", {each: first_line(objects[each]) for each in in_order(objects)}))
    for path, name, objects in splines:
        index.append(
            index_table(f"`interp.splines.{name}`", path, {each: first_line(objects[each]) for each in objects})
        )
    texts = {
        f"{name}.md": page_of(title, introduction, MATHEMATICS_BEGIN, sections(objects))
        for name, (title, introduction, objects) in pages.items()
    }
    return {"index.md": "\n".join(index), **texts}


def scripts_pages(animation: ModuleType) -> dict[str, str]:
    """Return the texts of the pages of docs/reference/api, by file name.

    `animation` is the module of the package. The operators of the extension must be registered.
    """
    functions = one_page_each(SCRIPTS, animation.__all__)
    registered = operators(animation)
    one_page_each(OPERATORS, {module for module, _rna in registered.values()})
    index, texts = [SCRIPTS_INDEX], {}
    for name, page in functions.items():
        objects = {f"animation.{each}": getattr(animation, each) for each in page.names}
        lines = {each: first_line(objects[each]) for each in in_order(objects)}
        index.append(index_table(page.title, f"{name}.md", lines))
        texts[f"{name}.md"] = page_of(page.title, page.introduction, SCRIPTS_BEGIN, sections(objects))
    for name, page in OPERATORS.items():
        shown = {each: rna for each, (module, rna) in sorted(registered.items()) if module in page.names}
        lines = {f"bpy.ops.{each}": rna.name for each, rna in shown.items()}
        index.append(index_table(page.title, f"{name}.md", lines))
        parts = itertools.starmap(operator_section, shown.items())
        texts[f"{name}.md"] = page_of(page.title, page.introduction, OPERATORS_BEGIN, parts)
    return {"index.md": "\n".join(index), **texts}


def one_page_each(pages: Mapping[str, Page], names: Iterable[str]) -> Mapping[str, Page]:
    """Return the pages. Raises ValueError if a name is unknown, or is not on exactly one page."""
    placed = sorted(name for page in pages.values() for name in page.names)
    if placed != sorted(names):
        raise ValueError(f"not on exactly one page: {sorted({*placed} ^ {*names}) or placed}")
    return pages


def page_of(title: str, introduction: str, begin: str, parts: Iterable[str]) -> str:
    """Return the text of a page.

    Its headings are one level higher, and its file is one folder deeper, than in a chapter.
    """
    text = "\n".join(parts).replace("](../", "](../../")
    body = re.sub(r"^#(##+ )", r"\1", text, flags=re.MULTILINE)
    head = introduction.strip("\n").replace("](../", "](../../")
    return f"# {title}\n\n{GENERATED}\n\n{head}\n\n[All names](index.md)\n\n{begin}\n{body}".rstrip("\n") + "\n"


def index_table(title: str, path: str, lines: Mapping[str, str]) -> str:
    """Return a heading and a table that links each name on a page."""
    rows = [
        f"| [`{name}`]({path}#{anchor(f'`{name}`')}) | {text.replace('|', '&#124;')} |" for name, text in lines.items()
    ]
    return "\n".join([f"## {title}\n", "| | |", "| --- | --- |", *rows, ""])


def first_line(each: Any) -> str:
    """Return the first sentence of a docstring, or the value of a constant."""
    if inspect.isclass(each) or inspect.isroutine(each):
        paragraph = " ".join((inspect.getdoc(each) or "").split("\n\n")[0].split())
        return re.split(r"(?<=[.])\s", paragraph)[0].rstrip(".")
    return " or ".join(map(repr, typing.get_args(each))) or repr(each)


def spline_module(name: str) -> ModuleType:
    return importlib.import_module(f"interp.splines.{name}")


def interp_module(name: str) -> ModuleType:
    return importlib.import_module(f"interp.{name}")


def named(prefix: str, module: ModuleType, names: Sequence[str]) -> dict[str, Any]:
    """Return a module's objects with these names, by their names on the page."""
    return {f"{prefix}.{name}": getattr(module, name) for name in names}


def splines_of(prefix: str, module: ModuleType) -> dict[str, Any]:
    """Return the splines of a module by their names on the page."""
    found = {name: each for name, each in vars(module).items() if inspect.isclass(each) and name.endswith("Spline")}
    return {f"{prefix}.{name}": each for name, each in found.items() if each.__module__ == module.__name__}


def in_order(objects: Mapping[str, Any]) -> list[str]:
    """Return the names of functions, then of classes, then of constants."""
    kinds = (
        inspect.isfunction,
        inspect.isclass,
        lambda each: not inspect.isfunction(each) and not inspect.isclass(each),
    )
    return [name for is_kind in kinds for name in sorted(objects) if is_kind(objects[name])]


def sections(objects: Mapping[str, Any]) -> Iterator[str]:
    """Yield the section of each object."""
    for name in in_order(objects):
        each = objects[name]
        if inspect.isfunction(each) or inspect.isclass(each):
            yield from _described(name, each)
        else:
            yield f"### `{name}`\n"
            choices = typing.get_args(each)
            yield f"One of {', '.join(map(repr, choices))}.\n" if choices else f"{each!r}\n"


def _described(name: str, each: Any) -> Iterator[str]:
    """Yield the section of a function or class."""
    yield f"### `{name}`\n"
    if not inspect.isclass(each):
        yield _signature(name, each)
        yield text_of(each)
        return
    fields = list(_fields(each))
    if not fields:
        yield _signature(name, each)
    yield text_of(each, fields)
    for member, method in _members(each):
        if isinstance(method, property):
            yield f"#### `{name}.{member}`\n"
            yield text_of(method)
        else:
            function = getattr(each, member)
            title = f"{name}(…)" if member == "__call__" else f"{name}.{member}"
            yield f"#### `{title}`\n"
            called = "function" if name in FUNCTIONS else "spline"
            yield _signature(called if member == "__call__" else f"{name}.{member}", function)
            yield text_of(function)


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties that have a docstring, or only the properties of data classes."""
    only_data = dataclasses.is_dataclass(cls)
    for name, each in vars(cls).items():
        is_public = name == "__call__" or not name.startswith("_")
        is_method = not only_data and inspect.isroutine(getattr(cls, name))
        is_shown = is_public and name not in FOR_BATCHES and (is_method or isinstance(each, property))
        if is_shown and each.__doc__:
            yield name, each


def _fields(cls: type) -> Iterator[str]:
    """Yield a line for each field that the docstring does not list, with the text below the field."""
    told = inspect.getdoc(cls) or ""
    if "Attributes\n---" in told or "Parameters\n---" in told:
        return
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(node, ast.ClassDef)
    for field, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            text = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                text = " ".join(str(after.value.value).split())
            default = "" if field.value is None else f", default {_value(cls, field)}"
            kind = _plain(ast.unparse(field.annotation))
            yield f"- **{field.target.id}**: {kind}{default}" + (f". {text}" if text else "")


def _plain(annotation: str) -> str:
    """Return an annotation without the names of `animation.arguments` for checked types."""
    for name, plain in CHECKED.items():
        annotation = re.sub(rf"\b{name}\b", plain, annotation)
    return annotation


def _value(cls: type, field: ast.AnnAssign) -> str:
    """Return the default of a field, or its factory."""
    assert isinstance(field.target, ast.Name)
    assert field.value is not None
    default = getattr(cls, field.target.id, dataclasses.MISSING)
    if isinstance(default, str | int | float | None):
        return repr(default)
    source = ast.unparse(field.value)
    made = re.fullmatch(r"field\(default_factory=(\w+)\)", source)
    return f"{made[1]}()" if made else source


def _signature(name: str, function: Any) -> str:
    """Return a call with names and defaults in a fence. The list of parameters contains the types."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return ""
    told = re.search(r"^(Parameters|Attributes)\n---", inspect.getdoc(function) or "", re.MULTILINE) is not None
    parameters = [
        each.replace(annotation=inspect.Parameter.empty) if told else each for each in signature.parameters.values()
    ]
    text = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    text = re.sub(r"frozenset\(\{(.*?)\}\)", lambda found: f"{{{', '.join(sorted(found[1].split(', ')))}}}", text)
    # Annotations are strings, because their evaluation is postponed.
    text = re.sub(r": '([^']*)'", r": \1", re.sub(r': "([^"]*)"', r": \1", text))
    return f"```text\n{name}{text}\n```\n"


# Docstrings


def text_of(each: Any, fields: Sequence[str] = ()) -> str:
    """Return a docstring as Markdown: its paragraphs, the fields, and its sections as lists."""
    told = inspect.getdoc(each) or ""
    head, *rest = re.split(r"^([A-Z]\w+)\n-+\n", told, flags=re.MULTILINE)
    parts = [_paragraphs(head)]
    if fields:
        parts.append("**Attributes**\n\n" + "\n".join(fields) + "\n")
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        parts.append(f"**{title}**\n")
        parts.append(_list(body, _annotations(each)) if title in LISTS else _paragraphs(body))
    return "\n".join(part for part in parts if part)


def _annotations(each: Any) -> Mapping[str, Any]:
    return getattr(each, "__annotations__", {}) if inspect.isfunction(each) else {}


def _list(body: str, annotations: Mapping[str, Any]) -> str:
    """Return a section as a list of its items, with their paragraphs."""
    lines: list[str] = []
    for entry in re.split(r"\n(?=\S)", body.strip()):
        head, _, text = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        kind = kind or _plain(str(annotations.get(names, "")))
        # Return values have a type, possibly with a shape, but no name.
        several = [name.strip().lstrip("*") for name in names.split(",")]
        several = several if all(name.isidentifier() for name in several) else [names]
        named = ", ".join(f"**{name}**" for name in several) if kind or text else names
        kind = f": {kind}" if kind else ""
        about = f". {_linked(' '.join(text.split()))}" if text.strip() else ""
        lines.append(f"- {named}{kind}{about}")
    return "\n".join(lines) + "\n"


def _paragraphs(body: str) -> str:
    """Return paragraphs, with examples and indented text in fences."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", body.strip("\n")):
        if paragraph.lstrip().startswith(">>>"):
            parts.append(f"```pycon\n{textwrap.dedent(paragraph)}\n\n```\n")
        elif paragraph.startswith("    "):
            parts.append(f"```text\n{textwrap.dedent(paragraph)}\n```\n")
        elif paragraph.strip():
            parts.append(_linked(paragraph) + "\n")
    return "\n".join(parts)


def _linked(text: str) -> str:
    """Replace quoted headings of docs/formulas with links."""

    def link(cited: re.Match[str]) -> str:
        return re.sub(r'"([^"]+)"', lambda name: formula_link(name[1]), cited[1])

    return CITED.sub(link, text)


def formula_link(heading: str) -> str:
    """Return a link to a section of docs/formulas, for pages in another folder of docs."""
    return f"[{heading}](../formulas/{formula_pages()[heading].name}#{anchor(heading)})"


@functools.cache
def formula_pages() -> dict[str, Path]:
    """Return the page of each heading in docs/formulas."""
    return {
        heading: page
        for page in (ROOT / "docs" / "formulas").glob("*.md")
        for heading in re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    }


def anchor(heading: str) -> str:
    """Return the anchor that GitHub creates for a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


# Operators


def operators(package: ModuleType) -> dict[str, tuple[str, Any]]:
    """Return the module and the properties of each operator of the package, by its name after `bpy.ops.`."""
    import bpy

    folder = f"{package.__name__.rpartition('.')[0]}.operators."
    found = {}
    for module in OPERATOR_MODULES:
        for name in sorted(dir(getattr(bpy.ops, module))):
            cls = getattr(bpy.types, f"{module.upper()}_OT_{name}", None)
            if cls is not None and cls.__module__.startswith(folder):
                rna = getattr(getattr(bpy.ops, module), name).get_rna_type()
                found[f"{module}.{name}"] = cls.__module__.removeprefix(folder), rna
    return found


def operator_section(name: str, rna: Any) -> str:
    """Return the section of an operator, with its properties."""
    parts = [f"### `bpy.ops.{name}`\n", f"*{rna.name}.* {' '.join(rna.description.split())}.\n"]
    # These operators set only the given properties and ignore Blender's defaults.
    keeps = name in ("tcb.key_set", "tcb.track_choose")
    lines = [
        _property(each, keeps)
        for each in rna.properties
        if each.identifier != "rna_type" and not each.identifier.startswith("filter_")
    ]
    if lines:
        parts.append("\n".join(sorted(lines)) + "\n")
    return "\n".join(parts)


def _property(each: Any, keeps: bool) -> str:
    """Return the line of an operator's property. If `keeps`, an omitted property changes nothing."""
    is_flag = each.type == "ENUM" and each.is_enum_flag
    default: Any = ", ".join(sorted(each.default_flag)) if is_flag else getattr(each, "default", None)
    kind = each.type.lower()
    if each.type in ("INT", "FLOAT") and each.array_length:
        kind = f"{each.array_length} {kind}s"
        default = ", ".join(f"{number:g}" for number in each.default_array)
    elif each.type == "FLOAT":
        default = f"{default:g}"
    elif each.type == "STRING":
        default = repr(default)
    elif each.type == "ENUM":
        items = [item.identifier for item in each.enum_items]
        of = "set" if is_flag else "one"
        kind = f"{of} of {', '.join(items)}" if items else "a name"
    elif each.type == "COLLECTION":
        kind, default = "list", "empty"
    about = " ".join(each.description.split())
    if each.identifier.endswith("_of_50"):
        about = f"{about}; as 0 to 50"
    unset = "unchanged if not given" if keeps else f"default {default}"
    return f"- **{each.identifier}**: {kind}, {unset}" + (f". {about}" if about else "")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the pages of the API anew, from the docstrings.")
    parser.add_argument(
        "folder", nargs="?", type=Path, default=ROOT / "docs" / "reference", help="default: docs/reference/"
    )
    folder = parser.parse_args().folder
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
