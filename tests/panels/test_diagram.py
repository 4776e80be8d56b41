# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture of a key's parameters: its curve and dots, its pixels, and the icon in Blender."""

from __future__ import annotations

from itertools import product

import bpy
import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

from tests.animation.curves import curve, key, new_object, track_keys

PARAMETERS = ("tension", "continuity", "bias", "ease_to", "ease_from")
WHITE, BLACK = (1.0, 1.0, 1.0, 1.0), (0.0, 0.0, 0.0, 1.0)


@pytest.fixture
def diagram(tcb_animation):
    return tcb_animation.panels.pictures.diagram


@pytest.fixture
def animation(tcb_animation):
    return tcb_animation.animation


def parameters(**given):
    return dict.fromkeys(PARAMETERS, 0.0) | given


@pytest.fixture
def played(animation, sides_of, scene):
    """A function played(before, after) for three keys with these interpolations, whose values rise and fall by one.

    It returns the interpolations on either side of the middle key, as found by the sidebar.
    """

    def make(before="BEZIER", after="BEZIER"):
        thing = new_object()
        key(thing, "location", [(-1, (0, 0, 0)), (0, (1, 0, 0)), (1, (0, 0, 0))], channels=[0])
        animation.enable(thing, keep_look=False)
        fcurve = curve(thing, "location", 0)
        for point, kind in zip(fcurve.keyframe_points, (before, after), strict=False):
            point.interpolation = kind
        animation.bake(thing, output="HANDLES")
        return sides_of(thing, "location", 0.0)

    return make


@pytest.fixture
def sides_of(animation):
    """A function sides_of(thing, path, *frames) that returns the interpolations that the keys have in common."""

    def sides_in_common(thing, path, *frames):
        key_sides, keys = animation.checks.shown_key, track_keys(animation, thing, path)
        sides = key_sides.interpolations_beside(keys.track, keys.own, np.array(frames, dtype=np.float32))
        return key_sides.interpolations_in_common(sides)

    return sides_in_common


def spacing(diagram, **given):
    """Return the distances between dots, ten before the key and ten after it."""
    _, dots = diagram.curve(parameters(**given))
    return np.split(np.linalg.norm(np.diff(dots, axis=0), axis=1), 2)


def test_a_corner_has_straight_sides(diagram):
    line, dots = diagram.curve(parameters(continuity=-1.0))
    for points in (line, dots):
        assert np.abs(np.abs(points[:, 0]) + points[:, 1] - 1.0).max() < 1e-12


def test_tension_gathers_the_dots_around_the_key(diagram):
    # A Hermite cubic from (0, 1) with tangent 0 to (1, 0) with the end tangent of T = 1, 1.5 chords, after a tenth.
    u = 0.1
    expected = np.sqrt(2.0) * (3 * u**2 - 2 * u**3 + 1.5 * (u**3 - u**2))
    for tension, factor in ((1.0, 1.0), (0.0, None)):
        before, after = spacing(diagram, tension=tension)
        assert before[::-1] == pytest.approx(after)
        if factor is None:
            assert after[0] > 3 * expected
        else:
            assert after[0] == pytest.approx(expected)


def test_ease_gathers_the_dots_on_its_side_alone(diagram):
    plain, eased = spacing(diagram), spacing(diagram, ease_to=0.8)
    assert eased[0][-1] < plain[0][-1] / 2
    assert eased[1] == pytest.approx(plain[1])


def test_bias_leans_the_curve_over_to_one_side(diagram):
    tops = [line[np.argmax(line[:, 1])][0] for line, _ in (diagram.curve(parameters(bias=b)) for b in (-0.5, 0.0, 0.5))]
    assert tops[1] == 0.0
    assert tops[0] < -0.05
    assert tops[2] > 0.05


@pytest.mark.parametrize("side", [0, 1])
def test_beside_it_the_spline_ends_at_the_key(diagram, played, side):
    """Compare two keys with ease and tension with scipy's cubic. Its slope at the key is (1 - tension) chord."""
    kinds = ["BEZIER", "BEZIER"]
    kinds[side] = "LINEAR"
    _, dots = diagram.curve(parameters(tension=0.4, bias=0.7), played(*kinds))
    keys, chord = (((-1, 0), (0, 1)), (1, 1)) if side else (((0, 1), (1, 0)), (1, -1))
    slopes = (np.array(chord), 0.6 * np.array(chord))
    cubic = CubicHermiteSpline([0.0, 1.0], keys, slopes if side else slopes[::-1])
    assert dots == pytest.approx(cubic(np.arange(11) / 10))


