# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments of the command."""
