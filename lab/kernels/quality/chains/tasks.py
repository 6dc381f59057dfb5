"""Texts of statements among filler, cut into chunks, and questions whose answers need more than one chunk."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

BOS, SET, ASK = 0, 1, 2
NAMES = range(4, 44)
VALUES = range(44, 64)
FILLERS = range(64, 80)
VOCABULARY = 80

STATEMENTS = 16
"""in each text: `SET name value` for the root of a chain, `SET name earlier-name` for each alias"""
CHAINS = {0: [1] * 16, 1: [2] * 8, 2: [3, 3, 3, 3, 2, 2]}
"""by the number of hops of a text's longest chain: the statements in each of its chains"""
_SIZE = 3


@dataclass(frozen=True, slots=True)
class Layout:
    """How a context is cut."""

    chunks: int = 8
    tokens: int = 24

    @property
    def context(self) -> int:
        """Tokens of all chunks; they follow BOS."""
        return self.chunks * self.tokens


class Texts(NamedTuple):
    """A batch of contexts with all questions that they answer; q is the number of names."""

    context: np.ndarray
    """int64 [batch, chunks * tokens]: everything after BOS"""
    questions: np.ndarray
    """int64 [batch, q, 2]: ASK and a name"""
    answers: np.ndarray
    """int64 [batch, q]"""
    hops: np.ndarray
    """int64 [batch, q]: aliases between the name and its value"""
    bound: np.ndarray
    """int64 [batch, q]: position in the context of the name's right-hand side"""


def training_texts(random: np.random.Generator, batch: int, hops: int, layout: Layout) -> Texts:
    """Texts without chunks: statements are anywhere, those of a chain in order."""
    items = layout.context - (_SIZE - 1) * STATEMENTS
    places = np.sort(random.permuted(np.tile(np.arange(items), (batch, 1)), axis=1)[:, :STATEMENTS], axis=1)
    starts = places + (_SIZE - 1) * np.arange(STATEMENTS)
    chain = np.repeat(np.arange(len(CHAINS[hops])), CHAINS[hops])
    order = random.permuted(np.tile(chain, (batch, 1)), axis=1)
    # the n-th statement of a chain goes to the n-th of its places
    by_chain = np.take_along_axis(starts, np.argsort(order, axis=1, kind="stable"), axis=1)
    return _write(random, by_chain, hops, layout)


def chain_texts(random: np.random.Generator, batch: int, hops: int, layout: Layout) -> Texts:
    """Texts of whole statements within chunks; those of a chain are in different chunks."""
    starts = np.empty((batch, STATEMENTS), np.int64)
    for row in starts:
        chunks = np.concatenate(
            [np.sort(random.choice(layout.chunks, length, replace=False)) for length in CHAINS[hops]]
        )
        for chunk in range(layout.chunks):
            mine = random.permutation(np.flatnonzero(chunks == chunk))
            free = layout.tokens - (_SIZE - 1) * len(mine)
            places = np.sort(random.choice(free, len(mine), replace=False)) + (_SIZE - 1) * np.arange(len(mine))
            row[mine] = chunk * layout.tokens + places
    return _write(random, starts, hops, layout)


def coreference_texts(random: np.random.Generator, batch: int, layout: Layout) -> Texts:
    """Texts of values only; most of them begin a chunk and belong to the name that ends the chunk before."""
    starts = np.empty((batch, STATEMENTS), np.int64)
    borders = layout.tokens * np.arange(1, layout.chunks) - (_SIZE - 1)
    half = layout.tokens // 2
    for row in starts:
        halves = random.choice(2 * layout.chunks, STATEMENTS - len(borders), replace=False)
        inside = halves * half + random.integers(1, half - 2 * (_SIZE - 1), len(halves))
        row[:] = np.concatenate((random.permutation(borders), inside))
    return _write(random, starts, 0, layout)


class Asked(NamedTuple):
    """A batch of contexts with one question each; those of a text that are asked together follow each other."""

    tokens: np.ndarray
    """int64 [batch, 1 + context]: BOS first"""
    questions: np.ndarray
    """int64 [batch, 2]"""
    answers: np.ndarray
    """int64 [batch]"""


TASKS = ("two-hop", "coreference", "direct", "one-hop", "multi-query")
"""
two-hop      the value of an alias of an alias, each statement in another chunk: the headline task
coreference  a value at the start of a chunk, for the name that ends the chunk before
direct       the value of a name, in one statement within a chunk: a control, reuse loses nothing
one-hop      the value of an alias
multi-query  TOGETHER two-hop questions of one text with one budget, all of whose answers must be right
"""
TOGETHER = {"multi-query": 4}
"""by task: how many questions of a text share what is computed again"""
_HOPS = {"two-hop": 2, "one-hop": 1, "direct": 0}


def draw(task: str, random: np.random.Generator, batch: int, layout: Layout) -> Asked:
    """Returns contexts of a task with one of its questions each."""
    if task == "coreference":
        texts = coreference_texts(random, batch, layout)
        fitting = np.arange(STATEMENTS) < np.full((batch, 1), layout.chunks - 1)
    else:
        texts = chain_texts(random, batch // TOGETHER.get(task, 1), max(CHAINS), layout)
        fitting = texts.hops == _HOPS.get(task, 2)
    count = TOGETHER.get(task, 1)
    picked = np.where(fitting, random.random(fitting.shape), -1).argsort(1)[:, ::-1][:, :count]
    rows = np.arange(len(picked)).repeat(count), picked.flatten()
    tokens = np.concatenate((np.full((len(picked), 1), BOS), texts.context), 1)
    return Asked(tokens[rows[0]], texts.questions[rows], texts.answers[rows])


def _write(random: np.random.Generator, starts: np.ndarray, hops: int, layout: Layout) -> Texts:
    """Fills texts whose statements begin at `starts` [batch, STATEMENTS], chain by chain, roots first."""
    batch = len(starts)
    names = random.permuted(np.tile(np.array(NAMES), (batch, 1)), axis=1)[:, :STATEMENTS]
    values = random.permuted(np.tile(np.array(VALUES), (batch, 1)), axis=1)
    depth = np.concatenate([np.arange(length) for length in CHAINS[hops]])
    chain = np.repeat(np.arange(len(CHAINS[hops])), CHAINS[hops])
    answers = values[:, chain]
    right = np.where(depth == 0, answers, np.roll(names, 1, axis=1))
    context = random.integers(FILLERS.start, FILLERS.stop, (batch, layout.context))
    rows = np.arange(batch)[:, None]
    for offset, token in enumerate((SET, names, right)):
        context[rows, starts + offset] = token
    questions = np.stack((np.full_like(names, ASK), names), -1)
    return Texts(context, questions, answers, np.tile(depth, (batch, 1)), starts + _SIZE - 1)
