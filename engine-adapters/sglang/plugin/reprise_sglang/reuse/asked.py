"""What is known of a request while SGLang serves it."""

from dataclasses import dataclass
from typing import Any

from reprise_reuse.prompts import asked

_HEALTH_CHECK = "HEALTH_CHECK"


@dataclass(slots=True)
class Asked(asked.Asked):
    """A request of SGLang's. Once SGLang has counted its cached tokens, what is found for it is no longer counted."""

    is_begun: bool = False
    cached: int | None = None
    """where SGLang's own cache of it ended when disk and shared store were first asked for it"""
    is_read: bool = False
    """whether its segments on disk were asked for, and none is being read any more"""

    def begin_again(self) -> None:
        """SGLang has given up what it had computed, and computes the request anew."""
        self.exact_tokens, self.is_counted = None, True


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


def keys_of(request: Any) -> tuple[str | None, ...]:
    """Returns what separates requests in SGLang's own cache."""
    return request.cache_salt, request.extra_key, request.lora_id
