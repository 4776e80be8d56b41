# SPDX-License-Identifier: GPL-3.0-or-later
"""English messages that can be translated when they are shown."""

from __future__ import annotations


class Text(str):
    """An English message with its template and values.

    A value may itself be a `Text`. Without values, the text is the template, to be filled in later.
    """

    text: str
    values: tuple[object, ...]

    def __new__(cls, text: str, *values: object) -> Text:
        """Format the text with values."""
        message = super().__new__(cls, text.format(*values) if values else text)
        message.text = text
        message.values = values
        return message

    def __reduce__(self) -> tuple[type[Text], tuple[object, ...]]:
        """Pickle the text as its template and values."""
        return Text, (self.text, *self.values)


def n_(text: str, *values: object) -> Text:
    """Return the text with its values. Blender's tools find translatable messages by this function name."""
    return Text(text, *values)
