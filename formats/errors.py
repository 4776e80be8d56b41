# SPDX-License-Identifier: GPL-3.0-or-later
"""The base class for errors in files."""

from __future__ import annotations

from .interp import Text


class FileError(ValueError):
    """A file that cannot be read, or data that cannot be written.

    The message consists of a template, `text`, and its `values`, so that it can be translated.
    """

    def __init__(self, message: Text) -> None:
        super().__init__(message)
        self.text, self.values = message.text, message.values
