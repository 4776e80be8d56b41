# SPDX-License-Identifier: GPL-3.0-or-later
"""Fits: Bezier keys, handles and TCB parameters that play a given motion, and reductions to fewer keys."""

from .requests import Request

__all__ = ["Request"]
