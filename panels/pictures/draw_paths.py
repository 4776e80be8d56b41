# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw paths on the GPU. All functions are called in a draw callback."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import blf
import bpy
import gpu
import numpy as np
import numpy.typing as npt
from gpu_extras.batch import batch_for_shader
from mathutils import Matrix

from ...ui.preferences import PATH_WIDTH
from .diagram import INCOMING, KEY_COLOUR, OUTGOING
from .paths import Path, Points

Colour = tuple[float, float, float, float]
PATH: Colour = (0.45, 0.72, 1.0, 0.9)
_TANGENTS = tuple((*colour[:3], 0.9) for colour in (INCOMING, OUTGOING))
_TEXT = 12.0
_NUMBER = (1.0, 0.85, 0.5, 1.0)
_NUMBER_BETWEEN = (0.85, 0.85, 0.85, 0.9)
_HERE = (1.0, 1.0, 1.0, 0.9)
_HOVERED = (1.0, 0.35, 0.05, 0.9)
_SPEEDS = np.array(
    [(0.2, 0.35, 1.0, 1.0), (0.1, 0.8, 0.9, 1.0), (0.4, 0.9, 0.3, 1.0), (1.0, 0.8, 0.1, 1.0), (1.0, 0.2, 0.1, 1.0)]
)
"""From slow to fast."""
# Sizes in pixels at display scale 1.
_THIN, _KNOB, _DIAMOND, _GLOW = 1.0, 5.0, 11.0, 18.0
_WIDER, _HERE_WIDER = 2.0, 8.0
"""Additional widths of the dots at frames and at the playhead, compared with the line."""
_BEFORE = 0.55
"""Brightness factor of the path before the playhead."""
_PALER = np.array([0.4, 0.4, 0.4, 0.0], dtype=np.float32)
"""Factor of the difference between white and the path's color, for dots."""

_VERTEX = """
void main()
{
  gl_Position = ModelViewProjectionMatrix * vec4(pos, 1.0);
  gl_PointSize = size;
  tint = color;
}
"""
# Viewport overlays are sRGB. Shader output is treated as linear, and Blender's own shaders convert it.
_FRAGMENT = """
void main()
{
  vec2 from_centre = abs(gl_PointCoord - vec2(0.5));
  float reach = diamond ? from_centre.x + from_centre.y : length(from_centre);
  fragColor = vec4(pow(tint.rgb, vec3(2.2)), tint.a * clamp((0.5 - reach) * size, 0.0, 1.0));
}
"""


class PathStyle(NamedTuple):
    """Drawing style of a path."""

    by_speed: bool
    colour: Colour
    window: tuple[int, int] | None
    """First and last frame to draw. None draws all."""


class Picture:
    """Batches of a path's lines and points."""

    def __init__(self, path: Path, style: PathStyle) -> None:
        self.style = style
        colours = _speed_colours(path.speeds) if style.by_speed else _repeated(style.colour, len(path.points))
        start = path.start
        if style.window is not None:
            path = path.within(*style.window)
            colours = colours[path.start - start :][: len(path.points)]
        self._path, self._colours = path, colours
        keys = len(path.keys)
        ends = np.concatenate((path.keys + path.incoming, path.keys + path.outgoing))
        handles = np.concatenate([_repeated(colour, keys) for colour in _TANGENTS])
        spokes = np.stack((np.concatenate((path.keys, path.keys)), ends), axis=1).reshape(-1, 3)
        self.spokes = _batch(_line_shader(), "LINES", spokes, np.repeat(handles, 2, axis=0)) if keys else None
        self.knobs = _batch(_dot_shader(), "POINTS", ends, handles) if keys else None
        self.keys = _batch(_dot_shader(), "POINTS", path.keys, _repeated(KEY_COLOUR, keys)) if keys else None
        self.lines: list[Any] = []
        self.frames = self.here = None
        self._marked: int | None = None
        self._draw_line(np.ones(len(path.points), dtype=np.float32))

    def mark(self, playhead: int | None) -> None:
        """Mark a frame with a dot, and draw the path before it darker. None draws the path uniformly."""
        if playhead == self._marked:
            return
        self._marked, self.here = playhead, None
        points = self._path.points
        bright = np.ones(len(points), dtype=np.float32)
        if playhead is not None:
            row = playhead - self._path.start
            bright[: max(row, 0)] = _BEFORE
            if 0 <= row < len(points):
                self.here = _batch(_dot_shader(), "POINTS", points[row : row + 1], _repeated(_HERE, 1))
        self._draw_line(bright)

    def _draw_line(self, bright: npt.NDArray[np.float32]) -> None:
        points = self._path.points
        colours = self._colours.copy()
        colours[:, :3] *= bright[:, np.newaxis]
        dots = 1.0 - (1.0 - self._colours) * _PALER
        dots[:, :3] *= bright[:, np.newaxis]
        self.lines = [
            _batch(_line_shader(), "LINE_STRIP", points[rows], colours[rows])
            for rows in self._path.stretches()
            if len(points[rows]) > 1
        ]
        self.frames = _batch(_dot_shader(), "POINTS", points, dots) if len(points) else None


