# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes, takes and curves in the files of other programs, and their values between keys."""

from .curves import CONSTANT, CUBIC, LINEAR, Curve, combined, scaled, union_times
from .scene import (
    VALUE_LIMIT,
    EulerCurves,
    MotionError,
    MotionFile,
    Node,
    NodeMotion,
    Take,
    Track,
    check_count,
    find_cycle,
)

__all__ = [
    "CONSTANT",
    "CUBIC",
    "LINEAR",
    "VALUE_LIMIT",
    "Curve",
    "EulerCurves",
    "MotionError",
    "MotionFile",
    "Node",
    "NodeMotion",
    "Take",
    "Track",
    "check_count",
    "combined",
    "find_cycle",
    "scaled",
    "union_times",
]
