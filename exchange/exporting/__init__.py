# SPDX-License-Identifier: GPL-3.0-or-later
"""Export objects of a scene to a 3D Studio file."""
