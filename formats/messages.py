# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences in English that can be said in another language later, by whoever shows them.

`interp` and `formats` have the same module each: either can be imported by itself.
"""

from __future__ import annotations

from typing import Any


class Text(str):
    """A sentence in English that keeps what it is made of: a text, and the values that stand in it.

    A value may be a `Text` itself. Without values it is the text as it is, to put values into later.
    """

    text: str
    values: tuple[object, ...]

    def __new__(cls, text: str, *values: object) -> Text:
        made = super().__new__(cls, text.format(*values) if values else text)
        made.text = text
        made.values = values
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Text, (self.text, *self.values)


def n_(text: str, *values: object) -> Text:
    """The text with the values in it; Blender's tools find by this name what there is to translate."""
    return Text(text, *values)
