"""Measures every requested case of a prompt once and keeps the results, so that a later run can continue."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from quality.in_engine.measure import Measurements
from quality.pages.engine import Engine
from quality.pages.prompts import Long
from quality.pages.report import WINDOW


@dataclass(frozen=True, slots=True)
class Case:
    """Which pages are read, how many, and how often they are chosen again."""

    selector: str
    every: int
    ratio: float

    def __str__(self) -> str:
        return f"{self.selector} {self.every} {self.ratio}"


def measure(
    engine: Engine, prompts: Sequence[Long], tokens: int, cases: Sequence[Case], kept: Measurements, seconds: float,
    named: str | None = None,
) -> Iterator[str]:  # fmt: skip
    """
    Measures cases of prompts, `tokens` of each one's answer, until time is up. Yields a progress line for each.

    named: the report's name for this set of prompts
    """
    until = time.monotonic() + seconds
    for number, prompt in enumerate(prompts, 1):
        wanted = kept.open_cases(prompt.kind, prompt.name, list(cases))
        if not wanted:
            continue
        # unforced answers are greedy
        forced, full = engine.answer(prompt.tokens, tokens, forced=prompt.truth and prompt.truth[:tokens])
        for case in wanted:
            if time.monotonic() > until:
                yield f"time is up after {number - 1} prompts"
                return
            engine.choose_by(case.selector, case.every)
            engine.take_share()
            _, log = engine.answer(prompt.tokens, tokens, case.ratio, forced)
            row = _row(prompt, case, forced, full, log) | {"share": engine.take_share()}
            kept.add(row | ({} if named is None else {"set": named}))
        yield f"{prompt.kind} {prompt.name}, {len(prompt.tokens)} tokens: {number} of {len(prompts)} prompts"


def _row(prompt: Long, case: Case, forced: Sequence[int], full: torch.Tensor, log: torch.Tensor) -> dict[str, Any]:
    """The figures of decode steps; log-probabilities are [tokens, vocabulary], the first ones from the prefill."""
    full, log, token = full[1:], log[1:], torch.tensor(forced[1:])[:, None]
    steps = (full.exp() * (full - log)).sum(-1)
    return {
        "trace": prompt.kind, "prompt": prompt.name, "case": str(case), "selector": case.selector, "every": case.every,
        "ratio": case.ratio, "kl": float(steps.mean()), "worst_kl": float(steps.max()),
        "kl_by": [float(part.mean()) for part in steps.split(WINDOW)],
        "late_kl": float(steps[len(steps) // 2 :].mean()),
        "top1": float((log.argmax(-1) == full.argmax(-1)).float().mean()),
        "nll": float(-log.gather(1, token).mean()), "full_nll": float(-full.gather(1, token).mean()),
        "tokens": len(prompt.tokens), "steps": len(steps),
    }  # fmt: skip
