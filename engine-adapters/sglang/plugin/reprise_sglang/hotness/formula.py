"""Formulas of hotness that an operator chooses: `x op y` or `x op1 y op2 z` (HotPrefix §4)."""

import operator
import re
from collections.abc import Callable

EVICTION_PRIORITY = "frequency + clock / length"
"""Equation 5: what is lowest is evicted first"""
ADMISSION_HOTNESS = "frequency * clock"
"""Equation 6: what is admitted to the host, and promoted from there"""

Formula = Callable[[int, int, int], float]
"""of a clock, a frequency and a length in tokens"""

_PLACES = {"clock": 0, "frequency": 1, "freq": 1, "length": 2}
# nothing is worth infinitely much because its clock has run out
_OPERATORS = {"+": operator.add, "*": operator.mul, "/": lambda a, b: a / max(1, b)}
_OPERAND, _OPERATOR = r"\s*(clock|freq|frequency|length)\s*", "([+*/])"
_SHAPE = re.compile(f"{_OPERAND}{_OPERATOR}{_OPERAND}(?:{_OPERATOR}{_OPERAND})?")


def parse_formula(text: str) -> Formula:
    """
    Returns what computes a formula; raises ValueError that says what one is.

    Operands are clock, frequency (or freq) and length; of +, * and / the first binds least. What is divided by counts
    as one at least.
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
