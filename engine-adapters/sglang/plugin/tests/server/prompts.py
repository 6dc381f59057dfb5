"""Requests like those of a retrieval pipeline: many questions, each with its passages."""

import gzip
import json
import os
import random
import re
from pathlib import Path
from typing import Any

from processes import CHECKOUT

TRACE = "REPRISE_TEST_TRACE"


def trace_requests(folder: Path, limit: int) -> list[dict[str, Any]]:
    """Returns the first requests of a trace folder (`queries.jsonl.gz`, `blocks.jsonl.gz`), blocks in rank order."""
    blocks = {block["id"]: block["text"] for block in _read_lines(folder / "blocks.jsonl.gz")}
    queries = _read_lines(folder / "queries.jsonl.gz")[:limit]
    return [_to_request(query["query"], [blocks[name] for name in query["blocks"]]) for query in queries]


def checkout_requests(count: int) -> list[dict[str, Any]]:
    """Returns sections of this checkout's own documents, popular ones more often, in the order of a made-up ranking."""
    draw = random.Random(6)
    documents = sorted(path for path in CHECKOUT.rglob("*.md") if "node_modules" not in path.parts)
    texts = [re.split(r"\n(?=#)", path.read_text(errors="ignore")) for path in documents]
    sections = sorted({section.strip()[:900] for parts in texts for section in parts if len(section) > 300})
    popularity = [1 / (place + 3) for place in range(len(sections))]
    draw.shuffle(sections)
    return [
        _to_request(f"Question {i}: what do these say?", list(dict.fromkeys(draw.choices(sections, popularity, k=8))))
        for i in range(count)
    ]


def requests(count: int) -> list[dict[str, Any]]:
    folder = os.environ.get(TRACE)
    return trace_requests(Path(folder), count) if folder else checkout_requests(count)


def _to_request(question: str, blocks: list[str]) -> dict[str, Any]:
    return {
        "model": "test",
        "messages": [
            {"role": "system", "content": "Answer from the passages."},
            {"role": "user", "content": f"{{{{context}}}}\n\n{question}"},
        ],
        "reprise": {"blocks": [{"text": text} for text in blocks]},
        "max_tokens": 4,
        "temperature": 0,
        "return_prompt_token_ids": True,
    }


def _read_lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]
