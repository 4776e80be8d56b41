# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that keys get if their common slider is set."""

from __future__ import annotations

import numpy as np
import pytest

LIMITS = (-1.0, 1.0)


@pytest.fixture
def slider(tcb_animation):
    return tcb_animation.ui.sliders.parameter_sliders.SharedSlider(LIMITS)


def test_the_mean_of_numbers_that_differ_is_not_the_number_that_a_person_types(slider):
    shown = slider.shown(np.array([-0.5, 0.5]))
    assert shown != 0.0
    assert shown == pytest.approx(0.0, abs=1e-7)
    assert slider.changed(np.array([-0.5, 0.5]), shown, 0.0, relative=False).tolist() == [0.0, 0.0]


def test_the_mean_of_small_numbers_has_the_decimals_of_the_field(tcb_animation):
    """A field with three decimals shows 0.000741 with six."""
    numbers = np.array([0.001, 0.000482])
    rounded = tcb_animation.ui.sliders.parameter_sliders.SharedSlider(LIMITS, 3)
    assert rounded.shown(numbers) == pytest.approx(0.001, abs=1e-7)
    shown = rounded.shown(numbers)
    shifted = rounded.changed(numbers, shown, shown + 0.25, relative=True)
    assert shifted == pytest.approx(numbers + 0.25, abs=1e-9)


@pytest.mark.parametrize("number", [-0.0001, 0.000033])
def test_a_number_near_0_is_shown_as_0_and_can_be_set_to_0(tcb_animation, number):
    """A field shows -0.0001 as -0.000, and 0.000033 with six decimals."""
    slider = tcb_animation.ui.sliders.parameter_sliders.SharedSlider(LIMITS, 3)
    numbers = np.array([number, number])
    shown = slider.shown(numbers)
    assert 0.0 < shown < 1e-7
    assert slider.changed(numbers, shown, shown, relative=False).tolist() == [number, number]
    assert slider.changed(numbers, shown, 0.0, relative=False).tolist() == [0.0, 0.0]


def test_keys_that_cant_be_read_leave_the_others_their_mean(slider):
    numbers = np.array([np.nan, 0.25, 0.75])
    shown = slider.shown(numbers)
    assert shown == pytest.approx(0.5, abs=1e-6)
    assert slider.changed(numbers, shown, shown + 0.1, relative=True)[1:] == pytest.approx([0.35, 0.85])


@pytest.mark.parametrize("relative", [False, True])
def test_a_slider_set_to_the_number_that_it_shows_changes_nothing(slider, relative):
    """Blender restores 0.3 on Esc as a float32, which is another number."""
    numbers = np.array([0.3, 0.3])
    shown = slider.shown(numbers)
    assert float(np.float32(shown)) != shown
    assert slider.changed(numbers, shown, float(np.float32(shown)), relative) is numbers