@pytest.mark.parametrize(
    ("kind", "straight", "step"),
    [
        ("CONSTANT", ("empty", "empty"), ("line", "dot")),
        ("LINEAR", ("line", "dot"), ("empty", "empty")),
        ("BEZIER", ("line", "line"), ("empty", "empty")),
        ("SINE", ("line", "line"), ("empty", "empty")),
    ],
)
def test_a_side_that_blender_plays_is_a_step_if_constant_and_otherwise_straight(
    diagram, animation, kind, straight, step
):
    """The picture has a line at (-0.45, y), and a dot at (-0.4, y) if the dots would be evenly spaced."""
    sides = animation.fcurves.keyframes.INTERPOLATION[kind], diagram.SPLINE
    picture = diagram.render([parameters(tension=-1.0, bias=0.5)], 160, WHITE, BLACK, sides)

    def drawn(*points):
        inks = []
        for column, row in (diagram.pixels_of(np.array(point), 160).astype(int) for point in points):
            ink = picture.pixels[row - 1 : row + 2, column - 1 : column + 2, 0].max()
            inks.append("empty" if ink < 0.25 else "line" if ink < 0.8 else "dot")
        return tuple(inks)

    assert drawn((-0.45, 0.55), (-0.4, 0.6)) == straight
    assert drawn((-0.45, 0.0), (-0.4, 0.0)) == step


def test_a_side_that_blender_plays_has_no_tangent(diagram, played):
    for sides in (played("CONSTANT"), played("LINEAR"), played("SINE")):
        before, after = diagram.ends_of_tangents(parameters(tension=-1.0, bias=0.5), sides)
        assert before is None
        assert after is not None


def test_a_rotation_s_side_is_that_of_the_channel_that_is_blender_s(animation, sides_of, scene):
    thing = new_object(mode="XYZ")
    key(thing, "rotation_euler", [(0, (0, 0, 0)), (10, (1, 1, 1)), (20, (0, 0, 0))])
    animation.enable(thing, keep_look=False)
    curve(thing, "rotation_euler", 1).keyframe_points[1].interpolation = "SINE"
    spline, nothing = animation.checks.shown_key.SPLINE, animation.checks.shown_key.NOTHING
    sine = animation.fcurves.keyframes.INTERPOLATION["SINE"]
    assert sides_of(thing, "rotation_euler", 0.0) == (nothing, spline)
    assert sides_of(thing, "rotation_euler", 10.0) == (spline, sine)
    assert sides_of(thing, "rotation_euler", 20.0) == (sine, nothing)
    assert sides_of(thing, "rotation_euler", 0.0, 10.0) is None


def test_a_rotation_has_segments_between_channels_that_are_keyed_apart(animation, sides_of, scene):
    thing = new_object(mode="XYZ")
    key(thing, "rotation_euler", [(0, (0, 0, 0)), (10, (1, 1, 1))], channels=[0])
    key(thing, "rotation_euler", [(20, (0, 0, 0)), (30, (1, 1, 1))], channels=[1, 2])
    animation.enable(thing, keep_look=False)
    spline, nothing = animation.checks.shown_key.SPLINE, animation.checks.shown_key.NOTHING
    assert sides_of(thing, "rotation_euler", 10.0) == sides_of(thing, "rotation_euler", 20.0) == (spline, spline)
    assert sides_of(thing, "rotation_euler", 0.0) == (nothing, spline)
    assert sides_of(thing, "rotation_euler", 30.0) == (spline, nothing)


