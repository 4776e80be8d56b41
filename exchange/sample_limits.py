# SPDX-License-Identifier: GPL-3.0-or-later
"""The most samples that an import and an export make unless their limit is raised: some minutes of work."""

IMPORT_LIMIT = 5_000_000
EXPORT_LIMIT = 1_000_000
