"""Prompts made of documents and a question, from retrieval traces."""

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from reprise_reuse.preprocess.prompts import Similar, bm25

SYSTEM = "<|im_start|>system\nAnswer the question from the documents.<|im_end|>\n<|im_start|>user\n"
TURN = "<|im_end|>\n<|im_start|>user\n"
QUESTION = "Question: {}\nAnswer with a few words.<|im_end|>\n<|im_start|>assistant\n"
DOCUMENT = "Document: {}\n\n"


class Tokenizer(Protocol):
    def encode(self, text: str, add_special_tokens: bool = ...) -> list[int]: ...


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the documents retrieved for it, best first."""

    name: str
    question: str
    documents: Sequence[str]
    answers: Sequence[str]


def read_lines(folder: Path, stem: str) -> Iterator[dict[str, Any]]:
    """Yields the objects of a trace's file, packed or not."""
    path = next(path for path in (folder / f"{stem}.jsonl.gz", folder / f"{stem}.jsonl") if path.exists())
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            yield json.loads(line)


class Trace:
    """A folder with `queries.jsonl` and `blocks.jsonl`, in an order that depends on the seed."""

    def __init__(
        self, folder: Path, tokenizer: Tokenizer, documents: int, seed: int, longest: int | None = None
    ) -> None:
        """longest: tokens of a prompt; questions whose documents do not fit are left out."""
        self.name = folder.name
        self._tokenizer = tokenizer
        self._longest = longest
        blocks = {block["id"]: block["text"] for block in read_lines(folder, "blocks") if "text" in block}
        self._corpus = list(dict.fromkeys(blocks.values()))
        queries = [query for query in read_lines(folder, "queries") if all(one in blocks for one in query["blocks"])]
        random.Random(seed).shuffle(queries)
        asked = [
            Asked(
                str(query["query_id"]), query["query"], [blocks[one] for one in query["blocks"][:documents]],
                _answers(query),
            )
            for query in queries
        ]  # fmt: skip
        self.asked = [one for one in asked if longest is None or len(self.prompt(one)) <= longest]

    @cached_property
    def similar(self) -> Similar:
        """Finds the documents of the trace that are most similar to one, with BM25."""
        return bm25(self._corpus)

    def windows(self, asked: Asked, documents: Sequence[str]) -> Iterator[Sequence[str]]:
        """Splits documents, in order, into as few prompts as possible."""
        begin = 0
        for end in range(1, len(documents) + 1):
            if not self.fits(asked, documents[begin:end]):
                yield documents[begin : end - 1]
                begin = end - 1
        yield documents[begin:]

    def fits(self, asked: Asked, documents: Sequence[str]) -> bool:
        """Whether documents fit into one prompt."""
        return self._longest is None or len(self.prompt(asked, documents)) <= self._longest

    def prompt(self, asked: Asked, documents: Sequence[str] | None = None, question: str | None = None) -> list[int]:
        """Returns the tokens of a prompt; each document is tokenised separately, as known chunks are."""
        tokens = self._encode(SYSTEM)
        for document in asked.documents if documents is None else documents:
            tokens += self._encode(DOCUMENT.format(document))
        return tokens + self._encode(QUESTION.format(question or asked.question))

    def next_turn(self, so_far: list[int], answer: list[int], asked: Asked) -> list[int]:
        """Tokens of a conversation's next prompt: everything so far, its answer, other documents, a question."""
        return so_far + answer + self._encode(TURN) + self.prompt(asked)[len(self._encode(SYSTEM)) :]

    def tokens_of(self, text: str) -> list[int]:
        """Tokens of a text by itself."""
        return self._encode(text)

    def _encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False)


def _answers(query: dict[str, Any]) -> list[str]:
    given = query.get("answers", query.get("answer", []))
    return [given] if isinstance(given, str) else [str(one) for one in given]
