# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: update tracks after edits."""
