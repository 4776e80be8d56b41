# SPDX-License-Identifier: GPL-3.0-or-later
"""Operations on actions: the Live switch, and maintenance of tables."""
