# SPDX-License-Identifier: GPL-3.0-or-later
"""What a slider of several keys puts back when it is taken back."""

from __future__ import annotations

import functools

import numpy as np
import pytest

LIMITS = (-1.0, 1.0)


@pytest.fixture
def slider(tcb_animation):
    return tcb_animation.ui.sliders.shared_number.SharedSlider(LIMITS)


def test_what_is_kept_is_of_when_the_slider_was_taken_hold_of(slider):
    change = functools.partial(slider.changed, "keys", relative=False)
    numbers = change(np.zeros(2), value=0.5, keep=lambda: "none of their own")
    numbers = change(numbers, value=0.75, keep=lambda: "on the way")
    assert slider.kept("keys", numbers, 0.0) == "none of their own"
    slider.end_drag()
    assert slider.kept("keys", numbers, 0.0) is None
    numbers = change(numbers, value=0.0, keep=lambda: "the same")
    slider.end_drag()
    numbers = change(numbers, value=0.25, keep=lambda: "their own")
    assert slider.kept("keys", numbers, 0.0) == "their own"


def test_numbers_that_differ_come_back_though_alt_is_let_go_before_escape(slider):
    change = functools.partial(slider.changed, "keys", keep=lambda: None)
    first = change(np.array([-0.5, 0.5]), value=0.25, relative=True)
    second = change(first, value=0.5, relative=True)
    assert second[1] > first[1]
    assert change(second, value=0.25, relative=False, takes_back=True).tolist() == first.tolist()
