# SPDX-License-Identifier: GPL-3.0-or-later
"""Edit keys on the paths of objects and bones in the viewport."""
