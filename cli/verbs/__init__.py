# SPDX-License-Identifier: GPL-3.0-or-later
"""What each verb of the command does."""
