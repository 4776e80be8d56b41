# SPDX-License-Identifier: GPL-3.0-or-later
"""From the animator's keys to keys that play their splines."""
