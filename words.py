# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences that are put together here, in the language of the user; Blender translates plain labels by itself.

The functions have the names by which Blender's own tools find what there is to translate: where they are called with a
text, it is one of these.
"""

from __future__ import annotations

from bpy.app import translations


def iface_(text: str, *values: object) -> str:
    """What stands in panels and menus: the translation of `text`, with the values in it."""
    return str(translations.pgettext_iface(text)).format(*values)


def rpt_(text: str, *values: object) -> str:
    """What an operator says."""
    return str(translations.pgettext_rpt(text)).format(*values)


def n_(text: str) -> str:
    """The text itself: says that it is to be translated, where it is shown."""
    return text
