# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender plays of the example scene and of real .3ds files, against the formulas."""

from __future__ import annotations

from dataclasses import replace

import pytest


@pytest.fixture
def errors(scene):
    """The measurement, in this process."""
    from tools import errors

    return errors


def test_the_example_scene_is_as_exact_as_promised(errors):
    row = errors.measure("example", errors.example())
    assert row.at_frames.angle < 1e-5
    assert row.at_frames.share < 1e-6
    assert row.of_curves.angle <= errors.ROTATION_TOLERANCE
    assert row.of_curves.share <= errors.VALUE_TOLERANCE
    # All components of a vector are keyed at the frames that one of them needs.
    assert row.curves <= (row.keys + row.samples) / 27


@pytest.mark.parametrize("name", ["skull.3ds", "claw.3DS", "TargetCameraAnim.3ds", "tcb_fixture_lib3ds.3ds"])
def test_real_files_are_as_exact_as_promised(errors, shared_data, name):
    row = errors.measure(name, errors.of_file(shared_data / name))
    assert row.tracks > 2
    assert row.is_good
    assert row.of_curves.angle <= errors.ROTATION_TOLERANCE


def test_a_file_keyed_on_every_frame_gets_only_the_keys_that_it_needs(errors, shared_data):
    row = errors.measure("", errors.of_file(shared_data / "RotatingCube.3DS"))
    assert row.keys > 700
    assert row.curves < 10
    assert row.needless == 0


def test_what_is_off_is_found(errors):
    tracks = errors.example()
    keys = tracks[0].keys
    moved = keys[1]._replace(value=tuple(1.001 * number for number in keys[1].value))
    tracks[0] = replace(tracks[0], keys=[keys[0], moved, *keys[2:]])
    row = errors.measure("example", tracks[:1])
    assert row.at_frames.excess > 1
    assert row.of_curves.excess > 1
