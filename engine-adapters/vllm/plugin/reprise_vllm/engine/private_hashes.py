"""Hashes that keep a request's approximate blocks apart from exact ones in vLLM's prefix cache."""

import hashlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from reprise_settings import NotSupportedError

if TYPE_CHECKING:
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.request import Request


def make_private(request: "Request", block: int) -> None:
    """Gives the request's blocks from `block` on hashes that no other request can have.

    vLLM enters blocks into its prefix cache under these hashes when it allocates them. Approximate blocks must not be
    found there, so the prompt's are random, and the chain of its answer continues from the last one. Call this after
    exact hits were looked up and before blocks are allocated.
    """
    if block == 0:
        # for a prompt that has no full block yet
        request.cache_salt = os.urandom(16).hex()
    shared = request.block_hashes[block:]
    if shared:
        # random ones take a tenth of the time of hashing a long prompt's tokens again
        size = len(shared[0])
        noise = os.urandom(size * len(shared))
        request.block_hashes[block:] = [noise[at : at + size] for at in range(0, len(noise), size)]


def keep_answer_private(request: "Request") -> None:
    """Makes all blocks hashed from now on private to the request. Its prompt's blocks are already hashed."""
    hasher, secret = request._block_hasher, os.urandom(16)
    if hasher is None:
        return

    def private(given: "Request") -> list[bytes]:
        return [hashlib.sha256(one + secret).digest() for one in hasher(given)]

    request._block_hasher = private


def is_cached(pool: "BlockPool | None", block_hash: bytes) -> bool:
    """Whether vLLM's prefix cache holds a block with this hash; False without a pool."""
    return pool is not None and pool.get_cached_block(block_hash, [0]) is not None


def go_on_from(request: "Request", hashes: Sequence[bytes]) -> None:
    """Gives the request's first blocks the hashes of the turn it starts with, and computes new ones for the rest."""
    request.block_hashes[:] = hashes
    request.update_block_hashes()


def public_hashes(request: "Request", prompt: Sequence[bytes], salt: str | None) -> list[bytes]:
    """Returns the hashes that the request's blocks would have if it were exact.

    prompt  the exact hashes of its prompt's blocks
    salt    its original cache salt
    """
    private, private_salt = list(request.block_hashes), request.cache_salt
    request.block_hashes[:], request.cache_salt = prompt, salt
    request.update_block_hashes()
    public = list(request.block_hashes)
    request.block_hashes[:], request.cache_salt = private, private_salt
    return public


def check_privacy(block_size: int) -> None:
    """Raises `NotSupportedError` unless hashes of this vLLM's requests can be made private and continued from."""
    for block in (0, 1, 3):
        stock, ours, other, answered = _make_requests(4, block_size)
        for request in (ours, other):
            make_private(request, block)
            request.append_output_token_ids([7] * block_size)
        kept = ours.block_hashes[:block] == stock.block_hashes[:block]
        chained = len(ours.block_hashes) == len(stock.block_hashes) + 1
        apart = not set(ours.block_hashes[block:]) & {*stock.block_hashes, *other.block_hashes}
        answered.append_output_token_ids([7] * block_size)
        known = public_hashes(ours, stock.block_hashes, None) == answered.block_hashes
        go_on_from(stock, ours.block_hashes[:4])
        stock.append_output_token_ids([7] * block_size)
        followed = stock.block_hashes == ours.block_hashes
        if not (kept and chained and apart and known and followed):
            raise NotSupportedError("the hashes of this vLLM's requests cannot be kept apart from those of exact ones")


def check_private_answers() -> None:
    """Raises `NotSupportedError` unless answers can be kept private on requests of this vLLM. Workers call this before
    they select pages."""
    block = 16
    try:
        stock, ours, other = requests = _make_requests(3, block)
        for request in (ours, other):
            keep_answer_private(request)
        for request in requests:
            request.append_output_token_ids([7] * block)
    except Exception as error:
        raise NotSupportedError(f"answers cannot be kept apart in this vLLM: {error}") from error
    shared = ours.block_hashes[:4] == stock.block_hashes[:4]
    apart = not set(ours.block_hashes[4:]) & {*stock.block_hashes, *other.block_hashes}
    if not (shared and apart and len(ours.block_hashes) == len(stock.block_hashes) == 5):
        raise NotSupportedError("answers cannot be kept apart in this vLLM")


def _make_requests(count: int, block_size: int) -> "list[Request]":
    """Returns requests with the same prompt of four blocks and a token."""
    from vllm.sampling_params import SamplingParams
    from vllm.utils.hashing import sha256
    from vllm.v1.core import kv_cache_utils
    from vllm.v1.request import Request

    if not hasattr(kv_cache_utils, "NONE_HASH"):
        # if it is set, it is the engine's
        kv_cache_utils.init_none_hash(sha256)
    hasher = kv_cache_utils.get_request_block_hasher(block_size, sha256)
    tokens = list(range(4 * block_size + 1))
    sampling = SamplingParams(max_tokens=block_size)
    return [Request("reprise", tokens, sampling, None, block_hasher=hasher) for _ in range(count)]
