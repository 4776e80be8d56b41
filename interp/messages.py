# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences in English that can be translated later, where they are shown.

`interp` and `formats` have the same module each: either can be imported by itself.
"""

from __future__ import annotations


class Text(str):
    """A sentence in English that keeps the text and the values it is formatted from.

    A value may be a `Text` itself. Without values it is the text as it is, to be formatted later.
    """

    text: str
    values: tuple[object, ...]

    def __new__(cls, text: str, *values: object) -> Text:
        """Format the text with values."""
        made = super().__new__(cls, text.format(*values) if values else text)
        made.text = text
        made.values = values
        return made

    def __reduce__(self) -> tuple[type[Text], tuple[object, ...]]:
        """Return how to pickle it: by its text and values."""
        return Text, (self.text, *self.values)


def n_(text: str, *values: object) -> Text:
    """Return the text with the values in it.

    Blender's tools find by this name the texts to translate.
    """
    return Text(text, *values)
