"""Measures every requested case of a prompt once and keeps the results, so that a later run can continue."""

import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import torch

from quality.in_engine.engine import Engine
from quality.in_engine.prompts import Asked, Trace
from reprise_reuse.preprocess.prompts import similar_windows

ANSWER_TOKENS = 12
CONTEXTS = 4
GROUP = 8
"""
Prompts whose documents are stored together, in one of these ways:

alone     each document computed after the system prompt only
live      computed in an earlier prompt of the same documents in another order
averaged  the mean over four contexts: after the system prompt and documents of other prompts
behind    as averaged, without contexts in which the document came first
similar N each only after the N documents of the trace most similar to it (FusionRAG §3.1, equation 10)
"""
_ABOUT = "What is this about?"
STORED = ("alone", "live", "averaged", "behind", "mixed", *(f"similar {count}" for count in (2, 5, 10, 15)))


@dataclass(frozen=True, slots=True)
class Case:
    """How documents are stored, and how many tokens are recomputed by which choice."""

    stored: str
    method: str
    ratio: float

    def __str__(self) -> str:
        return f"{self.stored} {self.method} {self.ratio}"


class Measurements:
    """Lines of JSON, one per prompt and case."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._done: set[tuple[str, str, str]] = set()
        if path.exists():
            self._done = {(row["trace"], row["prompt"], row["case"]) for row in self.rows()}

    def open_cases(self, trace: str, prompt: str, cases: list[Case]) -> list[Case]:
        """Returns the cases that are not measured yet."""
        return [case for case in cases if (trace, prompt, str(case)) not in self._done]

    def rows(self) -> list[dict[str, Any]]:
        """Returns everything measured so far."""
        return [json.loads(line) for line in self._path.read_text().splitlines()]

    def add(self, row: dict[str, Any]) -> None:
        """Stores a measurement."""
        with self._path.open("a") as lines:
            lines.write(json.dumps(row) + "\n")
        self._done.add((row["trace"], row["prompt"], row["case"]))


def measure(
    engine: Engine, trace: Trace, prompts: int, cases: list[Case], kept: Measurements, seconds: float
) -> Iterator[str]:
    """Measures cases of the first prompts of a trace until time is up. Yields a progress line for each."""
    until = time.monotonic() + seconds
    for first in range(0, prompts, GROUP):
        group = trace.asked[first : min(first + GROUP, prompts)]
        wanted = {asked.name: kept.open_cases(trace.name, asked.name, cases) for asked in group}
        if not any(wanted.values()):
            continue
        engine.forget()
        for stored in dict.fromkeys(case.stored for case in cases):
            store(engine, trace, group, stored, salt=f"{stored} {first}")
        for number, asked in enumerate(group):
            if time.monotonic() > until:
                yield f"{trace.name}: time is up after {first + number} prompts"
                return
            _measure_prompt(engine, trace, asked, wanted[asked.name], kept, first)
            yield f"{trace.name}: {first + number + 1} of {prompts} prompts"


def _measure_prompt(
    engine: Engine, trace: Trace, asked: Asked, cases: list[Case], kept: Measurements, group: int
) -> None:
    if not cases:
        return
    prompt = trace.prompt(asked)
    reference, full = engine.answer(prompt, f"full {asked.name}", {"reuse": "off"}, ANSWER_TOKENS)
    gold = trace.tokens_of(asked.answers[0]) if asked.answers else []
    full_gold = _log_p(engine, prompt, f"full {asked.name}", {"reuse": "off"}, gold)
    for case in cases:
        engine.choose_by(case.method)
        salt, wish = f"{case.stored} {group}", {"reuse": case.ratio}
        if case == cases[0] or case.stored != cases[cases.index(case) - 1].stored:
            # the exact part of the prompt is what an engine would find: the system prompt and the first document
            engine.answer(trace.prompt(asked, asked.documents[:1]), salt, {"reuse": "off"})
        engine.take_counts()
        _, log = engine.answer(prompt, salt, wish, ANSWER_TOKENS, reference)
        row = row_of(trace, asked, case, full, log) | engine.take_counts() | {"tokens": len(prompt)}
        if gold:
            row["gold"] = _log_p(engine, prompt, salt, wish, gold)
            row |= {"full_gold": full_gold, "gold_lost": full_gold - row["gold"]}
        kept.add(row)


def _log_p(engine: Engine, prompt: list[int], salt: str, wish: dict[str, Any], answer: list[int]) -> float:
    """Returns the log-probability of an answer, the mean over its tokens; 0 without one."""
    if not answer:
        return 0.0
    _, log = engine.answer(prompt, salt, wish, len(answer), answer)
    return float(log.gather(1, torch.tensor(answer)[:, None]).mean())


def store(engine: Engine, trace: Trace, group: list[Asked], stored: str, salt: str) -> None:
    """Stores the documents of a group of prompts in one way."""
    # both kinds of averages get the same windows
    random_order = random.Random(salt.replace("behind", "averaged").replace("mixed", "averaged"))
    kind, *neighbours = stored.split()
    documents = list(dict.fromkeys(document for asked in group for document in asked.documents))
    # as `--neighbours mixed` does it
    behind = {"similar": [(int(*neighbours or [0]), 0)], "mixed": [(2, 0), (2, 2)]}.get(kind, [])
    for count, skipped in behind:
        for window in similar_windows(documents, count, trace.similar, skipped):
            _store_last(engine, trace, group[0], window, salt)
    if kind == "similar":
        return
    if kind == "alone":
        windows = [[document] for asked in group for document in asked.documents]
    elif kind == "live":
        windows = [random_order.sample(asked.documents, len(asked.documents)) for asked in group]
    else:
        # a document must not be averaged over contexts with other documents of its own prompt
        windows = [
            [document for document in window if document is not None]
            for _ in range(CONTEXTS + 1 - len(behind))
            for window in zip_longest(*_shuffled(group, random_order))
        ]
    for documents in (fitting for window in windows for fitting in trace.windows(group[0], window)):
        _store_from(engine, trace, group[0], documents, 1 if kind == "behind" else 0, salt)


def _store_last(engine: Engine, trace: Trace, asked: Asked, window: Sequence[str], salt: str) -> None:
    """Stores the last document of a window only, behind as many of the others as fit."""
    while len(window) > 1 and not trace.fits(asked, window):
        window = window[1:]
    _store_from(engine, trace, asked, window, len(window) - 1, salt)


def _store_from(
    engine: Engine, trace: Trace, asked: Asked, documents: Sequence[str], first: int, salt: str
) -> None:  # fmt: skip
    """Stores documents that are computed together, but not the first ones."""
    if first == len(documents):
        return
    prompt = trace.prompt(asked, documents, _ABOUT)
    wish: dict[str, Any] = {"reuse": "off"}
    if first > 0:
        without = trace.prompt(asked, documents[:first], _ABOUT)
        wish["kept_from"] = next(
            at for at, (own, other) in enumerate(zip(prompt, without, strict=False)) if own != other
        )
    engine.answer(prompt, salt, wish)


def _shuffled(group: list[Asked], order: random.Random) -> list[list[str]]:
    """Shuffles the documents of each prompt, and the prompts."""
    rows = [order.sample(asked.documents, len(asked.documents)) for asked in group]
    order.shuffle(rows)
    return rows


def row_of(trace: Trace, asked: Asked, case: Case, full: torch.Tensor, log: torch.Tensor) -> dict[str, Any]:
    """Returns the figures of an answer forced to full attention's; both log-probabilities are [tokens, vocabulary]."""
    divergence = (full.exp() * (full - log)).sum(-1)
    same = log.argmax(-1) == full.argmax(-1)
    return {
        "trace": trace.name, "prompt": asked.name, "case": str(case), "stored": case.stored, "method": case.method,
        "ratio": case.ratio, "kl": float(divergence.mean()), "first_kl": float(divergence[0]),
        # along the same path, all most likely tokens agree exactly if greedy answers do
        "top1": float(same.float().mean()), "same_greedy": bool(same.all()),
    }  # fmt: skip
