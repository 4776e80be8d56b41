# SPDX-License-Identifier: GPL-3.0-or-later
"""Parameters of keys: setting, resetting, pasting, recording and restoring."""
