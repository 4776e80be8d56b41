# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences that are put together here, in the language of the user; Blender translates plain labels by itself.

The functions have the names by which Blender's own tools find what there is to translate: where they are called with a
text, it is one of these. Values that a text names, `{verb:s}`, can stand in another order in another language.
"""

from __future__ import annotations

from bpy.app import translations


def iface_(text: str, *values: object, **named: object) -> str:
    """What stands in panels and menus: the translation of `text`, with the values in it."""
    return _filled(str(translations.pgettext_iface(text)), values, named)


def rpt_(text: str, *values: object, **named: object) -> str:
    """What an operator says, and why something can't be done."""
    return _filled(str(translations.pgettext_rpt(text)), values, named)


def counted(count: int, one: str, more: str, *values: object) -> str:
    """The text for one of something, or that for any other number, with the number and the values in it."""
    return rpt_(one if count == 1 else more, count, *values)


def n_(text: str) -> str:
    """The text itself: says that it is to be translated, where it is shown."""
    return text


def told(what: object) -> str:
    """What `interp` and `formats` say, which know no Blender: the `text` and `values` of theirs; all else as it is."""
    text, values = getattr(what, "text", None), getattr(what, "values", None)
    if not (isinstance(text, str) and isinstance(values, tuple)):
        # A SyntaxError, for one, has a text too, which is another.
        return str(what)
    return rpt_(text, *(told(value) if hasattr(value, "text") else value for value in values))


def _filled(text: str, values: tuple[object, ...], named: dict[str, object]) -> str:
    """A text without values may be a name that somebody else gave, with braces of its own."""
    return text.format(*values, **named) if values or named else text
