"""Hotness formulas that an operator may choose: `x op y` or `x op1 y op2 z` (HotPrefix §4)."""

import operator
import re
from collections.abc import Callable

EVICTION_PRIORITY = "frequency + clock / length"
"""Equation 5: the lowest value is evicted first"""
ADMISSION_HOTNESS = "frequency * clock"
"""Equation 6: the highest value is admitted to the host and promoted from there"""

Formula = Callable[[int, int, int], float]
"""takes a clock, a frequency and a length in tokens"""

_PLACES = {"clock": 0, "frequency": 1, "freq": 1, "length": 2}
# a divisor of zero (an expired clock) must not make a prefix infinitely valuable
_OPERATORS = {"+": operator.add, "*": operator.mul, "/": lambda a, b: a / max(1, b)}
_OPERAND, _OPERATOR = r"\s*(clock|freq|frequency|length)\s*", "([+*/])"
_SHAPE = re.compile(f"{_OPERAND}{_OPERATOR}{_OPERAND}(?:{_OPERATOR}{_OPERAND})?")


def parse_formula(text: str) -> Formula:
    """
    Returns a function that computes a formula. Raises a ValueError that describes valid formulas.

    Operands are clock, frequency (or freq) and length; of +, * and /, + binds least. A divisor counts as at least 1.
    """
    found = _SHAPE.fullmatch(text)
    if found is None:
        raise ValueError(
            f"{text!r} is no formula: it is 'x op y' or 'x op y op z', of clock, frequency and length with +, * and /"
        )
    x, op1, y, op2, z = found.groups()
    first, second, one = _PLACES[x], _PLACES[y], _OPERATORS[op1]
    if op2 is None:
        return lambda *factors: one(factors[first], factors[second])
    third, two = _PLACES[z], _OPERATORS[op2]
    if op1 == "+" and op2 != "+":
        return lambda *factors: one(factors[first], two(factors[second], factors[third]))
    return lambda *factors: two(one(factors[first], factors[second]), factors[third])
