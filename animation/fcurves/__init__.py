# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's F-curves as NumPy arrays, and back."""
