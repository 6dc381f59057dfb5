"""Forty prompts of up to 2,048, 3,072, 4,096, 6,144 and 7,900 tokens, one per length for each kind of trace."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from quality.in_engine.prompts import read_lines
from quality.pages.prompts import DIALOGUE, RETRIEVALS, Long, _asked, prompts_of

AGENT = "agent_lmcache"
LENGTHS = (2048, 3072, 4096, 6144, 7900)


def forty(data: Path, tokenizer: Any, answer: int) -> list[Long]:
    """Returns the prompts, kinds in turn, so that the first measurements cover all kinds and lengths."""
    kinds = [*RETRIEVALS, DIALOGUE, AGENT]
    made = {kind: _of_kind(data, kind, tokenizer, answer) for kind in kinds}
    turns = range(len(LENGTHS))
    return [made[kind][(number + turn) % len(turns)] for turn in turns for number, kind in enumerate(kinds)]


def _of_kind(data: Path, kind: str, tokenizer: Any, answer: int) -> list[Long]:
    """Returns one prompt of each length, each from a different question, dialogue or call."""
    if kind == DIALOGUE:
        return [prompts_of(data, kind, tokenizer, length, at + 1, answer)[at] for at, length in enumerate(LENGTHS)]
    if kind == AGENT:
        return list(_agents(data / kind, tokenizer, answer))
    return list(_conversations(data / kind, tokenizer))


def _conversations(folder: Path, tokenizer: Any) -> Iterator[Long]:
    """A question after its documents, preceded by as many documents of earlier questions as fit."""
    blocks = {block["id"]: block["text"] for block in read_lines(folder, "blocks") if "text" in block}
    sizes = {name: len(tokenizer.encode(text)) + 8 for name, text in blocks.items()}
    queries = iter(sorted(read_lines(folder, "queries"), key=lambda one: one.get("arrival", 0)))
    for length in LENGTHS:
        texts: list[str] = []
        shown: set[str] = set()
        room = length - 96
        while room > length // 10 and (query := next(queries, None)) is not None:
            fresh = []
            for block in query["blocks"]:
                if block in blocks and block not in shown and sizes[block] <= room:
                    fresh.append(blocks[block])
                    shown.add(block)
                    room -= sizes[block]
            if fresh:
                texts, asked = texts + fresh, query
        yield Long(folder.name, f"{asked['query_id']} {length}", _asked(tokenizer, texts, asked["query"]))


def _agents(folder: Path, tokenizer: Any, answer: int) -> Iterator[Long]:
    """What an agent sent, continued as in the trace."""
    sessions = iter(_sessions(folder))
    for length in LENGTHS:
        for session, text in sessions:
            ids = tokenizer.encode(text[: 8 * (length + answer)])
            if len(ids) >= length + answer:
                yield Long(folder.name, f"{session} {length}", ids[:length], ids[length : length + answer])
                break


def _sessions(folder: Path) -> Iterator[tuple[str, str]]:
    """Yields each session's longest prompt: the part shared with its previous prompt, plus what is new."""
    prompts: dict[str, str] = {}
    longest: dict[str, str] = defaultdict(str)
    for call in read_lines(folder, "calls"):
        session = call["session"]
        if "suffix" not in call:
            continue
        prompts[session] = prompts.get(session, "")[: call["lcp_prev_chars"]] + call["suffix"]
        if len(prompts[session]) > len(longest[session]):
            longest[session] = prompts[session]
    yield from longest.items()
