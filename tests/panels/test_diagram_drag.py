# SPDX-License-Identifier: GPL-3.0-or-later
"""The ends of the tangents in the diagram: where they are, what a drag makes of them, and how the picture is found."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from tests.animation.curves import given, key, new_object

NAMES = ("tension", "continuity", "bias")
BEFORE, AFTER, KEY = np.array((1.0, 1.0)), np.array((1.0, -1.0)), np.array((0.0, 1.0))


@pytest.fixture
def pictures(tcb_animation):
    return tcb_animation.panels.pictures


def numbers(tension=0.0, continuity=0.0, bias=0.0):
    return {"tension": tension, "continuity": continuity, "bias": bias, "ease_to": 0.0, "ease_from": 0.0}


def ends(tension=0.0, continuity=0.0, bias=0.0, **_eases):
    """Where the tangents of Kochanek and Bartels, by their paper, end beside the key: a third of them."""
    t, c, b = tension, continuity, bias
    incoming = 0.5 * (1 - t) * ((1 - c) * (1 + b) * BEFORE + (1 + c) * (1 - b) * AFTER)
    outgoing = 0.5 * (1 - t) * ((1 + c) * (1 + b) * BEFORE + (1 - c) * (1 - b) * AFTER)
    return KEY - incoming / 3, KEY + outgoing / 3


@pytest.mark.parametrize("parameters", list(product((-1.0, -0.3, 0.5, 1.0), repeat=3)))
def test_tangents_end_where_the_paper_says(pictures, parameters):
    shown = pictures.diagram.ends_of_tangents(numbers(*parameters))
    np.testing.assert_allclose(shown, ends(*parameters), atol=1e-12)
    # Those that are longer are shown within the picture, and lie on the same line.
    for end in shown:
        at = pictures.diagram.placed(pictures.diagram.shown_at(end), 160)
        assert (at > 2).all()
        assert (at < 158).all()
        away, seen = end - KEY, pictures.diagram.shown_at(end) - KEY
        assert abs(away[0] * seen[1] - away[1] * seen[0]) < 1e-12


def test_a_side_that_blender_plays_has_no_tangent(pictures):
    assert pictures.diagram.ends_of_tangents(numbers(), (object(), None))[0] is None
    assert pictures.diagram.ends_of_tangents(numbers(), (None, object()))[1] is None


@pytest.mark.parametrize("row", [0, 1])
@pytest.mark.parametrize("goal", [(0.2, 0.4, -0.3), (-0.5, -0.8, 0.5), (0.6, 0.1, 0.9)])
def test_a_dragged_tangent_ends_under_the_mouse_where_parameters_reach(pictures, row, goal):
    """Also with the other one kept: of the goal's parameters, both."""
    found = pictures.diagram_drag.dragged(numbers(0.1, 0.2, 0.1), row, ends(*goal)[row])
    np.testing.assert_allclose(ends(**found)[row], ends(*goal)[row], atol=2e-3)


@pytest.mark.parametrize("row", [0, 1])
def test_with_shift_the_other_tangent_stays_as_near_as_it_can(pictures, row):
    start, end = numbers(), ends(continuity=-0.5)[row]
    alone = pictures.diagram_drag.dragged(start, row, end, alone=True)
    free = pictures.diagram_drag.dragged(start, row, end)
    stayed, left = (np.linalg.norm(ends(**found)[1 - row] - ends()[1 - row]) for found in (alone, free))
    assert stayed < 0.1 * left


@pytest.mark.parametrize("row", [0, 1])
def test_with_ctrl_a_tangent_keeps_its_direction(pictures, row):
    away = (-1.0, 1.0)[row]
    found = pictures.diagram_drag.dragged(numbers(), row, KEY + np.array((0.5 * away, 0.4)), length_only=True)
    np.testing.assert_allclose(ends(**found)[row], KEY + np.array((0.5 * away, 0.0)), atol=2e-3)


def test_the_picture_is_found_among_others_by_its_pixels(pictures):
    picture = pictures.diagram.bitmap(numbers(), 161, (1.0,) * 4, (0.1, 0.1, 0.1, 1.0)).pixels
    shown = np.random.default_rng(3).random((400, 260, 4), dtype=np.float32)
    shown[..., 3] = 1.0
    # Another key of that colour, as an icon may have it.
    shown[300:304, 30:40] = (1.0, 0.75, 0.2, 1.0)
    assert pictures.find_picture.find(shown, picture) is None
    shown[70:231, 41:202] = picture
    assert pictures.find_picture.find(shown, picture) == (41, 70)
    # Colours come back as bytes.
    assert pictures.find_picture.find(np.round(shown * 255) / 255, picture) == (41, 70)
    # Cut off by the edge of the region.
    assert pictures.find_picture.find(shown[150:], picture) is None


@pytest.mark.parametrize("buttons", [13, 15, 30])
def test_presses_on_the_scroll_bar_and_the_tabs_are_not_taken_for_the_diagram(pictures, buttons):
    """Both are at one edge of the region, a button wide each at most; with the tabs the diagram is off the middle."""
    unit = pictures.diagram.button_height()
    region = SimpleNamespace(width=buttons * unit)
    at_edges = [*range(2 * unit), *range(region.width - 2 * unit, region.width)]
    assert not any(pictures.diagram_drag._is_in_the_middle(region, x) for x in at_edges)
    half = pictures.diagram.size_drawn() // 2
    for middle in (region.width // 2, (region.width - unit) // 2, (region.width + unit) // 2):
        assert all(pictures.diagram_drag._is_in_the_middle(region, middle + x) for x in (-half, 0, half))


def test_done_again_it_gives_all_chosen_keys_its_parameters(scene, tcb_animation):
    thing = new_object()
    key(thing, "location", [(1, (0, 0, 0)), (11, (1, 2, 3)), (21, (0, 1, 0))])
    thing.select_set(True)
    bpy.context.view_layer.objects.active = thing
    bpy.ops.tcb.enable()
    scene.frame_set(11)
    window = bpy.context.window_manager.windows[0]
    area = next(area for area in window.screen.areas if area.type == "VIEW_3D")
    region = next(region for region in area.regions if region.type == "WINDOW")
    with bpy.context.temp_override(window=window, area=area, region=region):
        bpy.ops.tcb.diagram_drag(tension=0.5, continuity=-0.25, bias=0.75)
    for name, number in (("tension", 0.5), ("continuity", -0.25), ("bias", 0.75)):
        assert dict(given(tcb_animation.animation, thing, "location", name))[11.0] == number
