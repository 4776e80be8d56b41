# SPDX-License-Identifier: GPL-3.0-or-later
"""Export of a scene's objects to a 3D Studio file."""
