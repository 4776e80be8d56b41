# SPDX-License-Identifier: GPL-3.0-or-later
"""A cache of the handles of fitted segments, so that unchanged segments are not fitted again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..keys import Float64Array


class KnownFits:
    """A cache of segment fits by input. `fit_handles` does not repeat a cached fit.

    Cubic segments are not cached, because their handles need no search.

    Parameters
    ----------
    most : int
        The maximum number of fits. If there are more fits, the older half is dropped. A fit takes two thirds of a
        kilobyte.
    """

    def __init__(self, most: int = 50_000) -> None:
        self._most = most
        self._fits: dict[bytes, bytes] = {}

    def __len__(self) -> int:
        """Return the number of fits."""
        return len(self._fits)

    def missing(self, inputs: Sequence[bytes]) -> list[int]:
        """Return the index of the first occurrence of each unknown input."""
        unknown = [index for index, fit_input in enumerate(inputs) if fit_input not in self._fits]
        return sorted({inputs[index]: index for index in reversed(unknown)}.values())

    def learn(self, inputs: Sequence[bytes], rows: Float64Array) -> None:
        """Store a row of numbers for each input."""
        self._fits.update(zip(inputs, row_bytes(rows), strict=True))

    def recall(self, inputs: Sequence[bytes]) -> Float64Array:
        """Return the rows of known inputs, shape (inputs, numbers), and drop the oldest rows if there are too many."""
        # Joining the rows as bytes avoids creating an array for each row, which would take longer.
        rows = np.frombuffer(bytearray().join([self._fits[fit_input] for fit_input in inputs])).reshape(len(inputs), -1)
        if len(self._fits) > self._most:
            self._fits = dict([*self._fits.items()][-(self._most // 2) :])
        return rows


def row_bytes(rows: Float64Array) -> list[bytes]:
    """Return the bytes of each row."""
    size, data = rows.itemsize * rows.shape[1], rows.tobytes()
    return [data[start : start + size] for start in range(0, len(data), size)]
