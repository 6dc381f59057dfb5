"""
What host memory should take when the engine hands out pages: all segments in them, or those that a prompt repeated.

Usage: python -m quality.leaving TRACE … [--zipf EXPONENT …]

Prompts come one after the other; four hold their pages at a time. Pages are handed out as in vLLM, the least recently
used first, and hold a fifth of the different tokens, or six of the longest prompts if that is more. Segments are in the
plugins' own catalogue. With --zipf, 1,500 prompts of 8 of 4,000 documents, the k-th with a frequency of 1 / k^EXPONENT.
"""

import argparse
import zlib
from collections import deque
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from quality.in_engine.prompts import read_lines
from reprise_reuse.segments import Catalogue, cut

BLOCK, AT_ONCE = 16, 4
QUESTION, TOKENS = 40, 100_000
PAGES, HOSTS = 0.2, (0.1, 0.25, 0.5, 1, 2)

Prompt = Sequence[np.ndarray]
"""its documents"""


def read_prompts(trace: Path) -> list[Prompt]:
    """Returns the prompts of a trace, with random tokens, four letters each."""
    texts = {block["id"]: block["text"] for block in read_lines(trace, "blocks")}
    stems = [stem for stem in ("queries", "turns") if any(trace.glob(f"{stem}.jsonl*"))]

    def document(name: str) -> np.ndarray:
        random = np.random.default_rng(zlib.crc32(name.encode()))
        return random.integers(0, TOKENS, max(1, len(texts[name]) // 4)).astype(np.int32)

    rows = (row["blocks"] for stem in stems for row in read_lines(trace, stem))
    prompts = ([document(name) for name in names if name in texts] for names in rows)
    return [prompt for prompt in prompts if prompt]


def draw_prompts(exponent: float) -> list[Prompt]:
    random = np.random.default_rng(1)
    documents = [random.integers(0, TOKENS, random.integers(200, 600)).astype(np.int32) for _ in range(4000)]
    weights = 1 / np.arange(1, 4001) ** exponent
    drawn = (random.choice(4000, 8, replace=False, p=weights / weights.sum()) for _ in range(1500))
    return [[documents[at] for at in chosen] for chosen in drawn]


def serve(prompts: Sequence[Prompt], pages: int, host: int, *, takes_all: bool) -> tuple[float, float]:
    """Returns which shares of the tokens were found, and were copied to host memory."""
    catalogue, random = Catalogue(host, block_size=BLOCK), np.random.default_rng(0)
    free, held = deque(range(pages // BLOCK)), deque[list[int]]()
    asked = found = copied = 0
    for documents in prompts:
        prompt = np.concatenate([*documents, random.integers(0, TOKENS, QUESTION).astype(np.int32)])
        matches = catalogue.find(b"", prompt)
        catalogue.use(one.segment for one in matches)
        while len(free) < len(prompt) // BLOCK or len(held) >= AT_ONCE:
            free.extend(held.popleft())
        held.append([free.popleft() for _ in range(len(prompt) // BLOCK)])
        for block in held[-1]:
            for segment, _ in catalogue.vacate(block):
                if (takes_all or catalogue.is_repeated(segment)) and catalogue.bring(segment):
                    copied += len(segment)
                else:
                    catalogue.drop(segment)
        known = np.zeros(len(prompt), bool)
        for match in (one.match for one in matches):
            known[match.start : match.end] = True
        asked, found = asked + len(prompt), found + int(known.sum())
        _store(catalogue, prompt, documents, known, held[-1])
    return found / asked, copied / asked


def _store(
    catalogue: Catalogue, prompt: np.ndarray, documents: Prompt, known: np.ndarray, blocks: Sequence[int]
) -> None:
    """Leaves the documents that were computed in the prompt's pages."""
    slots = (np.array(blocks)[:, None] * BLOCK + np.arange(BLOCK)).flatten()
    ends = np.cumsum([len(one) for one in documents])
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        if end <= len(slots) and known[begin:end].mean() < 0.5:
            for start, stop in cut(int(begin), int(end)):
                catalogue.add(
                    b"", prompt[start:stop], start, b"", is_exact=True, user=b"", pages=slots[start:stop]
                )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("traces", nargs="*", type=Path)
    parser.add_argument("--zipf", nargs="*", type=float, default=[])
    options = parser.parse_args()
    loads = {f"zipf {exponent:g}": draw_prompts(exponent) for exponent in options.zipf}
    loads |= {trace.name: read_prompts(trace) for trace in options.traces}
    print(f"found, copied; of the pages host memory is | {' | '.join(f'{share:g}' for share in HOSTS)}")
    for name, prompts in loads.items():
        different = sum({one.tobytes(): len(one) for prompt in prompts for one in prompt}.values())
        longest = max(sum(map(len, prompt)) for prompt in prompts) + QUESTION
        pages = max(int(PAGES * different), 6 * longest)
        for takes_all in (True, False):
            cells = (serve(prompts, pages, int(share * pages), takes_all=takes_all) for share in HOSTS)
            row = " | ".join(f"{found:.3f}, {copied:.3f}" for found, copied in cells)
            print(f"{name}, {'all' if takes_all else 'repeated'} | {row}", flush=True)


if __name__ == "__main__":
    main()
