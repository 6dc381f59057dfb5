"""What the two caches of the storage simulation keep of a few queries that can be counted by hand."""

import numpy as np

from quality.storage import by_prefixes, by_segments

RANDOM = np.random.default_rng(0)
A, B, C = ((name, RANDOM.integers(0, 32_000, 300).astype(np.int32)) for name in "abc")
QUERIES = [[A, B], [A, C], [B, A]]


def test_a_prefix_cache_keeps_each_beginning_once():
    tokens, computed = by_prefixes(QUERIES)
    # a, ab, ac, b, ba
    assert tokens == 5 * 300
    assert computed == {"a": 2, "b": 2, "c": 1}


def test_segments_are_computed_once_wherever_they_stand():
    tokens, computed, found = by_segments(QUERIES, 10_000)
    assert tokens == 3 * 300
    assert computed == {"a": 1, "b": 1, "c": 1}
    assert 0.9 * 900 < found <= 900
