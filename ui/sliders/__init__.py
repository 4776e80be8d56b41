# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields of keys: parameters, velocities, frames and values; one number of many keys; numbers from 0 to 50."""
