"""What is known of a request while SGLang serves it."""

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from reprise_reuse.prompts.wishes import Wish
    from reprise_reuse.segments import Segment

ATTRIBUTE = "reprise_reuse"
"""of SGLang's requests, which keep what is known of them"""
_HEALTH_CHECK = "HEALTH_CHECK"


@dataclass(slots=True)
class Asked:
    """A request whose prompt SGLang computes or has computed."""

    prompt: np.ndarray
    """int32 [n]"""
    wish: "Wish"
    namespace: bytes
    """of the segments that it may reuse: a digest of its cache salt and of SGLang's other keys"""
    store: str
    """a value of the setting `store`"""
    stock_because: str | None
    """why nothing is reused for it; None: it may reuse"""
    exact_tokens: int | None = None
    """length of the prefix that full attention has computed; None: everything"""
    exact: int = 0
    """tokens that came back as full attention had computed them"""
    reused: int = 0
    """tokens taken from other positions"""
    recomputed: int = 0
    """tokens found at other positions and computed again"""
    is_counted: bool = False
    """what is found for it from now on is no longer counted, as SGLang counts cached tokens only once"""
    is_begun: bool = False
    is_stored: bool = False
    cached: int | None = None
    """where SGLang's own cache of it ended when disk and shared store were first asked for it"""
    is_read: bool = False
    """whether its segments on disk were asked for, and none is being read any more"""
    fetching: "list[Segment]" = field(default_factory=list)
    """what it waits for, read from disk"""

    def begin_again(self) -> None:
        """SGLang has given up what it had computed, and computes the request anew."""
        self.exact_tokens, self.is_counted = None, True


def asked_of(request: Any) -> Asked | None:
    """Returns what is known of one of SGLang's requests."""
    return getattr(request, ATTRIBUTE, None)


def why_stock(request: Any, needs_salt: bool) -> str | None:
    """Returns why the request must be served without reuse, whatever it wishes, or None if it need not be.

    needs_salt: a proxy gives tenants salts; SGLang drops them in some of its APIs, where tenants cannot be told apart
    """
    reasons = {
        "health_check": str(request.rid).startswith(_HEALTH_CHECK),
        "session": request.session is not None,
        "multimodal": request.multimodal_inputs is not None,
        "embeddings": request.input_embeds is not None or request.positional_embed_overrides is not None,
        "hidden_states": bool(request.return_hidden_states),
        "cache_not_written": bool(request.skip_radix_cache_insert),
        "no_salt": needs_salt and not request.cache_salt,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def namespace_of(request: Any) -> bytes:
    """Returns a digest of what separates requests in SGLang's own cache."""
    keys = request.cache_salt, request.extra_key, request.lora_id
    return hashlib.blake2b(repr(keys).encode(), digest_size=16).digest()
