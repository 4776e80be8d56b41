# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that run in steps, and the text in the status bar during the steps."""

from __future__ import annotations

import importlib
import itertools
from types import ModuleType, SimpleNamespace
from typing import Any

import bpy
import pytest


def test_the_status_bar_says_how_far_the_work_is(tcb_animation: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    progress_module = importlib.import_module(f"{tcb_animation.__name__}.operators.on_selection")
    texts: list[Any] = []
    context = SimpleNamespace(
        workspace=SimpleNamespace(status_text_set=texts.append),
        window=None,
        window_manager=SimpleNamespace(event_timer_remove=lambda _timer: None),
    )

    class Working(progress_module.InSteps):  # type: ignore[name-defined]
        """A stand-in for an operator that has run for a second. Blender creates its instances only in a window."""

        hint = "Esc ends it"
        _timer = object()
        _steps = ((number, 4) for number in range(5))
        _progress = progress_module.Progress(bpy.context.window_manager)
        _finish_with = staticmethod(lambda _context, _result: {"FINISHED"})

    # A step uses all the time available before Blender continues.
    clock = itertools.count(0.0, 0.15)
    monkeypatch.setattr(progress_module, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    working, timer = Working(), SimpleNamespace(type="TIMER", value="NOTHING")
    while working.modal(context, timer) == {"RUNNING_MODAL"}:
        pass
    assert texts == [*(f"Esc ends it   {part} %" for part in (0, 25, 50, 75, 100)), None]
