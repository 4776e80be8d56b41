# SPDX-License-Identifier: GPL-3.0-or-later
"""Store key and track data: identities in the keys, and all other data in the action's table."""
