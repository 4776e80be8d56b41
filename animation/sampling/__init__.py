# SPDX-License-Identifier: GPL-3.0-or-later
"""Sample what Blender plays: F-curves, properties, objects and bones."""
