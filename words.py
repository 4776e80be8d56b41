# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentences that are put together here, in the language of the user; Blender translates plain labels by itself."""

from __future__ import annotations

from bpy.app import translations


def label(text: str, *values: object) -> str:
    """What stands in panels and menus: the translation of `text`, with the values in it."""
    return str(translations.pgettext_iface(text)).format(*values)


def report(text: str, *values: object) -> str:
    """What an operator says."""
    return str(translations.pgettext_rpt(text)).format(*values)
