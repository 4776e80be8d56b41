# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert the animator's keys to keys that reproduce the TCB splines."""
