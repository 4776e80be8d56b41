# SPDX-License-Identifier: GPL-3.0-or-later
"""Import a 3D Studio file into a scene."""
