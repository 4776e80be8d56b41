# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of a scene into a 3D Studio file."""
