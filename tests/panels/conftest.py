# SPDX-License-Identifier: GPL-3.0-or-later
"""Full-length sentences, because regions without a window are too narrow."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def uncut(tcb_animation, monkeypatch):
    monkeypatch.setattr(tcb_animation.panels.tracks, "cut_text", lambda _context, text, _taken: text)
