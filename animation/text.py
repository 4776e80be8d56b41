# SPDX-License-Identifier: GPL-3.0-or-later
"""Translate strings that are composed in Python, and format numbers. Blender itself translates constant labels.

Blender's tools find translatable strings by the names of these functions. The string is the first argument.
Translations may reorder named values, such as `{verb:s}`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from bpy.app import translations

_MAX_LISTED = 3
"""Maximum number of names that a message lists. Other names are counted."""


def iface_(text: str, *values: object, msgctxt: str = "*", **named: object) -> str:
    """Translate a string for panels and menus, and insert the values.

    `msgctxt` is the translation context. Blender translates some words differently in animation editors.
    """
    return _filled(str(translations.pgettext_iface(text, msgctxt)), values, named)


def rpt_(text: str, *values: object, **named: object) -> str:
    """Translate a string for reports and errors, and insert the values."""
    return _filled(str(translations.pgettext_rpt(text)), values, named)


def counted(count: int, one: str, more: str, *values: object) -> str:
    """Translate the singular or the plural text for this count, and insert the count and the values."""
    return rpt_(one if count == 1 else more, count, *values)


def listed(names: Sequence[str], separator: str = ", ") -> str:
    """Return the first few names and the number of other names."""
    first_names, others = separator.join(names[:_MAX_LISTED]), len(names) - _MAX_LISTED
    return rpt_("{:s} and {:d} more", first_names, others) if others > 0 else first_names


def n_(text: str, msgctxt: str = "*") -> str:
    """Mark a string for translation in the given context, and return the string unchanged."""
    return text


def translated(message: object) -> str:
    """Translate a message from `interp` or `formats`, that is, an object with `text` and `values`.

    Return str() of any other object.
    """
    text, values = getattr(message, "text", None), getattr(message, "values", None)
    if not (isinstance(text, str) and isinstance(values, tuple)):
        # Other objects, such as a SyntaxError, may have a `text` too.
        return str(message)
    return rpt_(text, *(translated(value) if hasattr(value, "text") else value for value in values))


def _filled(text: str, values: tuple[object, ...], named: dict[str, object]) -> str:
    """Insert the values into the text. If there are no values, the text may be a name that contains braces."""
    return text.format(*values, **named) if values or named else text


# Numbers, formatted as in Blender's fields, without exponents or "-0"


_DECIMALS = 4


def number_text(number: float, decimals: int = _DECIMALS) -> str:
    """Format a number with at most `decimals` decimal places."""
    text = f"{number:.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def angle_text(radians: float) -> str:
    """Format an angle, given in radians, in degrees with one decimal place."""
    return f"{round(math.degrees(radians), 1) + 0.0:.1f}°"


def size_text(size: float, is_angle: bool = False) -> str:
    """Format a size, such as an error, in units or radians. A size below the displayed precision appears as "<0.01"."""
    if is_angle:
        degrees = math.degrees(size)
        if 0.0 < degrees < 0.1:
            return "<0.01°" if degrees < 0.005 else f"{number_text(degrees, 2)}°"
        return angle_text(size)
    smallest = 10.0**-_DECIMALS
    return f"<{smallest:.{_DECIMALS}f}" if 0.0 < size < 0.5 * smallest else number_text(size)
