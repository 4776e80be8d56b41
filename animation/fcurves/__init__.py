# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's curves as arrays, and back."""
