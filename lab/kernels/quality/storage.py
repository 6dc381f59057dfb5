"""
FusionRAG §5.3.3, "Storage Efficiency": what a prefix cache and a cache of chunks store for the same queries.

Usage: python -m quality.storage [--queries 1000] [--chunks 5]

Of the chunks that queries retrieve, 60 % are of a corpus, 30 % newer but shared among users, and 10 % one user's own.
The prefix cache keeps every beginning of a prompt once; the other is the plugins' own catalogue of segments, which
finds tokens wherever they stand. Both keep everything.
"""

import argparse
import hashlib
from collections import Counter
from collections.abc import Iterator

import numpy as np

from reprise_reuse.segments import Catalogue, cut

CORPUS, SHARED = 400, 150
"""chunks that may be retrieved again: the k-th is asked for with a frequency of 1 / k"""
SHARES = {"corpus": 0.6, "shared": 0.3, "own": 0.1}
LENGTHS = (200, 600)
TOKENS = 32_000


def draw_queries(random: np.random.Generator, queries: int, chunks: int) -> list[list[tuple[object, np.ndarray]]]:
    """Returns the chunks of each query, by name and tokens, in the order of their retrieval."""
    known = {kind: [_draw_chunk(random) for _ in range(n)] for kind, n in (("corpus", CORPUS), ("shared", SHARED))}
    weights = {kind: 1 / np.arange(1, len(own) + 1) for kind, own in known.items()}
    drawn = []
    for _ in range(queries):
        query: dict[object, np.ndarray] = {}
        while len(query) < chunks:
            kind = random.choice(list(SHARES), p=list(SHARES.values()))
            if kind == "own":
                query[object()] = _draw_chunk(random)
                continue
            at = int(random.choice(len(known[kind]), p=weights[kind] / weights[kind].sum()))
            query[kind, at] = known[kind][at]
        drawn.append(list(query.items()))
    return drawn


def _draw_chunk(random: np.random.Generator) -> np.ndarray:
    return random.integers(0, TOKENS, random.integers(*LENGTHS)).astype(np.int32)


def by_prefixes(queries: list[list[tuple[object, np.ndarray]]]) -> tuple[int, Counter]:
    """Returns the tokens that a prefix cache stores, and how often it computes each chunk."""
    held: set[bytes] = set()
    computed: Counter = Counter()
    tokens = 0
    for query in queries:
        prefix = b""
        for name, chunk in query:
            prefix = hashlib.blake2b(prefix + chunk.tobytes(), digest_size=16).digest()
            if prefix not in held:
                held.add(prefix)
                tokens += len(chunk)
                computed[name] += 1
    return tokens, computed


def by_segments(
    queries: list[list[tuple[object, np.ndarray]]], room: int, *, is_told_borders: bool = True
) -> tuple[int, Counter, int]:
    """Returns the same for a catalogue of segments with room for so many tokens, and how many tokens it found.

    is_told_borders: whether segments end where chunks do, as a client's `spans` say, or what is new is cut by length
    """
    catalogue = Catalogue(room)
    computed: Counter = Counter()
    stored = found_tokens = 0
    for query in queries:
        prompt = np.concatenate([chunk for _, chunk in query])
        known = np.zeros(len(prompt), bool)
        for found in catalogue.find(b"", prompt):
            known[found.match.start : found.match.end] = True
        if not is_told_borders:
            for start, stop in _runs(~known):
                _store(catalogue, prompt, start, stop)
        begin = 0
        for name, chunk in query:
            end = begin + len(chunk)
            missing = np.flatnonzero(~known[begin:end])
            found_tokens += len(chunk) - len(missing)
            # an edge that matching left out is computed with the prompt, and is no chunk
            if len(missing) > len(chunk) / 2:
                computed[name] += 1
                if is_told_borders:
                    _store(catalogue, prompt, begin, end)
                stored += len(chunk)
            begin = end
    return stored, computed, found_tokens


def _runs(which: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yields where each run of tokens begins and ends that are meant by `which`, bool [n]."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], which, [False])))).tolist()
    yield from zip(edges[::2], edges[1::2], strict=True)


def _store(catalogue: Catalogue, prompt: np.ndarray, begin: int, end: int) -> None:
    for start, stop in cut(begin, end):
        catalogue.add(b"", prompt[start:stop], start, b"", is_exact=True, user=b"")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--chunks", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    queries = draw_queries(np.random.default_rng(options.seed), options.queries, options.chunks)
    asked = sum(len(chunk) for query in queries for _, chunk in query)
    distinct = {name: len(chunk) for query in queries for name, chunk in query}
    prefix_tokens, prefix_computed = by_prefixes(queries)
    tokens, computed, found = by_segments(queries, 2 * sum(distinct.values()))
    again = sum(prefix_computed.values()) - len(prefix_computed)
    print(f"{options.queries} queries of {options.chunks} chunks, {asked:,} tokens; {len(distinct)} different chunks")
    print(f"prefix cache: {prefix_tokens:,} tokens stored; chunks computed once more than needed: {again}")
    repeated = sum(computed.values()) - len(computed)
    print(f"segments: {tokens:,} tokens stored ({tokens / prefix_tokens - 1:+.1%}); computed once more: {repeated}")
    print(f"tokens found: {found / asked:.1%} (prefix cache {1 - prefix_tokens / asked:.1%})")
    for share in (2, 0.25, 0.1):
        room = int(share * sum(distinct.values()))
        told, guessed = (by_segments(queries, room, is_told_borders=told)[2] / asked for told in (True, False))
        print(f"room for {share:g} of the different tokens: found {told:.2%} with borders told, {guessed:.2%} without")


if __name__ == "__main__":
    main()
