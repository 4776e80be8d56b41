# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert docstrings of functions and classes to Markdown, with links to docs/formulas."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import re
import textwrap
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

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
FUNCTIONS = {"retiming.ConstantSpeed"}
"""Callable classes that are not splines."""
FOR_BATCHES = {"batch", "chords", "curve", "prepared", "with_keys"}
"""Attributes of splines that only `interp.base_spline` uses."""
CITED = re.compile(r'docs/formulas,\s+("[^"]+"(?:,?\s+(?:and\s+)?"[^"]+")*)')
"""Headings of docs/formulas as named in docstrings."""


class DocstringMarkdown(NamedTuple):
    """Converter of docstrings to Markdown, for pages in one folder."""

    docs: str
    """Path from the pages to the folder docs."""
    level: int
    """Level of the heading of a function or class."""

    def sections(self, objects: Mapping[str, Any]) -> Iterator[str]:
        """Yield the section of each object."""
        for name in in_order(objects):
            item = objects[name]
            yield self._heading(name)
            if inspect.isclass(item):
                yield from self._class(name, item)
            elif inspect.isfunction(item):
                yield _signature(name, item)
                yield self.text_of(item)
            else:
                choices = typing.get_args(item)
                yield f"One of {', '.join(map(repr, choices))}.\n" if choices else f"{item!r}\n"

    def _heading(self, name: str, depth: int = 0) -> str:
        return f"{'#' * (self.level + depth)} `{name}`\n"

    def _class(self, name: str, cls: type) -> Iterator[str]:
        """Yield the docstring of a class, and the sections of its members."""
        fields = list(_fields(cls))
        if not fields:
            yield _signature(name, cls)
        yield self.text_of(cls, fields)
        for member, attribute in _members(cls):
            is_call = member == "__call__"
            yield self._heading(f"{name}(…)" if is_call else f"{name}.{member}", 1)
            if not isinstance(attribute, property):
                instance = "function" if name in FUNCTIONS else "spline"
                # Class methods are bound. A plain function also has the parameter `self`.
                is_bound = not inspect.isfunction(attribute)
                method = getattr(cls, member)
                yield _signature(instance if is_call else f"{name}.{member}", method, skipped=0 if is_bound else 1)
            yield self.text_of(attribute if isinstance(attribute, property) else getattr(cls, member))

    def text_of(self, item: Any, fields: Sequence[str] = ()) -> str:
        """Return a docstring as Markdown: its paragraphs, the fields, and its sections as lists."""
        docstring = inspect.getdoc(item) or ""
        head, *titles_and_bodies = re.split(r"^([A-Z]\w+)\n-+\n", docstring, flags=re.MULTILINE)
        parts = [self._paragraphs(head)]
        if fields:
            parts.append("**Attributes**\n\n" + "\n".join(fields) + "\n")
        annotations = item.__annotations__ if inspect.isfunction(item) else {}
        for title, body in zip(titles_and_bodies[::2], titles_and_bodies[1::2], strict=True):
            parts.append(f"**{title}**\n")
            parts.append(self._list(body, annotations) if title in LISTS else self._paragraphs(body))
        return "\n".join(part for part in parts if part)

    def _list(self, body: str, annotations: Mapping[str, Any]) -> str:
        """Return a section as a list of its items, with their paragraphs."""
        lines: list[str] = []
        for entry in re.split(r"\n(?=\S)", body.strip()):
            head, _, text = entry.partition("\n")
            names, _, kind = head.partition(" : ")
            kind = kind or _plain(str(annotations.get(names, "")))
            # Return values have a type, possibly with a shape, but no name.
            separate = [name.strip().lstrip("*") for name in names.split(",")]
            separate = separate if all(name.isidentifier() for name in separate) else [names]
            title = ", ".join(f"**{name}**" for name in separate) if kind or text else names
            kind = f": {kind}" if kind else ""
            description = f". {self._linked(' '.join(text.split()))}" if text.strip() else ""
            lines.append(f"- {title}{kind}{description}")
        return "\n".join(lines) + "\n"

    def _paragraphs(self, body: str) -> str:
        """Return paragraphs, with examples and indented text in fences."""
        parts = []
        for paragraph in re.split(r"\n\s*\n", body.strip("\n")):
            if paragraph.lstrip().startswith(">>>"):
                parts.append(f"```pycon\n{textwrap.dedent(paragraph)}\n\n```\n")
            elif paragraph.startswith("    "):
                parts.append(f"```text\n{textwrap.dedent(paragraph)}\n```\n")
            elif paragraph.strip():
                parts.append(self._linked(paragraph) + "\n")
        return "\n".join(parts)

    def _linked(self, text: str) -> str:
        """Replace quoted headings of docs/formulas with links."""

        def link(cited: re.Match[str]) -> str:
            return re.sub(r'"([^"]+)"', lambda name: self.formula_link(name[1]), cited[1])

        return CITED.sub(link, text)

    def formula_link(self, heading: str) -> str:
        """Return a link to a section of docs/formulas."""
        return f"[{heading}]({self.docs}/formulas/{formula_pages()[heading].name}#{anchor(heading)})"


def in_order(objects: Mapping[str, Any]) -> list[str]:
    """Return the names of functions, then of classes, then of constants."""

    def rank(name: str) -> tuple[bool, bool, str]:
        return not inspect.isfunction(objects[name]), not inspect.isclass(objects[name]), name

    return sorted(objects, key=rank)


def summary(item: Any) -> str:
    """Return the first sentence of a docstring, or the value of a constant."""
    if inspect.isclass(item) or inspect.isroutine(item):
        paragraph = " ".join((inspect.getdoc(item) or "").split("\n\n")[0].split())
        return re.split(r"(?<=[.])\s", paragraph)[0].rstrip(".")
    return " or ".join(map(repr, typing.get_args(item))) or repr(item)


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties that have a docstring, or only the properties of data classes."""
    only_data = dataclasses.is_dataclass(cls)
    for name, attribute in vars(cls).items():
        is_public = name == "__call__" or not name.startswith("_")
        is_method = not only_data and inspect.isroutine(getattr(cls, name))
        is_shown = is_public and name not in FOR_BATCHES and (is_method or isinstance(attribute, property))
        if is_shown and attribute.__doc__:
            yield name, attribute


def _fields(cls: type) -> Iterator[str]:
    """Yield a line for each field that the docstring does not list, with the text below the field."""
    if _lists_parameters(cls):
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
    factory = re.fullmatch(r"field\(default_factory=(\w+)\)", source)
    return f"{factory[1]}()" if factory else source


def _signature(name: str, function: Any, skipped: int = 0) -> str:
    """Return a call with names and defaults in a fence, without the first `skipped` parameters.

    Types are omitted if the docstring lists them.
    """
    try:
        signature = inspect.signature(function)
    except ValueError:
        return ""
    parameters = list(signature.parameters.values())[skipped:]
    if _lists_parameters(function):
        parameters = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    text = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    # The order of sets varies.
    text = re.sub(r"frozenset\(\{(.*?)\}\)", lambda match: f"{{{', '.join(sorted(match[1].split(', ')))}}}", text)
    # Annotations are strings, because their evaluation is postponed.
    text = re.sub(r": '([^']*)'", r": \1", re.sub(r': "([^"]*)"', r": \1", text))
    return f"```text\n{name}{text}\n```\n"


def _lists_parameters(item: Any) -> bool:
    """Return whether the docstring describes parameters or attributes in a section."""
    return re.search(r"^(Parameters|Attributes)\n---", inspect.getdoc(item) or "", re.MULTILINE) is not None


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
