"""Figures of answers, with their intervals."""

import re
import string
from collections import Counter
from collections.abc import Sequence

import numpy as np

_RESAMPLES = 4000


def f1(answer: str, gold: Sequence[str]) -> float:
    """The best overlap of words with a gold answer, as SQuAD counts it."""
    return max(_overlap(_words(answer), _words(one)) for one in gold)


def bootstrap(values: Sequence[float], seed: int = 0) -> tuple[float, float, float]:
    """The mean and the ends of its 95 % interval, by resampling."""
    given = np.asarray(values, dtype=float)
    picks = np.random.default_rng(seed).integers(0, len(given), (_RESAMPLES, len(given)))
    low, high = np.percentile(given[picks].mean(1), [2.5, 97.5])
    return float(given.mean()), float(low), float(high)


def _words(text: str) -> list[str]:
    plain = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()


def _overlap(answer: list[str], gold: list[str]) -> float:
    common = sum((Counter(answer) & Counter(gold)).values())
    return 2 * common / (len(answer) + len(gold)) if common else 0.0
