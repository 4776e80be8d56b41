# SPDX-License-Identifier: GPL-3.0-or-later
"""Translate strings that are composed in Python. Blender itself translates constant labels.

Blender's tools find translatable strings by the names of these functions. The string is the first argument.
Translations may reorder named values, such as `{verb:s}`.
"""

from __future__ import annotations

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
