# SPDX-License-Identifier: GPL-3.0-or-later
"""Compute with arrays of rotations: quaternions w, x, y, z, angles in radians, and matrices for column vectors.

The package exports functions for orientations and turns. Curves on the quaternion sphere are in separate modules.
"""

from .euler import Order, follow_axis_angle, follow_euler, from_euler, to_euler
from .full_turns import FullTurns, split_full_turns
from .quaternions import (
    angle_between,
    conjugate,
    from_axis_angle,
    from_matrix,
    from_rotation_vector,
    multiply,
    normalise,
    shorter,
    slerp,
    to_axis_angle,
    to_matrix,
    to_rotation_vector,
    unit_vectors,
    unroll_signs,
)
from .turns import (
    Convention,
    nearest_turns,
    rotations_to_turns,
    turn_sign,
    turns_of_axis_angle,
    turns_of_euler,
    turns_to_rotations,
    walk_axis_angle,
    walk_euler,
)

__all__ = [
    "Convention",
    "FullTurns",
    "Order",
    "angle_between",
    "conjugate",
    "follow_axis_angle",
    "follow_euler",
    "from_axis_angle",
    "from_euler",
    "from_matrix",
    "from_rotation_vector",
    "multiply",
    "nearest_turns",
    "normalise",
    "rotations_to_turns",
    "shorter",
    "slerp",
    "split_full_turns",
    "to_axis_angle",
    "to_euler",
    "to_matrix",
    "to_rotation_vector",
    "turn_sign",
    "turns_of_axis_angle",
    "turns_of_euler",
    "turns_to_rotations",
    "unit_vectors",
    "unroll_signs",
    "walk_axis_angle",
    "walk_euler",
]
