"""
Token types as hints for eviction (SAECache): questions and answers go first, then documents, then system text.

Usage: python -m quality.token_types TRACE ORDERS [--chat]

ORDERS is what `reprise replay TRACE --policy reprise --orders ORDERS` writes. Caches have eight sizes, from the longest
prompt to half of all distinct tokens, and four orders of eviction: the least recently used page first; the one with
fewest uses, then recency (HotPrefix, equation 5, as in vLLM's plugin); and both with the type before everything else. A
page that a cached page continues is never evicted.
"""

import argparse
import heapq
import json
import random
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from reprise_hotness.tracker import HotnessTracker

from quality.in_engine.prompts import read_lines

PAGE, SIZES = 16, 8
QUESTION, DOCUMENT, SYSTEM = range(3)
"""types, those evicted first before others; answers are as questions"""
SYSTEM_TOKENS, ANSWER_TOKENS = 200, 158
"""an answer has BBH's mean length, by a uniform factor of .5 to 1.5"""


class Part(NamedTuple):
    """A text of a prompt: its type, what tells it from others, and its tokens."""

    type: int
    key: str
    tokens: int


class Request(NamedTuple):
    """The prompt's tokens, and the pages of prompt and answer: a name, equal for equal beginnings, and a type."""

    tokens: int
    pages: list[tuple[int, int]]


def read_requests(trace: Path, orders: Path, *, is_chat: bool) -> list[Request]:
    """Returns the requests as they arrive; in a chat a prompt has the turns of its conversation before it."""
    texts = {block["id"]: block["text"] for block in read_lines(trace, "blocks") if "text" in block}
    asked = {}
    for stem in ("queries", "turns", "questions"):
        if any(trace.glob(f"{stem}.jsonl*")):
            asked |= {_name(query): query.get("query") or query["question"] for query in read_lines(trace, stem)}
    rows = [json.loads(line) for line in orders.read_text().splitlines()]
    lengths, turns, found = random.Random(1), {}, []
    for row in _interleaved(rows) if is_chat else rows:
        name = row["query_id"]
        history = turns.setdefault(name.split("/")[0] if is_chat else name, [])
        history += [Part(DOCUMENT, one, _tokens(texts[one])) for one in row["blocks"]]
        history.append(Part(QUESTION, f"asked {name}", _tokens(asked[name])))
        answer = Part(QUESTION, f"answered {name}", round(ANSWER_TOKENS * lengths.uniform(0.5, 1.5)))
        prompt = [Part(SYSTEM, "system", SYSTEM_TOKENS), *history]
        found.append(Request(sum(part.tokens for part in prompt), _pages([*prompt, answer])))
        history.append(answer)
    return found


def _name(query: dict[str, Any]) -> str:
    return (
        str(query["query_id"])
        if "query_id" in query
        else f"{query['conversation']}/{query.get('turn', query.get('q'))}"
    )


def _interleaved(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Conversations go on at the same time, each in order."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_name.setdefault(row["query_id"].split("/")[0], []).append(row)
    order = [name for name, turns in by_name.items() for _ in turns]
    random.Random(1).shuffle(order)
    for name in order:
        yield by_name[name].pop(0)


def _tokens(text: str) -> int:
    return max(1, len(text) // 4)


def _pages(parts: list[Part]) -> list[tuple[int, int]]:
    """Cuts parts into whole pages; a page that holds anything of a type is as easily given up as that."""
    ends = list(accumulate(part.tokens for part in parts))
    pages, prefix, first = [], 0, 0
    for end in range(PAGE, ends[-1] + 1, PAGE):
        last = int(np.searchsorted(ends, end))
        inside = parts[first : last + 1]
        prefix = hash((prefix, *(part.key for part in inside), end - (ends[first] - parts[first].tokens)))
        pages.append((prefix, min(part.type for part in inside)))
        first = last + (ends[last] == end)
    return pages


class Cache:
    """Pages, of which the least by `rank` of its key, type and time goes first."""

    def __init__(self, pages: int, rank: Callable[[int, int, int], tuple]) -> None:
        self._room, self._rank = pages, rank
        self._held: dict[int, list[int]] = {}
        """by key: its type, when it was used last, how many cached pages continue it, and which it continues"""
        self._leaves: list[tuple] = []

    def serve(self, pages: list[tuple[int, int]], now: int) -> int:
        """Returns how many pages were there; all are, afterwards."""
        found = next((at for at, (key, _) in enumerate(pages) if key not in self._held), len(pages))
        for at, (key, kind) in enumerate(pages):
            if at >= found:
                self._held[key] = [kind, now, 0, pages[at - 1][0] if at else 0]
                if at:
                    self._held[pages[at - 1][0]][2] += 1
            self._held[key][1] = now
        self._offer(pages[-1][0])
        while len(self._held) > self._room:
            self._evict()
        return found

    def _offer(self, key: int) -> None:
        kind, used, _, _ = self._held[key]
        heapq.heappush(self._leaves, (self._rank(key, kind, used), used, key))

    def _evict(self) -> None:
        _, used, key = heapq.heappop(self._leaves)
        page = self._held.get(key)
        if page is None or page[2] or page[1] != used:
            return
        del self._held[key]
        parent = self._held.get(page[3])
        if parent:
            parent[2] -= 1
            if not parent[2]:
                self._offer(page[3])


def hit_ratio(requests: list[Request], pages: int, name: str) -> float:
    """Returns the share of the prompts' tokens that a cache of so many pages had."""
    tracker = HotnessTracker(max(65_536, 4 * pages))

    def uses_of(key: Any) -> int:
        return tracker.heat_of(key).frequency

    ranks = {
        "lru": lambda key, kind, used: (used,),
        "lru, types": lambda key, kind, used: (kind, used),
        "hotprefix": lambda key, kind, used: (uses_of(key), used),
        "hotprefix, types": lambda key, kind, used: (kind, uses_of(key), used),
    }
    cache, found = Cache(pages, ranks[name]), 0
    for now, request in enumerate(requests):
        for key, _ in request.pages:
            tracker.use(key)
        found += min(PAGE * cache.serve(request.pages, now), request.tokens)
    return found / sum(request.tokens for request in requests)


def main() -> None:
    parser = argparse.ArgumentParser(prog="quality.token_types", description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("orders", type=Path)
    parser.add_argument(
        "--chat", action="store_true", help="the turns of a conversation follow each other in one prompt"
    )
    options = parser.parse_args()
    requests = read_requests(options.trace, options.orders, is_chat=options.chat)
    distinct = len({key for request in requests for key, _ in request.pages})
    sizes = np.geomspace(max(len(request.pages) for request in requests) + 1, max(distinct / 2, 2), SIZES).astype(int)
    names = ("lru", "lru, types", "hotprefix", "hotprefix, types")
    rows = np.array([[hit_ratio(requests, int(size), name) for name in names] for size in sizes])
    for size, row in zip(sizes, rows, strict=True):
        print(
            f"{PAGE * size:>9,} tokens", *(f"{name} {one:.4f}" for name, one in zip(names, row, strict=True)), sep="  "
        )
    for name, to in (("lru, types", "lru"), ("hotprefix", "lru"), ("hotprefix, types", "hotprefix")):
        ratios = rows[:, names.index(name)] / rows[:, names.index(to)]
        mean = np.exp(np.log(ratios).mean())
        print(f"{name} to {to}: {mean:.3f} of its hits, {ratios.min():.3f} to {ratios.max():.3f}")


if __name__ == "__main__":
    main()
