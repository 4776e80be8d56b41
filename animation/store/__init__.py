# SPDX-License-Identifier: GPL-3.0-or-later
"""Storage of key and track data: identities in the keys, and all other data in the action's table."""
