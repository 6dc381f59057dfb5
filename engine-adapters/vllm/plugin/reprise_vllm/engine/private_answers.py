"""Hashes that keep a request's generated blocks apart from all others in vLLM's prefix cache."""

import hashlib
import os
from typing import TYPE_CHECKING

from reprise_settings import NotSupportedError

if TYPE_CHECKING:
    from vllm.v1.request import Request


def keep_answer_private(request: "Request") -> None:
    """Makes all blocks hashed from now on private to the request. Its prompt's blocks are already hashed."""
    hasher, secret = request._block_hasher, os.urandom(16)
    if hasher is None:
        return

    def private(given: "Request") -> list[bytes]:
        return [hashlib.sha256(one + secret).digest() for one in hasher(given)]

    request._block_hasher = private


def check_private_answers() -> None:
    """
    Raises `NotSupportedError` unless answers can be kept private on requests of this vLLM. Workers call this before
    they select pages.
    """
    from vllm.sampling_params import SamplingParams
    from vllm.utils.hashing import sha256
    from vllm.v1.core import kv_cache_utils
    from vllm.v1.request import Request

    block = 16
    try:
        if not hasattr(kv_cache_utils, "NONE_HASH"):
            # workers hash nothing, so it may be unset; if it is set, it is the engine's
            kv_cache_utils.init_none_hash(sha256)
        hasher = kv_cache_utils.get_request_block_hasher(block, sha256)
        stock, ours, other = (
            Request("reprise", list(range(3 * block + 1)), SamplingParams(), None, block_hasher=hasher)
            for _ in range(3)
        )
        for request in (ours, other):
            keep_answer_private(request)
        for request in (stock, ours, other):
            request.append_output_token_ids([7] * 2 * block)
        shared = ours.block_hashes[:3] == stock.block_hashes[:3]
        apart = not set(ours.block_hashes[3:]) & {*stock.block_hashes, *other.block_hashes}
        is_right = shared and apart and len(ours.block_hashes) == len(stock.block_hashes) == 5
    except Exception as error:
        raise NotSupportedError(f"answers cannot be kept apart in this vLLM: {error}") from error
    if not is_right:
        raise NotSupportedError("answers cannot be kept apart in this vLLM")
