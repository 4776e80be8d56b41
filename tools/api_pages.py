# SPDX-License-Identifier: GPL-3.0-or-later
"""Write docs/reference/api.md and docs/reference/api_interp.md anew, from the docstrings.

    python tools/api_pages.py [FOLDER]

The first page has the functions and classes of `animation` and the operators, and needs Blender as a Python module; the
second has those of `interp`. tests/docs/test_api.py holds the pages against the docstrings, and runs their examples.
"""

from __future__ import annotations

import argparse
import ast
import dataclasses
import functools
import importlib
import inspect
import re
import sys
import textwrap
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

ROOT = Path(__file__).resolve().parents[1]
LISTS = {"Parameters", "Attributes", "Returns", "Raises"}
"""Sections of docstrings whose lines without indentation name what the others describe."""
CHECKED = {
    "Positive": "float",
    "NotNegative": "float",
    "Count": "int",
    "FrameRange": "(float, float)",
    "Point": "(float, float, float)",
    "Parameters": "Mapping[str, float]",
    "Progress": "Callable[[int, int], None]",
}
"""What annotations are called where arguments are checked, and what that means."""
TIMING = ("retimed", "ArcLength", "ConstantSpeed", "FunctionKeys")
"""What docs/reference/api_interp.md has of `interp.retiming`."""
FITS = {
    "curves": ("fit_many", "handles", "Fit", "Knots"),
    "handles": ("fit_handles", "Handles"),
    "reduction": ("reduce_tracks", "low_pass", "Part", "Reduced"),
}
"""What it has of the modules of `interp.fitting`."""
FUNCTIONS = {"retiming.ConstantSpeed"}
"""Classes that are called, and are no splines."""
FOR_BATCHES = {"batch", "chords", "curve", "prepared", "with_keys"}
"""What splines have for `interp.batch`."""
CITED = re.compile(r'docs/formulas,\s+("[^"]+"(?:,?\s+(?:and\s+)?"[^"]+")*)')
"""Headings of docs/formulas, as docstrings name them."""
OPERATOR_MODULES = ("tcb", "import_anim", "export_anim")
GENERATED = "<!-- Made by tools/api_pages.py from the docstrings: change those, then `make api`. -->"

SCRIPTS = f"""\
# Functions and operators for scripts

{GENERATED}

All names of `animation` and all operators that scripts can rely on. [Python](../automate/python.md) shows how to
install and find the extension, [Enable](../use/enable.md) what the buttons do, and [reports.md](../automate/reports.md)
what a report's numbers mean. The mathematics has [a page of its own](api_interp.md).

The examples run in a scene with the object *Ball*, whose location and Euler rotation are keyed at frames 1, 20 and 40,
and the armature *Rig* with the bones *upperarm.L*, *forearm.L* and *foot.L*, whose foot has a location keyed at 1, 20,
30 and 60. Each begins with

```pycon
>>> import bpy
>>> from bl_ext.user_default.tcb_animation import animation
>>> ball, rig = bpy.data.objects["Ball"], bpy.data.objects["Rig"]

```
"""
MATHEMATICS = f"""\
# The mathematics for scripts: `interp`

{GENERATED}

Keys in, motion out, with NumPy alone: in a checkout, or a copy of its folder `interp`, without Blender. Inside of
Blender it is `bl_ext.user_default.tcb_animation.interp`. [splines](../splines/README.md) has all splines,
[Formulas](../formulas/README.md) the formulas, [methods](../measurements/methods.md) a comparison, and [api.md](api.md)
the functions that work on Blender's animation.

The examples begin with

```pycon
>>> import numpy as np
>>> from interp import Keys, SplineBatch, evaluate_many, retiming, rotations, tcb
>>> from interp.fitting import Request, curves, handles, reduction
>>> np.set_printoptions(precision=6, suppress=True)

```
"""


