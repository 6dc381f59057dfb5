"""Long prompts of real text, with the tokens that decode steps are forced to if the text continues."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quality.in_engine.prompts import read_lines

ASK = "Use the documents above. Question: {}\nAnswer in a few sentences and quote the document."
RETRIEVALS = (
    "rag_hotpot", "rag_musique", "rag_cookbook_docs", "rag_2wiki", "rag_cookbook_code", "rag_cacheblend_musique",
)  # fmt: skip
DIALOGUE = "memory_locomo"


@dataclass(frozen=True, slots=True)
class Long:
    """A prompt, and its continuation (None: the model's own greedy answer)."""

    kind: str
    name: str
    tokens: list[int]
    truth: list[int] | None = None


def prompts_of(data: Path, kind: str, tokenizer: Any, tokens: int, count: int, answer: int) -> list[Long]:
    """Returns the first `count` prompts of a trace with at most `tokens` tokens and at least six tenths of that."""
    if kind == DIALOGUE:
        return list(_dialogues(data / kind, tokenizer, tokens, count, answer))
    return list(_retrievals(data / kind, tokenizer, tokens, count))


def first_five(data: Path, tokenizer: Any, answer: int) -> list[Long]:
    """Returns two multi-hop questions, a dialogue and two documentation questions, of 2,127 to 3,500 tokens."""
    wanted = (("rag_hotpot", 2200, 1), ("rag_musique", 2200, 1), (DIALOGUE, 3500, 1), ("rag_cookbook_docs", 2700, 2))
    return [one for kind, tokens, count in wanted for one in prompts_of(data, kind, tokenizer, tokens, count, answer)]


def _retrievals(folder: Path, tokenizer: Any, tokens: int, count: int) -> Iterator[Long]:
    blocks = {block["id"]: block["text"] for block in read_lines(folder, "blocks") if "text" in block}
    sizes: dict[str, int] = {}
    for query in sorted(read_lines(folder, "queries"), key=lambda one: one.get("arrival", 0)):
        if count == 0:
            return
        texts, size = [], 0
        for block in query["blocks"]:
            if block not in blocks:
                continue
            if block not in sizes:
                sizes[block] = len(tokenizer.encode(blocks[block]))
            if size + sizes[block] <= tokens:
                texts.append(blocks[block])
                size += sizes[block]
        if size >= 0.6 * tokens:
            count -= 1
            yield Long(folder.name, str(query["query_id"]), _asked(tokenizer, texts, query["query"]))


def _asked(tokenizer: Any, texts: list[str], question: str) -> list[int]:
    # in retrieval order, best first: the relevant text is not at the end
    body = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, 1))
    messages = [{"role": "user", "content": f"{body}\n\n{ASK.format(question)}"}]
    return tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=False)


def _dialogues(folder: Path, tokenizer: Any, tokens: int, count: int, answer: int) -> Iterator[Long]:
    turns: dict[str, list[str]] = defaultdict(list)
    for block in read_lines(folder, "blocks"):
        turns[str(block["id"]).split(":")[0].split("/")[0].split("-D")[0]].append(block["text"])
    for name, texts in sorted(turns.items()):
        ids = tokenizer.encode("\n".join(texts))
        if count and len(ids) >= tokens + answer:
            count -= 1
            yield Long(folder.name, name, ids[:tokens], ids[tokens : tokens + answer])
