# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes, takes and curves in the files of other programs, and their values between keys."""

from .curves import CONSTANT, CUBIC, LINEAR, Curve, combined, union_times
from .scene import EulerCurves, MotionError, MotionFile, Node, NodeMotion, Take, Track, check_count, find_cycle

__all__ = [
    "CONSTANT",
    "CUBIC",
    "LINEAR",
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
    "union_times",
]
