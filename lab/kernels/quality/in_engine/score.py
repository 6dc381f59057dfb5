"""How well an answer agrees with gold answers."""

import re
import string
from collections import Counter
from collections.abc import Sequence


def f1(answer: str, gold: Sequence[str]) -> float:
    """Returns the best word overlap with a gold answer, counted as in SQuAD."""
    return max(_overlap(_words(answer), _words(one)) for one in gold)


def _words(text: str) -> list[str]:
    plain = text.lower().translate(str.maketrans("", "", string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()


def _overlap(answer: list[str], gold: list[str]) -> float:
    common = sum((Counter(answer) & Counter(gold)).values())
    return 2 * common / (len(answer) + len(gold)) if common else 0.0
