"""Anchors: a few places in a token sequence by which equal runs are found, wherever they are."""

import numpy as np

GRAM = 16
"""tokens hashed together"""
WINDOW = 16
"""of this many consecutive grams, at least one is an anchor"""
GUARANTEED_RUN = GRAM + WINDOW - 1
"""any run of this many equal tokens shares an anchor"""

_FACTORS = np.array([pow(0x9E3779B97F4A7C15, GRAM - 1 - i, 1 << 64) for i in range(GRAM)], dtype=np.uint64)


def anchors(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the positions of the anchors in `tokens` (int32 [n]), ascending, and the hashes of their grams (uint64).

    Winnowing: picks the gram with the smallest hash in each window of `WINDOW` grams. The choice depends only on the
    window's tokens, so two sequences that share a run of `GUARANTEED_RUN` tokens choose the same gram within it.
    """
    hashes = _gram_hashes(tokens)
    if len(hashes) == 0:
        return np.empty(0, np.int64), np.empty(0, np.uint64)
    if len(hashes) <= WINDOW:
        positions = np.array([int(hashes.argmin())])
    else:
        windows = np.lib.stride_tricks.sliding_window_view(hashes, WINDOW)
        positions = np.unique(windows.argmin(axis=1) + np.arange(len(windows)))
    return positions, hashes[positions]


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
