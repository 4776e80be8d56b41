# SPDX-License-Identifier: GPL-3.0-or-later
"""Enable, restore, remove, set parameters, make keys, retime."""
