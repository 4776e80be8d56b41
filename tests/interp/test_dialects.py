# SPDX-License-Identifier: GPL-3.0-or-later
"""Tangents of dialects, compared with their splines, and 3D Studio parameters with the same tangents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interp import Keys, tcb
from interp.fitting.tcb_dialects import Dialect, as_3ds, slopes_of_keys
from interp.splines.lightwave_kochanek_bartels import KochanekBartelsSpline, LightWaveSpline

FRAMES = np.array([0.0, 4.0, 5.0, 11.0, 20.0])
VALUES = np.random.default_rng(1).normal(size=(5, 3))
PARAMETERS = np.random.default_rng(2).uniform(-0.9, 0.9, size=(3, 5))


@pytest.mark.parametrize(
    ("dialect", "spline"), [("3DS", tcb.VectorSpline), ("LIGHTWAVE", LightWaveSpline), ("KB", KochanekBartelsSpline)]
)
@pytest.mark.parametrize("count", [2, 5])
def test_slopes_are_the_derivatives_of_the_spline_that_plays_the_dialect(
    dialect: Dialect, spline: Any, count: int
) -> None:
    played = spline(Keys(FRAMES[:count], VALUES[:count], *PARAMETERS[:, :count])).to_ppoly().derivative()
    before, after = slopes_of_keys(dialect, FRAMES[:count], VALUES[:count], PARAMETERS[:, :count])
    step = 1e-9
    np.testing.assert_allclose(after[:-1], played(FRAMES[: count - 1]), atol=1e-7)
    np.testing.assert_allclose(before[1:], played(FRAMES[1:count] - step), atol=1e-7)


@pytest.mark.parametrize("dialect", ["LIGHTWAVE", "FBX", "KB"])
def test_values_of_inner_keys_without_continuity_have_parameters_of_3d_studio(dialect: Dialect) -> None:
    frames, parameters = np.array([0.0, 4.0, 7.0, 11.0, 14.0]), PARAMETERS * [[0.3], [0.0], [0.3]]
    found = as_3ds(dialect, frames, VALUES[:, :1], parameters)
    assert found is not None
    own = slopes_of_keys("3DS", frames, VALUES[:, :1], found)
    np.testing.assert_allclose(own, slopes_of_keys(dialect, frames, VALUES[:, :1], parameters), atol=1e-9)


def test_parameters_out_of_range_have_none_of_3d_studio() -> None:
    assert as_3ds("FBX", FRAMES, VALUES, PARAMETERS * [[1.0], [5.0], [1.0]]) is None
