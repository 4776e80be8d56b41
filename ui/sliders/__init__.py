# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields of keys: parameters, velocities, frames and values, with shared sliders and 3ds Max values."""
