"""What a request asks for."""

import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reprise_reuse.prompts.users import PREPROCESSED, user_of

if TYPE_CHECKING:
    from reprise_settings.reuse_settings import ReuseSettings


@dataclass(frozen=True, slots=True)
class Wish:
    """`{"reprise": {"reuse": "off" | RATIO, "spans": [[start, end], …], "question": [start, end], …}}`"""

    ratio: float
    """share of the cost of computing the reused tokens that may be spent on recomputing some of them, within the
    operator's bounds"""
    borders: Collection[int] = frozenset()
    """positions at which documents begin or end"""
    question: range | None = None
    """positions of the question; None: not said"""
    kept_from: int = 0
    """nothing is stored of the tokens before this one"""
    stock_because: str | None = None
    """`off` if the request wants no reuse, `malformed_wish` if its wish is invalid"""
    user: bytes = b""
    """whom its segments belong to"""


def read_wish(params: Any, settings: "ReuseSettings", prompt_tokens: int) -> Wish:
    """Returns the wish in the object that an engine passes on with a request; without one, the operator's setting.

    prompt_tokens  length of the request's prompt
    """
    given = params.get("reprise") if isinstance(params, dict) else None
    wish = Wish(settings.ratio, user=user_of(None, None, settings))
    if given is None:
        return wish
    malformed = replace(wish, stock_because="malformed_wish")
    if not isinstance(given, dict):
        return malformed
    # clients often send null for unset members
    given = {name: value for name, value in given.items() if value is not None}
    borders = _read_spans(given.get("spans", []), prompt_tokens)
    asked = given.get("question")
    # a proxy estimates it, and may be wrong about short prompts
    has_question = asked is None or _read_spans([asked], sys.maxsize) is not None
    names = given.get("user"), given.get("preprocess")
    are_names = all(one is None or isinstance(one, str) for one in names)
    kept_from = given.get("kept_from", 0)
    is_place = type(kept_from) is int and 0 <= kept_from <= prompt_tokens
    # borders of checkpoints, and the key for them, are read elsewhere
    known = {"reuse", "spans", "question", "kept_from", "user", "preprocess", "borders", "key"}
    if borders is None or not has_question or not is_place or not are_names or not given.keys() <= known:
        return malformed
    question = range(prompt_tokens)[slice(*asked)] if asked else None
    wish = replace(
        wish, borders=borders, question=question, kept_from=kept_from, user=user_of(*names, settings)
    )  # fmt: skip
    reuse = given.get("reuse", settings.ratio)
    # preprocessing computes everything, so that its rows hold nothing that others have written
    if reuse == "off" or wish.user == PREPROCESSED:
        return replace(wish, stock_because="off")
    if isinstance(reuse, bool) or not isinstance(reuse, int | float) or not 0 <= reuse <= 1:
        return malformed
    return replace(wish, ratio=min(max(float(reuse), settings.min_ratio), settings.max_ratio))


def _read_spans(spans: Any, prompt_tokens: int) -> Collection[int] | None:
    # more spans than tokens cannot belong to this prompt, and reading millions would block the scheduler
    if not isinstance(spans, list) or len(spans) > prompt_tokens:
        return None
    borders = set()
    for span in spans:
        if not isinstance(span, list) or len(span) != 2 or not all(type(one) is int for one in span):
            return None
        if not 0 <= span[0] <= span[1] <= prompt_tokens:
            return None
        borders.update(span)
    return borders
