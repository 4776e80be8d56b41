# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw paths on the GPU. Call all functions in a draw callback."""

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

from .diagram import INCOMING, KEY_COLOR, OUTGOING
from .path_geometry import Path, Points

Color = tuple[float, float, float, float]
"""sRGB and opacity, from 0 to 1."""
PATH_COLOR: Color = (0.45, 0.72, 1.0, 0.9)
"""Default color of paths."""
_TANGENT_COLORS = tuple((*color[:3], 0.9) for color in (INCOMING, OUTGOING))
_NUMBER_AT_KEY: Color = (1.0, 0.85, 0.5, 1.0)
_NUMBER_BETWEEN: Color = (0.85, 0.85, 0.85, 0.9)
_PLAYHEAD: Color = (1.0, 1.0, 1.0, 0.9)
_HIGHLIGHT: Color = (1.0, 0.35, 0.05, 0.9)
_SPEED_COLORS = np.array(
    [(0.2, 0.35, 1.0, 1.0), (0.1, 0.8, 0.9, 1.0), (0.4, 0.9, 0.3, 1.0), (1.0, 0.8, 0.1, 1.0), (1.0, 0.2, 0.1, 1.0)]
)
"""Colors from slow to fast."""
_BEFORE_PLAYHEAD = 0.55
"""Brightness factor for the path before the playhead."""
_DOT_TINT = 0.4
"""Strength of the path's color in its dots: 0 is white, 1 is the full color. Dots are opaque."""

