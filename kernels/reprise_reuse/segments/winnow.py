"""Anchors: a few places in a token sequence by which equal runs are found, wherever they are."""

import numpy as np

GRAM = 16
"""tokens hashed together"""
WINDOW = 16
"""of this many consecutive grams, at least one is an anchor"""
GUARANTEED_RUN = GRAM + WINDOW - 1
"""any run of this many equal tokens shares an anchor"""

_FACTORS = np.array([pow(0x9E3779B97F4A7C15, GRAM - 1 - i, 1 << 64) for i in range(GRAM)], dtype=np.uint64)


Anchors = tuple[np.ndarray, np.ndarray]
"""positions, ascending, and the hashes of the grams there (uint64)"""


class Grams:
    """The grams of a token sequence, hashed once, from which the anchors of any part are picked."""

    def __init__(self, tokens: np.ndarray, window: int = WINDOW) -> None:
        """tokens: int32 [n]; window: of so many consecutive grams, at least one is an anchor"""
        self._hashes, self._window = _gram_hashes(tokens), window
        self._smallest = np.empty(0, np.int64)
        if len(self._hashes) >= window:
            windows = np.lib.stride_tricks.sliding_window_view(self._hashes, window)
            self._smallest = windows.argmin(axis=1) + np.arange(len(windows))

    def anchors(self, begin: int, end: int) -> Anchors:
        """Returns the anchors of the tokens [begin, end), with positions from `begin` on.

        Winnowing: picks the gram with the smallest hash in each window. The choice depends only on the window's tokens,
        so two sequences that share a run of `GRAM + window - 1` tokens choose the same gram in it.
        """
        last = end - GRAM + 1
        if last <= begin:
            return np.empty(0, np.int64), np.empty(0, np.uint64)
        if last - begin <= self._window:
            positions = np.array([begin + int(self._hashes[begin:last].argmin())])
        else:
            positions = np.unique(self._smallest[begin : last - self._window + 1])
        return positions - begin, self._hashes[positions]


def anchors(tokens: np.ndarray) -> Anchors:
    """Returns the anchors of `tokens` (int32 [n])."""
    return Grams(tokens).anchors(0, len(tokens))


def _gram_hashes(tokens: np.ndarray) -> np.ndarray:
    """Returns a 64-bit hash per run of `GRAM` tokens, scrambled so that the minimum is a fair choice."""
    if len(tokens) < GRAM:
        return np.empty(0, np.uint64)
    grams = np.lib.stride_tricks.sliding_window_view(tokens.astype(np.uint64), GRAM)
    with np.errstate(over="ignore"):
        # a sum of products of whole columns: 64-bit integer matrix products are not vectorised
        hashes = sum(grams[:, i] * _FACTORS[i] for i in range(GRAM))
        hashes ^= hashes >> np.uint64(31)
        hashes *= np.uint64(0xBF58476D1CE4E5B9)
        return hashes ^ (hashes >> np.uint64(29))
