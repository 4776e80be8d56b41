# SPDX-License-Identifier: GPL-3.0-or-later
"""Adjust keys until a condition holds at every frame and between frames."""
