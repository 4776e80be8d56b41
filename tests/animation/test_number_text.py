# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers in panels, messages and reports are rounded in the same way as in Blender's fields."""

from __future__ import annotations

import importlib
import math

import pytest


@pytest.fixture
def texts(animation):
    return importlib.import_module(f"{animation.__name__}.text")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (-7.45e-09, "0"),
        (-0.00004, "0"),
        (0.5, "0.5"),
        (-0.25, "-0.25"),
        (1.23456, "1.2346"),
        (170.0, "170"),
        (123456.789, "123456.789"),
        (float("nan"), "nan"),
    ],
)
def test_numbers_have_four_decimals_at_most_and_no_exponent(texts, number, text):
    assert texts.number_text(number) == text


def test_whole_numbers_keep_their_zeros(texts):
    assert texts.number_text(100.0, 0) == "100"


@pytest.mark.parametrize(
    ("degrees", "text"), [(170.0, "170.0°"), (-1e-9, "0.0°"), (36.04, "36.0°"), (-90.06, "-90.1°")]
)
def test_angles_have_one_decimal(texts, degrees, text):
    assert texts.angle_text(math.radians(degrees)) == text


def test_a_size_too_small_to_be_shown_is_not_called_0(texts):
    assert [texts.size_text(size) for size in (0.0, 7e-9, 0.00012, 3.5)] == ["0", "<0.0001", "0.0001", "3.5"]
    assert [texts.size_text(math.radians(each), is_angle=True) for each in (0.0, 1e-7, 0.012, 0.26, 170.0)] == [
        "0.0°",
        "<0.01°",
        "0.01°",
        "0.3°",
        "170.0°",
    ]