def interp_page() -> str:
    """Return the text of docs/reference/api_interp.md."""
    interp = importlib.import_module("interp")
    rotations, tcb = interp.rotations, interp.tcb
    components, cubics, cubic, others = (
        importlib.import_module(f"interp.{name}")
        for name in ("base_splines", "cubics", "splines.cubic", "splines.lightwave_kochanek_bartels")
    )
    base = {f"components.{name}": getattr(components, name) for name in ("BaseSpline", "ComponentSpline", "Derivative")}
    parts = [
        MATHEMATICS,
        *chapter("interp", {name: getattr(interp, name) for name in interp.__all__}),
        *chapter("What all splines have", {**base, "cubics.PiecewisePolynomial": cubics.PiecewisePolynomial}),
        *chapter("interp.tcb", splines_of("tcb", tcb), text_of(tcb)),
        *chapter(others.__name__, splines_of("lightwave_kochanek_bartels", others), text_of(others)),
        *chapter("interp.splines.cubic", splines_of("cubic", cubic), text_of(cubic)),
        *chapter(
            "interp.rotations",
            {f"rotations.{name}": getattr(rotations, name) for name in rotations.__all__},
            text_of(rotations),
        ),
        *chapter(
            "interp.retiming", named("retiming", interp_module("retiming"), TIMING), text_of(interp_module("retiming"))
        ),
    ]
    fitting = interp_module("fitting")
    parts += chapter(fitting.__name__, {"Request": fitting.Request}, text_of(fitting))
    for name, wanted in FITS.items():
        module = interp_module(f"fitting.{name}")
        parts += chapter(module.__name__, named(name, module, wanted), text_of(module))
    return "\n".join(parts)


def interp_module(name: str) -> ModuleType:
    return importlib.import_module(f"interp.{name}")


def named(prefix: str, module: ModuleType, names: Sequence[str]) -> dict[str, Any]:
    """Return what a module has of these names, by the names that the page has for them."""
    return {f"{prefix}.{name}": getattr(module, name) for name in names}


def splines_of(prefix: str, module: ModuleType) -> dict[str, Any]:
    """Return the splines of a module, by the names that the page has for them."""
    found = {name: each for name, each in vars(module).items() if inspect.isclass(each) and name.endswith("Spline")}
    return {f"{prefix}.{name}": each for name, each in found.items() if each.__module__ == module.__name__}


def scripts_page(animation: ModuleType) -> str:
    """Return the text of api.md, from the package's `animation`. The extension's operators are registered."""
    functions = {f"animation.{name}": getattr(animation, name) for name in animation.__all__}
    parts = [SCRIPTS, *chapter("animation", functions), OPERATORS, *operators(animation)]
    return "\n".join(parts)


def chapter(heading: str, objects: Mapping[str, Any], introduction: str = "") -> Iterator[str]:
    """Yield a chapter: what is called first, then what is made, then the rest."""
    yield f"## {heading}\n"
    if introduction:
        yield introduction
    modules = {name for name, each in objects.items() if inspect.ismodule(each)}
    functions = {name for name, each in objects.items() if inspect.isfunction(each)}
    classes = {name for name, each in objects.items() if inspect.isclass(each)}
    for kind in (functions, classes):
        for name in sorted(kind):
            yield from _described(name, objects[name])
    constants = sorted({*objects} - modules - functions - classes)
    for name in constants:
        yield f"### `{name}`\n"
        choices = typing.get_args(objects[name])
        yield f"One of {', '.join(map(repr, choices))}.\n" if choices else f"{objects[name]!r}\n"


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
    """Yield the public methods and properties that have a docstring; of what only holds data the properties."""
    only_data = dataclasses.is_dataclass(cls)
    for name, each in vars(cls).items():
        is_public = name == "__call__" or not name.startswith("_")
        is_method = not only_data and inspect.isroutine(getattr(cls, name))
        is_shown = is_public and name not in FOR_BATCHES and (is_method or isinstance(each, property))
        if is_shown and each.__doc__:
            yield name, each


def _fields(cls: type) -> Iterator[str]:
    """Yield a line for each field that has no place in the docstring, with the text that stands below it."""
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
            default = "" if field.value is None else f", default {_value(ast.unparse(field.value))}"
            kind = _plain(ast.unparse(field.annotation))
            yield f"- **{field.target.id}**: {kind}{default}" + (f". {text}" if text else "")


