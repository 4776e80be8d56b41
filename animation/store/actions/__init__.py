# SPDX-License-Identifier: GPL-3.0-or-later
"""What concerns whole actions: Live, originals of new actions, and the upkeep of tables."""
