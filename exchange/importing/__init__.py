# SPDX-License-Identifier: GPL-3.0-or-later
"""A 3D Studio file into a scene."""
