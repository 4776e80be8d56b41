# SPDX-License-Identifier: GPL-3.0-or-later
"""Key fields: parameters, velocities, frames and values, with sliders for several keys."""
