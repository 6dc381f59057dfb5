"""Keeps faults of ours from the engine."""

from collections.abc import Callable
from functools import wraps
from typing import Any


def contained(doing: str, otherwise: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """For methods that vLLM waits for: after a fault, `give_up(doing)` is called on their object, which logs it.

    otherwise  what is returned then
    """

    def contain(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def guarded(self: Any, *arguments: Any) -> Any:
            try:
                return method(self, *arguments)
            except Exception:
                self.give_up(doing)
                return otherwise

        return guarded

    return contain
