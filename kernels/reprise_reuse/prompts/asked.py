"""What is known of a request while an engine serves it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from reprise_reuse.prompts.claims import Claim
from reprise_reuse.prompts.users import store_of
from reprise_reuse.prompts.wishes import Wish, read_wish
from reprise_reuse.segments import Found, Segment

if TYPE_CHECKING:
    from reprise_settings.reuse_settings import ReuseSettings


@dataclass(slots=True)
class Asked:
    """A request whose prompt an engine computes or has computed. Engines' plugins add what else they need."""

    prompt: np.ndarray
    """int32 [n]"""
    wish: Wish
    namespace: bytes
    """of the segments that it may reuse"""
    store: str
    """which of these: a value of the setting `store`"""
    stock_because: str | None
    """why nothing is reused for it; None: it may reuse"""
    unclaimed_because: str | None = None
    """why nothing of what was found is reused, as of the last lookup"""
    exact_tokens: int | None = None
    """length of the prefix that full attention computed; None: the whole prompt"""
    exact: int = 0
    """tokens that came back as full attention had computed them"""
    reused: int = 0
    """tokens taken from other positions"""
    recomputed: int = 0
    """tokens found at other positions and computed again"""
    is_counted: bool = False
    is_stored: bool = False
    is_outdated: bool = False
    """its rows may be those of other weights than the ones now loaded: none are stored"""
    found: tuple[tuple[int, int, int | None], list[Found]] | None = None
    """the catalogue's version at the last lookup, and which of its tokens were looked up; the result"""
    fetching: list[Segment] = field(default_factory=list)
    """segments that it waits for; empty: it has not asked yet, or there is nothing to wait for"""

    @classmethod
    def of(
        cls, tokens: Sequence[int], params: Any, settings: "ReuseSettings", keys: tuple[str | None, ...],
        stock_because: str | None, **more: Any,
    ) -> "Asked":  # fmt: skip
        """Reads what a new request asks for.

        params  the object that the engine passes on with it
        keys    its cache salt, and what else separates requests in the engine's own cache
        more    what the engine's plugin adds
        """
        prompt = np.array(tokens, dtype=np.int32)
        wish = read_wish(params, settings, len(prompt))
        namespace = hashlib.blake2b(repr(keys).encode(), digest_size=16).digest()
        return cls(prompt, wish, namespace, store_of(keys[0], settings), stock_because or wish.stock_because, **more)

    @property
    def ratio(self) -> float:
        """The ratio at which its reused rows are recomputed."""
        return self.wish.ratio

    def filled(self, claim: Claim) -> None:
        """Notes which part of its prompt is exact once a claim's rows are filled."""
        if claim.exact_end < claim.end:
            self.exact_tokens = min(claim.exact_end, claim.end if self.exact_tokens is None else self.exact_tokens)