def draw(
    pictures: Sequence[Picture],
    frames: bool,
    tangents: bool,
    highlight: npt.NDArray[np.float64] | None = None,
    width: float = PATH_WIDTH,
    view: npt.NDArray[np.float64] | None = None,
) -> None:
    """Draw the paths, tangents below and keys on top.

    `highlight`: position of the element under the mouse. `width`: path width, in pixels at a display scale of 1.
    `view`: matrix from camera space to world space, shape (4, 4). None means world space.
    """
    if not pictures:
        return
    preferences: Any = bpy.context.preferences
    scale = preferences.system.ui_scale
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    gpu.state.program_point_size_set(True)
    try:
        matrices: Any = gpu.matrix
        with matrices.push_pop():
            if view is not None:
                matrices.multiply_matrix(Matrix(view.tolist()))
            if tangents:
                _lines([picture.spokes for picture in pictures], _THIN * scale)
            _lines([line for picture in pictures for line in picture.lines], width * scale)
            if frames:
                _dots([picture.frames for picture in pictures], (width + _WIDER) * scale)
            if tangents:
                _dots([picture.knobs for picture in pictures], _KNOB * scale)
            _dots([picture.here for picture in pictures], (width + _HERE_WIDER) * scale)
            if highlight is not None:
                place = highlight[np.newaxis].astype(np.float32)
                _dots([_batch(_dot_shader(), "POINTS", place, _repeated(_HOVERED, 1))], _GLOW * scale)
            _dots([picture.keys for picture in pictures], _DIAMOND * scale, diamond=True)
    finally:
        gpu.state.program_point_size_set(False)
        gpu.state.blend_set("NONE")


def draw_numbers(places: npt.NDArray[np.float64], frames: npt.ArrayLike, is_key: bool = True) -> None:
    """Draw frame numbers next to positions (n, 2) in pixels of the region. Called in a pixel draw callback."""
    preferences: Any = bpy.context.preferences
    scale = preferences.system.ui_scale
    blf.size(0, _TEXT * scale)
    blf.color(0, *(_NUMBER if is_key else _NUMBER_BETWEEN))
    for (x, y), frame in zip(places.tolist(), np.asarray(frames).tolist(), strict=True):
        if x == x:
            blf.position(0, x + _KNOB * scale, y + _KNOB * scale, 0.0)
            blf.draw(0, f"{frame:g}")


def _lines(batches: Sequence[Any], width: float) -> None:
    shader = _line_shader()
    shader.bind()
    viewport: Any = gpu.state.viewport_get()
    shader.uniform_float("viewportSize", viewport[2:])
    shader.uniform_float("lineWidth", width)
    for batch in filter(None, batches):
        batch.draw(shader)


def _dots(batches: Sequence[Any], size: float, diamond: bool = False) -> None:
    shader = _dot_shader()
    shader.bind()
    shader.uniform_float("size", size)
    shader.uniform_bool("diamond", [diamond])
    for batch in filter(None, batches):
        batch.draw(shader)


def _batch(shader: Any, kind: Any, points: Points, colours: npt.NDArray[np.float32]) -> Any:
    content: Any = {"pos": np.ascontiguousarray(points), "color": np.ascontiguousarray(colours, dtype=np.float32)}
    return batch_for_shader(shader, kind, content)


def _repeated(colour: Sequence[float], count: int) -> npt.NDArray[np.float32]:
    return np.tile(np.array(colour, dtype=np.float32), (count, 1))


def _speed_colours(speeds: Points) -> npt.NDArray[np.float32]:
    """Return colors, shape (n, 4), from the path's slowest point to its fastest point."""
    low, high = speeds.min(initial=np.inf), speeds.max(initial=0.0)
    part = (speeds - low) / (high - low) if high > low else np.zeros(len(speeds))
    stops = np.linspace(0.0, 1.0, len(_SPEEDS))
    return np.stack([np.interp(part, stops, channel) for channel in _SPEEDS.T], axis=1).astype(np.float32)


@cache
def _line_shader() -> Any:
    return gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR")


@cache
def _dot_shader() -> Any:
    """Return a shader for round or diamond dots with soft edges and individual colors, which Blender 4.2 lacks."""
    types: Any = gpu.types
    info = types.GPUShaderCreateInfo()
    info.push_constant("MAT4", "ModelViewProjectionMatrix")
    info.push_constant("FLOAT", "size")
    info.push_constant("BOOL", "diamond")
    info.vertex_in(0, "VEC3", "pos")
    info.vertex_in(1, "VEC4", "color")
    tints = types.GPUStageInterfaceInfo("tcb_dot")
    tints.flat("VEC4", "tint")
    info.vertex_out(tints)
    info.fragment_out(0, "VEC4", "fragColor")
    info.vertex_source(_VERTEX)
    info.fragment_source(_FRAGMENT)
    return gpu.shader.create_from_info(info)