# Sizes in pixels at display scale 1.
_PATH_WIDTH = 2.0
_FRAME_SIZE = 4.0
_PLAYHEAD_SIZE = 10.0
_TANGENT_WIDTH = 1.0
_TANGENT_END_SIZE = 5.0
_KEY_SIZE = 11.0
_HIGHLIGHT_SIZE = 18.0
_TEXT_SIZE = 12.0

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
  vec2 from_center = abs(gl_PointCoord - vec2(0.5));
  float reach = diamond ? from_center.x + from_center.y : length(from_center);
  fragColor = vec4(pow(tint.rgb, vec3(2.2)), tint.a * clamp((0.5 - reach) * size, 0.0, 1.0));
}
"""


class PathStyle(NamedTuple):
    """Drawing style of a path."""

    by_speed: bool
    color: Color
    frame_range: tuple[int, int] | None
    """First and last frames to draw, or None for all frames."""
    playhead: int | None
    """Frame to mark with a dot. The path before it is darker. If the frame is None, the path is uniform."""


class PathBatches:
    """Batches of a path's lines and dots in the GPU's memory. Batches without points are None."""

    def __init__(self, path: Path, style: PathStyle) -> None:
        self.style = style
        drawn = path if style.frame_range is None else path.within(*style.frame_range)
        # Colors by speed are relative to the entire path.
        all_colors = _speed_colors(path.speeds) if style.by_speed else _repeated(style.color, len(path.points))
        colors = all_colors[drawn.start - path.start :][: len(drawn.points)]
        self.playhead = self.frames = self.tangents = self.tangent_ends = self.keys = None
        brightness = np.ones((len(drawn.points), 1), dtype=np.float32)
        if style.playhead is not None:
            row = style.playhead - drawn.start
            brightness[: max(row, 0)] = _BEFORE_PLAYHEAD
            if 0 <= row < len(drawn.points):
                position = drawn.points[row : row + 1]
                self.playhead = _batch(_dot_shader(), "POINTS", position, _repeated(_PLAYHEAD, 1))
        line_colors, dot_colors = colors.copy(), np.ones_like(colors)
        line_colors[:, :3] *= brightness
        dot_colors[:, :3] = (1.0 - (1.0 - colors[:, :3]) * _DOT_TINT) * brightness
        self.lines = [
            _batch(_line_shader(), "LINE_STRIP", drawn.points[rows], line_colors[rows])
            for rows in drawn.stretches()
            if len(drawn.points[rows]) > 1
        ]
        if len(drawn.points):
            self.frames = _batch(_dot_shader(), "POINTS", drawn.points, dot_colors)
        if len(drawn.keys):
            self._add_keys(drawn)

    def _add_keys(self, path: Path) -> None:
        keys = path.keys
        ends = (keys + path.tangents).reshape(-1, 3)
        colors = np.repeat(np.array(_TANGENT_COLORS), len(keys), axis=0)
        lines = np.stack((np.tile(keys, (2, 1)), ends), axis=1).reshape(-1, 3)
        self.tangents = _batch(_line_shader(), "LINES", lines, np.repeat(colors, 2, axis=0))
        self.tangent_ends = _batch(_dot_shader(), "POINTS", ends, colors)
        self.keys = _batch(_dot_shader(), "POINTS", keys, _repeated(KEY_COLOR, len(keys)))


def draw(
    paths: Sequence[PathBatches],
    frames: bool,
    tangents: bool,
    highlight: npt.NDArray[np.float64] | None,
    camera_to_world: npt.NDArray[np.float64] | None,
) -> None:
    """Draw the paths, with tangents below them and keys on top.

    `highlight`: position of the element under the mouse.
    `camera_to_world`: matrix for paths in camera space, shape (4, 4), or None for paths in world space.
    """
    if not paths:
        return
    scale = _display_scale()
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    gpu.state.program_point_size_set(True)
    try:
        matrices: Any = gpu.matrix
        with matrices.push_pop():
            if camera_to_world is not None:
                matrices.multiply_matrix(Matrix(camera_to_world.tolist()))
            if tangents:
                _draw_lines([path.tangents for path in paths], _TANGENT_WIDTH * scale)
            _draw_lines([line for path in paths for line in path.lines], _PATH_WIDTH * scale)
            if frames:
                _draw_dots([path.frames for path in paths], _FRAME_SIZE * scale)
            if tangents:
                _draw_dots([path.tangent_ends for path in paths], _TANGENT_END_SIZE * scale)
            _draw_dots([path.playhead for path in paths], _PLAYHEAD_SIZE * scale)
            if highlight is not None:
                position = highlight[np.newaxis].astype(np.float32)
                dot = _batch(_dot_shader(), "POINTS", position, _repeated(_HIGHLIGHT, 1))
                _draw_dots([dot], _HIGHLIGHT_SIZE * scale)
            _draw_dots([path.keys for path in paths], _KEY_SIZE * scale, diamond=True)
    finally:
        gpu.state.program_point_size_set(False)
        gpu.state.blend_set("NONE")


def draw_numbers(positions: npt.NDArray[np.float64], frames: npt.ArrayLike, is_key: bool) -> None:
    """Draw frame numbers next to positions (n, 2) in region pixels. Call this in a pixel draw callback."""
    scale = _display_scale()
    offset = _TANGENT_END_SIZE * scale
    blf.size(0, _TEXT_SIZE * scale)
    blf.color(0, *(_NUMBER_AT_KEY if is_key else _NUMBER_BETWEEN))
    for (x, y), frame in zip(positions.tolist(), np.asarray(frames).tolist(), strict=True):
        blf.position(0, x + offset, y + offset, 0.0)
        blf.draw(0, f"{frame:g}")


def _display_scale() -> float:
    preferences: Any = bpy.context.preferences
    return float(preferences.system.ui_scale)


def _draw_lines(batches: Sequence[Any], width: float) -> None:
    shader = _line_shader()
    shader.bind()
    viewport: Any = gpu.state.viewport_get()
    shader.uniform_float("viewportSize", viewport[2:])
    shader.uniform_float("lineWidth", width)
    for batch in filter(None, batches):
        batch.draw(shader)


def _draw_dots(batches: Sequence[Any], size: float, diamond: bool = False) -> None:
    shader = _dot_shader()
    shader.bind()
    shader.uniform_float("size", size)
    shader.uniform_bool("diamond", [diamond])
    for batch in filter(None, batches):
        batch.draw(shader)


def _batch(shader: Any, kind: Any, points: Points, colors: npt.NDArray[np.float32]) -> Any:
    attributes: Any = {"pos": np.ascontiguousarray(points), "color": np.ascontiguousarray(colors, dtype=np.float32)}
    return batch_for_shader(shader, kind, attributes)


def _repeated(color: Sequence[float], count: int) -> npt.NDArray[np.float32]:
    return np.tile(np.array(color, dtype=np.float32), (count, 1))


def _speed_colors(speeds: Points) -> npt.NDArray[np.float32]:
    """Return a color for each point, shape (n, 4), from the slowest to the fastest point of the path."""
    low, high = speeds.min(initial=np.inf), speeds.max(initial=0.0)
    fractions = (speeds - low) / (high - low) if high > low else np.zeros(len(speeds))
    stops = np.linspace(0.0, 1.0, len(_SPEED_COLORS))
    return np.stack([np.interp(fractions, stops, channel) for channel in _SPEED_COLORS.T], axis=1).astype(np.float32)


@cache
def _line_shader() -> Any:
    return gpu.shader.from_builtin("POLYLINE_SMOOTH_COLOR")


@cache
def _dot_shader() -> Any:
    """Return a shader for round or diamond dots with soft edges and individual colors.

    Blender 4.2 has no such shader.
    """
    types: Any = gpu.types
    info = types.GPUShaderCreateInfo()
    info.push_constant("MAT4", "ModelViewProjectionMatrix")
    info.push_constant("FLOAT", "size")
    info.push_constant("BOOL", "diamond")
    info.vertex_in(0, "VEC3", "pos")
    info.vertex_in(1, "VEC4", "color")
    interface = types.GPUStageInterfaceInfo("tcb_dot")
    interface.flat("VEC4", "tint")
    info.vertex_out(interface)
    info.fragment_out(0, "VEC4", "fragColor")
    info.vertex_source(_VERTEX)
    info.fragment_source(_FRAGMENT)
    return gpu.shader.create_from_info(info)
