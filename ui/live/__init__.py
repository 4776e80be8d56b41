# SPDX-License-Identifier: GPL-3.0-or-later
"""Live in Blender: edit detection, scene settings, and messages."""
