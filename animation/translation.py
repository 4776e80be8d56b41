# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts put together in Python, in the language of the user; plain labels are translated by Blender itself.

The functions have the names by which Blender's own tools find texts to translate: their first argument is one. Values
that a text names, `{verb:s}`, can stand in another order in another language.
"""

from __future__ import annotations

from collections.abc import Sequence

from bpy.app import translations

_LISTED = 3
"""Names that a message lists; the rest is counted."""


def iface_(text: str, *values: object, msgctxt: str = "*", **named: object) -> str:
    """Return the translation of a text of panels and menus, with the values in it.

    `msgctxt` is its context: Blender has other translations of some words for animation than for all else.
    """
    return _filled(str(translations.pgettext_iface(text, msgctxt)), values, named)


def rpt_(text: str, *values: object, **named: object) -> str:
    """Return the translation of a text of reports and errors, with the values in it."""
    return _filled(str(translations.pgettext_rpt(text)), values, named)


def counted(count: int, one: str, more: str, *values: object) -> str:
    """Return the translated text for one of something, or for any other number, with the number and values in it."""
    return rpt_(one if count == 1 else more, count, *values)


def listed(names: Sequence[str], separator: str = ", ") -> str:
    """Return the first few of the names, and how many more there are."""
    first, more = separator.join(names[:_LISTED]), len(names) - _LISTED
    return rpt_("{:s} and {:d} more", first, more) if more > 0 else first


def n_(text: str, msgctxt: str = "*") -> str:
    """Return the text unchanged: marks it for translation, in that context, where it is shown."""
    return text


def translated(what: object) -> str:
    """Translate a message of `interp` or `formats`, which has a `text` and `values`; return str() of anything else."""
    text, values = getattr(what, "text", None), getattr(what, "values", None)
    if not (isinstance(text, str) and isinstance(values, tuple)):
        # Other objects may have a `text` too, a SyntaxError for example.
        return str(what)
    return rpt_(text, *(translated(value) if hasattr(value, "text") else value for value in values))


def _filled(text: str, values: tuple[object, ...], named: dict[str, object]) -> str:
    """Put the values into the text; a text without values may be a user's name, with braces of its own."""
    return text.format(*values, **named) if values or named else text
