# SPDX-License-Identifier: GPL-3.0-or-later
"""Live: updates of tracks after edits."""
