# SPDX-License-Identifier: GPL-3.0-or-later
"""Read presets of parameters as data, without running code from a file.

Blender's preset system writes Python: a line that imports Blender's module, a line that defines the name `key`, and a
line like ``key.tension = 0.5`` for each parameter.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator

from .errors import FileError
from .interp import Text, n_

KEY_LINE = "key = bpy.context.window_manager.tcb_preset"
_MAX_BYTES = 65_536
"""The maximum size in bytes. Blender writes about 200 bytes."""


class PresetError(FileError):
    """A file that is not a preset. Lines are counted from 1."""

    def __init__(self, reason: Text, line: int | None = None) -> None:
        super().__init__(reason if line is None else n_("line {:d}: {:s}", line, reason))


def read(content: bytes, parameters: Collection[str]) -> dict[str, float]:
    """Return the values that a preset sets, by parameter. Raises PresetError."""
    if len(content) > _MAX_BYTES:
        raise PresetError(n_("the file has more than {:,} bytes, so it is not a preset", _MAX_BYTES))
    try:
        text = content.decode("utf-8-sig")
        statements = ast.parse(text).body
    except SyntaxError as error:
        raise PresetError(n_("the file is not valid Python"), error.lineno) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise PresetError(n_("the file is not valid Python")) from error
    values = dict(_assignments(statements, text.splitlines(), parameters))
    if not values:
        raise PresetError(n_("no parameter is set"))
    return values


def _assignments(
    statements: list[ast.stmt], lines: list[str], parameters: Collection[str]
) -> Iterator[tuple[str, float]]:
    """Yield the parameters and values that the statements set, except Blender's two lines."""
    for statement in statements:
        line = statement.lineno
        imports_blender = isinstance(statement, ast.Import) and [alias.name for alias in statement.names] == ["bpy"]
        if imports_blender or lines[line - 1].strip() == KEY_LINE:
            continue
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            text = n_("a preset may contain only lines such as key.{:s} = 0.5", next(iter(parameters)))
            raise PresetError(text, line)
        name = _attribute_of_key(statement.targets[0])
        if name not in parameters:
            allowed = ", ".join(f"key.{parameter}" for parameter in parameters)
            raise PresetError(n_("a preset may only set {:s}", allowed), line)
        value = _number(statement.value)
        if value is None:
            raise PresetError(n_("the value of key.{:s} is not a number", name), line)
        yield name, value


def _attribute_of_key(target: ast.expr) -> str:
    """Return the name of an attribute of `key`, or an empty name for other targets."""
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "key":
        return target.attr
    return ""


def _number(value: ast.expr) -> float | None:
    """Return the value of a finite number, which may be negative, or None for other expressions."""
    sign = 1.0
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        sign, value = -1.0, value.operand
    number = value.value if isinstance(value, ast.Constant) else None
    if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= sys.float_info.max:
        return None
    return sign * float(number)
