# SPDX-License-Identifier: GPL-3.0-or-later
"""Preferences for tests of panels, and full-length sentences, because regions without a window are too narrow."""

from __future__ import annotations

import pytest


@pytest.fixture
def preferences(tcb_animation):
    """The extension's preferences, reset to the defaults after the test."""
    import bpy

    given = bpy.context.preferences.addons[tcb_animation.__name__].preferences
    yield given
    for name in ("numbers", "advanced", "use_shortcuts"):
        given.property_unset(name)


@pytest.fixture
def advanced(preferences):
    """Show the advanced panels and choices."""
    preferences.advanced = True


@pytest.fixture(autouse=True)
def uncut(tcb_animation, monkeypatch):
    monkeypatch.setattr(tcb_animation.panels.header, "cut_text", lambda _context, text, _taken: text)
