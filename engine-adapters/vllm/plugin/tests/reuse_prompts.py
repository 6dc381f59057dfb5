"""Prompts made of a system prompt, documents in some order and a question, and ways to compare their answers."""

import random
from collections.abc import Sequence
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


def some_prompts(chance: random.Random, documents: Sequence[list[int]], question: int) -> list[list[int]]:
    """Returns one to four prompts of a few documents, of which some lack their beginning."""
    prompts = []
    for number in range(chance.randint(1, 4)):
        chosen = chance.sample(documents, chance.randint(2, 5))
        parts = [part[chance.choice([0, 0, 25]) :] for part in chosen]
        prompts.append([*tokens(0, SYSTEM), *(t for part in parts for t in part), *tokens(question + number, 40)])
    return prompts


def said(answer: Any) -> list[int]:
    return list(answer.token_ids)


def difference(a: Any, b: Any) -> float:
    """Returns the largest difference in the log probabilities of the first answer token."""
    common = set(a.logprobs[0]) & set(b.logprobs[0])
    return max(abs(a.logprobs[0][token].logprob - b.logprobs[0][token].logprob) for token in common)


def full_attention(engine: ReusingEngine, asked: list[int]) -> Any:
    return engine.ask([asked], {"reuse": "off"}, salt="full attention")[0]
