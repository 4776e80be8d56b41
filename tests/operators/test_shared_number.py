# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers that keys get when a slider that they share is set."""

from __future__ import annotations

import functools

import numpy as np
import pytest

LIMITS = (-1.0, 1.0)


@pytest.fixture
def slider(tcb_animation):
    return tcb_animation.ui.sliders.shared_number.SharedSlider(LIMITS)


def test_numbers_that_were_made_equal_on_the_way_are_shifted_from_where_the_drag_began(slider):
    change = functools.partial(slider.changed, "keys")
    shown = slider.shown("keys", np.array([-0.5, 0.5]))
    equal = change(np.array([-0.5, 0.5]), value=0.25, relative=False)
    assert equal.tolist() == [0.25, 0.25]
    shifted = change(equal, value=shown + 0.25, relative=True, goes_on=True)
    assert shifted.tolist() == [-0.25, 0.75]


def test_the_mean_of_numbers_that_differ_is_not_the_number_that_a_person_types(slider):
    shown = slider.shown("keys", np.array([-0.5, 0.5]))
    assert shown != 0.0
    assert shown == pytest.approx(0.0, abs=1e-7)
    assert slider.changed("keys", np.array([-0.5, 0.5]), 0.0, relative=False).tolist() == [0.0, 0.0]