def test_nothing_is_drawn_before_the_first_key_and_after_the_last(diagram, animation):
    spline, nothing = animation.checks.shown_key.SPLINE, animation.checks.shown_key.NOTHING
    given, size = parameters(tension=0.3, bias=0.4), 160

    def pixels(sides, *every):
        return diagram.render(every, size, WHITE, BLACK, sides).pixels

    whole, empty = pixels((spline, spline), given), pixels((spline, spline))
    # a key's diamond and its outline
    left, right = slice(0, size // 2 - 10), slice(size // 2 + 10, size)
    for sides, bare, full in (((nothing, spline), left, right), ((spline, nothing), right, left)):
        picture = pixels(sides, given)
        assert (picture[:, bare] == empty[:, bare]).all()
        assert (picture[:, full] == whole[:, full]).all()
        assert (whole[:, bare] != empty[:, bare]).any()
        assert diagram.ends_of_tangents(given, sides)[sides.index(nothing)] is None
    assert (pixels((nothing, nothing), given)[:, left] == empty[:, left]).all()


def test_the_ends_of_a_cycle_have_both_sides(animation, sides_of, scene):
    thing = new_object()
    key(thing, "location", [(0, (0, 0, 0)), (10, (1, 1, 1)), (20, (0, 0, 0))])
    animation.enable(thing, keep_look=False)
    spline = animation.checks.shown_key.SPLINE
    for cycle, beside in (("SINGLE", animation.checks.shown_key.NOTHING), ("LOOP", spline)):
        animation.choose(thing, track="location", cycle=cycle)
        assert sides_of(thing, "location", 0.0) == (beside, spline)
        assert sides_of(thing, "location", 20.0) == (spline, beside)
        # For several keys, existing segments count.
        assert (
            sides_of(thing, "location", 0.0, 10.0, 20.0) == sides_of(thing, "location", 0.0, 10.0) == (spline, spline)
        )


def test_values_show_the_first_channel_that_has_the_key(animation, sides_of, scene):
    thing = new_object()
    key(thing, "location", [(0, (0, 0, 0)), (10, (1, 1, 1)), (20, (0, 0, 0))], channels=[1, 2])
    key(thing, "location", [(0, (0, 0, 0)), (20, (0, 0, 0))], channels=[0])
    animation.enable(thing, keep_look=False)
    curve(thing, "location", 0).keyframe_points[0].interpolation = "SINE"
    curve(thing, "location", 1).keyframe_points[1].interpolation = "LINEAR"
    curve(thing, "location", 2).keyframe_points[1].interpolation = "BACK"
    kinds = animation.fcurves.keyframes.INTERPOLATION
    assert sides_of(thing, "location", 0.0) == (animation.checks.shown_key.NOTHING, kinds["SINE"])
    assert sides_of(thing, "location", 10.0) == (animation.checks.shown_key.SPLINE, kinds["LINEAR"])


def test_the_picture_holds_the_whole_curve_whatever_the_parameters(diagram, monkeypatch):
    seen = []
    monkeypatch.setattr(diagram.Bitmap, "line", lambda _self, points, _width, _colour: seen.append(points))
    for tension, continuity, bias in product((-1.0, 0.0, 1.0), repeat=3):
        diagram.render([parameters(tension=tension, continuity=continuity, bias=bias)], 160, WHITE, BLACK)
    everywhere = np.concatenate(seen[2::5])
    assert everywhere.min() > 4
    assert everywhere.max() < 156
    assert everywhere.max() > 140


def bytes_of(picture):
    return picture.packed().view(np.uint8).reshape(picture.size, picture.size, 4)


def test_a_line_covers_its_width_times_its_length(diagram):
    picture = diagram.Bitmap(64)
    picture.line(np.array([[10.3, 12.8], [30.0, 40.0], [52.1, 44.4]]), 1.5, WHITE)
    length = np.hypot(19.7, 27.2) + np.hypot(22.1, 4.4)
    # The ends are round, and the inside of the bend is drawn once.
    assert bytes_of(picture)[..., 3].sum() / 255 == pytest.approx(1.5 * length + np.pi * 0.75**2, rel=0.02)


def test_a_dot_covers_its_area_wherever_it_stands_between_pixels(diagram):
    for at in ((20.0, 20.0), (20.5, 20.5), (20.3, 19.8)):
        picture = diagram.Bitmap(40)
        picture.dots(np.array([at]), 4.0, WHITE)
        assert bytes_of(picture)[..., 3].sum() / 255 == pytest.approx(np.pi * 16, rel=0.01)


def test_colours_are_multiplied_by_how_much_they_cover(diagram):
    picture = diagram.Bitmap(8)
    picture.fill(1.0, (1.0, 0.5, 0.0, 0.5))
    assert bytes_of(picture)[4, 4].tolist() == [128, 64, 0, 128]


def test_row_0_is_the_lowest(diagram):
    pixels = bytes_of(diagram.render([parameters()], 160, WHITE, BLACK)).astype(int)
    orange = (pixels[..., 0] == 255) & (pixels[..., 2] < 60)
    rows, columns = np.nonzero(orange)
    # The key is above the middle, at (0, 1), with the view from 0.74.
    assert rows.mean() == pytest.approx(160 * (0.5 + 0.26 / 2.04), abs=1)
    assert columns.mean() == pytest.approx(79.5, abs=0.5)


def test_each_display_scale_has_its_own_pixels(diagram):
    once, twice = (
        bytes_of(diagram.render([parameters(bias=0.5)], size, WHITE, BLACK)).astype(float) for size in (160, 320)
    )
    assert np.abs(twice.reshape(160, 2, 160, 2, 4).mean(axis=(1, 3)) - once).mean() < 3
    # The picture is drawn, not enlarged, so pixels of a pair differ.
    assert (twice[::2] != twice[1::2]).any(axis=2).sum() > 500


@pytest.fixture
def cache(tcb_animation):
    return tcb_animation.panels.pictures.diagram_icons


@pytest.fixture
def icons(scene, diagram, cache, monkeypatch):
    """icons(parameters): the name and pixels of the drawn picture."""

    monkeypatch.setattr(cache, "size_in_pixels", lambda: 161)  # Without a window, there is no display scale.

    def draw(*every, sides=(diagram.SPLINE, diagram.SPLINE)):
        layout = bpy.context.window_manager.popmenu_begin__internal("diagram").layout
        cache.draw_diagram(layout, every, sides)
        name = next(reversed(cache._icon_names.values()))
        return name, np.array(cache._previews[name].image_pixels)

    return draw


def test_a_slider_that_moves_draws_another_picture_and_back_the_same(icons):
    first, pixels = icons(parameters(tension=0.5))
    other, changed = icons(parameters(tension=0.51))
    again, same = icons(parameters(tension=0.5))
    assert first == again != other
    assert (pixels == same).all()
    assert (pixels != changed).any()


def test_what_blender_plays_beside_the_key_draws_another_picture(icons, played):
    plain, pixels = icons(parameters())
    held, changed = icons(parameters(), sides=played("CONSTANT"))
    assert plain != held
    assert (pixels != changed).any()
    assert icons(parameters())[0] == plain


def test_keys_that_differ_are_drawn_faintly_over_each_other(icons, diagram):
    _, shown = icons(parameters(tension=1.0), parameters(tension=-1.0))
    alone = [icons(parameters(tension=tension))[1] for tension in (1.0, -1.0)]
    assert not any((shown == each).all() for each in alone)
    tight, wide = (diagram.curve(parameters(tension=tension))[0] for tension in (1.0, -1.0))
    picture = diagram.render([parameters(tension=1.0), parameters(tension=-1.0)], 160, WHITE, BLACK).pixels[..., 0]
    full = diagram.render([parameters(tension=1.0)], 160, WHITE, BLACK).pixels[..., 0]
    for line in (tight, wide):
        # between two dots, away from the key
        column, row = diagram.pixels_of(line[14], 160).astype(int)
        assert 0.1 < picture[row - 1 : row + 2, column].max() < full.max()


def test_without_a_key_the_field_is_empty(icons):
    _, empty = icons()
    _, shown = icons(parameters())
    ground = empty[len(empty) // 2]
    # only the base line and round corners
    assert (empty != ground).sum() < 400
    assert (shown != ground).sum() > 1000


TANGENTS = list(product((-1.0, -0.3, 0.5, 1.0), repeat=3))


@pytest.mark.parametrize(("tension", "continuity", "bias"), TANGENTS)
def test_tangents_end_where_the_paper_says(diagram, tension, continuity, bias):
    """Return the ends of a third of the Kochanek-Bartels tangents at the key (0, 1)."""
    at, before, after = np.array((0.0, 1.0)), np.array((1.0, 1.0)), np.array((1.0, -1.0))
    t, c, b = tension, continuity, bias
    incoming = 0.5 * (1 - t) * ((1 - c) * (1 + b) * before + (1 + c) * (1 - b) * after)
    outgoing = 0.5 * (1 - t) * ((1 + c) * (1 + b) * before + (1 - c) * (1 - b) * after)
    shown = diagram.ends_of_tangents(parameters(tension=t, continuity=c, bias=b))
    np.testing.assert_allclose(shown, (at - incoming / 3, at + outgoing / 3), atol=1e-12)
    # Longer tangents are shortened to the picture, and have the same direction.
    for end in shown:
        inside = diagram.pixels_of(diagram.shown_at(end), 160)
        assert (inside > 2).all()
        assert (inside < 158).all()
        away, seen = end - at, diagram.shown_at(end) - at
        assert abs(away[0] * seen[1] - away[1] * seen[0]) < 1e-12
