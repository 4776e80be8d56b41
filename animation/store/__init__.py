# SPDX-License-Identifier: GPL-3.0-or-later
"""Storage of what belongs to keys and tracks: identities in the keys, the rest in the action's table."""
