# SPDX-License-Identifier: GPL-3.0-or-later
"""Provide English messages that can be translated when they are shown."""

from __future__ import annotations


class Text(str):
    """Hold an English message with its template and values.

    A value may be a `Text` itself. Without values it is the template as it is, to be filled later.
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
    """Return the text with the values in it; Blender's tools find messages to translate by this name."""
    return Text(text, *values)
