"""Prompts made of a system prompt, documents in some order and a question, and ways to compare their answers."""

from typing import Any

import numpy as np
from reuse_model import VOCABULARY, ReusingEngine

SYSTEM, QUESTION = 96, 48


def tokens(seed: int, length: int) -> list[int]:
    return np.random.default_rng(seed).integers(4, VOCABULARY, length).tolist()


DOCUMENTS = [tokens(100 + i, 70 + 13 * i) for i in range(6)]


def prompt(order: list[int], question: int = 1) -> list[int]:
    return [*tokens(0, SYSTEM), *(one for i in order for one in DOCUMENTS[i]), *tokens(1000 + question, QUESTION)]


FIRST, OTHER = prompt([0, 1, 2, 3, 4, 5]), prompt([3, 5, 1, 0, 4, 2], question=2)


def said(answer: Any) -> list[int]:
    return list(answer.token_ids)


def difference(a: Any, b: Any) -> float:
    """Returns the largest difference in the log probabilities of the first answer token."""
    common = set(a.logprobs[0]) & set(b.logprobs[0])
    return max(abs(a.logprobs[0][token].logprob - b.logprobs[0][token].logprob) for token in common)


def full_attention(engine: ReusingEngine, asked: list[int]) -> Any:
    return engine.ask([asked], {"reuse": "off"}, salt="full attention")[0]
