"""What a request asks for, which tenant it belongs to, and whether anything can be reused for it."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reprise_vllm.reuse.scheduler.users import PREPROCESSED, user_of
from reprise_vllm.reuse.settings import ReuseSettings

if TYPE_CHECKING:
    from vllm.v1.request import Request


_TRANSFERS = {"do_remote_decode", "do_remote_prefill"}


@dataclass(frozen=True, slots=True)
class Wish:
    """`kv_transfer_params: {"reprise": {"reuse": "off" | RATIO, "spans": [[start, end], …], "user": NAME}}`"""

    ratio: float
    """share of the cost of computing the reused tokens that may be spent on recomputing some of them, within the
    operator's bounds"""
    borders: Collection[int] = frozenset()
    """positions at which documents begin or end"""
    stock_because: str | None = None
    """`off` if the request wants no reuse, `malformed_wish` if its wish is invalid"""
    user: bytes = b""
    """whom its segments belong to"""


def read_wish(params: Any, settings: ReuseSettings, prompt_tokens: int) -> Wish:
    """Returns the wish in a request's `kv_transfer_params`, or the operator's setting if there is none.

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
    names = given.get("user"), given.get("preprocess")
    are_names = all(one is None or isinstance(one, str) for one in names)
    # borders of checkpoints, and the key for them, are read elsewhere
    known = {"reuse", "spans", "user", "preprocess", "borders", "key"}
    if borders is None or not are_names or not given.keys() <= known:
        return malformed
    wish = replace(wish, borders=borders, user=user_of(*names, settings))
    reuse = given.get("reuse", settings.ratio)
    # preprocessing computes everything, so that its rows hold nothing that others have written
    if reuse == "off" or wish.user == PREPROCESSED:
        return replace(wish, stock_because="off")
    if isinstance(reuse, bool) or not isinstance(reuse, int | float) or not 0 <= reuse <= 1:
        return malformed
    return replace(wish, ratio=min(max(float(reuse), settings.min_ratio), settings.max_ratio))


def why_stock(request: "Request") -> str | None:
    """Returns why the request must be served without reuse, whatever it wishes, or None if it need not be."""
    sampling, params = request.sampling_params, request.kv_transfer_params
    reasons = {
        "pooling": sampling is None,
        "prompt_logprobs": sampling is not None and sampling.prompt_logprobs is not None,
        "multimodal": bool(request.mm_features),
        "embeddings": request.prompt_token_ids is None or request.prompt_embeds is not None,
        "streamed_input": request.resumable,
        "cache_not_read": request.skip_reading_prefix_cache,
        # another engine gets its rows, or gives them, under the hashes of exact ones
        "transferred": isinstance(params, dict)
        and bool(_TRANSFERS & {name for name, is_on in params.items() if is_on}),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def namespace_of(request: "Request") -> bytes:
    """Returns a digest of the cache salt and adapter: only requests with the same two may use what this one stores."""
    lora = request.lora_request
    adapter = (lora.lora_name, lora.lora_int_id, lora.lora_path) if lora else None
    return hashlib.blake2b(repr((request.cache_salt, adapter)).encode(), digest_size=16).digest()


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