def _plain(annotation: str) -> str:
    """Return an annotation without the names that `animation.arguments` has for what is checked."""
    for name, plain in CHECKED.items():
        annotation = re.sub(rf"\b{name}\b", plain, annotation)
    return annotation


def _value(source: str) -> str:
    """Return what a field's default is, of one that is made for each instance what makes it."""
    made = re.fullmatch(r"field\(default_factory=(\w+)\)", source)
    return f"{made[1]}()" if made else source


def _signature(name: str, function: Any) -> str:
    """Return a call in a fence: names and defaults; types stand in the list of parameters."""
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
    # Annotations are strings, because they are evaluated late.
    text = re.sub(r": '([^']*)'", r": \1", re.sub(r': "([^"]*)"', r": \1", text))
    return f"```text\n{name}{text}\n```\n"


# Docstrings


def text_of(each: Any, fields: Sequence[str] = ()) -> str:
    """Return a docstring as Markdown: its paragraphs, and its sections as lists; after the paragraphs the fields."""
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
    """Return a section as a list of what is named, with the paragraphs on each."""
    lines: list[str] = []
    for entry in re.split(r"\n(?=\S)", body.strip()):
        head, _, text = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        kind = kind or _plain(str(annotations.get(names, "")))
        named = ", ".join(f"**{name.strip().lstrip('*')}**" for name in names.split(",")) if kind or text else names
        kind = f": {kind}" if kind else ""
        about = f". {_linked(' '.join(text.split()))}" if text.strip() else ""
        lines.append(f"- {named}{kind}{about}")
    return "\n".join(lines) + "\n"


def _paragraphs(body: str) -> str:
    """Return paragraphs; examples, and what is indented, in fences."""
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
    """Let the headings of docs/formulas be links."""

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
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


# Operators


OPERATORS = """\
## Operators

Blender limits a number to the range of its property without an error: `bpy.ops.tcb.key_set(tension=3)` sets 1, where
`animation.key_set` raises ValueError.
"""


def operators(package: ModuleType) -> Iterator[str]:
    """Yield the section of each operator of the package, with its properties."""
    import bpy

    owner = package.__name__.rpartition(".")[0]
    for module in OPERATOR_MODULES:
        for name in sorted(dir(getattr(bpy.ops, module))):
            cls = getattr(bpy.types, f"{module.upper()}_OT_{name}", None)
            if cls is not None and cls.__module__.startswith(f"{owner}.operators."):
                rna = getattr(getattr(bpy.ops, module), name).get_rna_type()
                yield f"### `bpy.ops.{module}.{name}`\n"
                yield f"*{rna.name}.* {' '.join(rna.description.split())}.\n"
                # These set what is given alone: Blender's defaults mean nothing.
                keeps = name in ("key_set", "track_choose")
                lines = [
                    _property(each, keeps)
                    for each in rna.properties
                    if each.identifier != "rna_type" and not each.identifier.startswith("filter_")
                ]
                if lines:
                    yield "\n".join(sorted(lines)) + "\n"


def _property(each: Any, keeps: bool) -> str:
    """Return the line of an operator's property; `keeps`: where it is not given, that stays as it is."""
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
    unset = "not given: stays as it is" if keeps else f"default {default}"
    return f"- **{each.identifier}**: {kind}, {unset}" + (f". {about}" if about else "")


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the pages of the API anew, from the docstrings.")
    parser.add_argument(
        "folder", nargs="?", type=Path, default=ROOT / "docs" / "reference", help="default: docs/reference/"
    )
    folder = parser.parse_args().folder
    import bpy  # noqa: F401

    from tools import tcb

    (folder / "api_interp.md").write_text(interp_page(), encoding="utf-8")
    package = tcb.load(tcb.PACKAGE, "__init__.py", [str(ROOT)])
    package.register()
    animation = importlib.import_module(f"{package.__name__}.animation")
    (folder / "api.md").write_text(scripts_page(animation), encoding="utf-8")
    tcb.end_process(0)


if __name__ == "__main__":
    main()
