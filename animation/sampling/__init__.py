# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample F-curves, properties, objects and bones as Blender plays them."""
