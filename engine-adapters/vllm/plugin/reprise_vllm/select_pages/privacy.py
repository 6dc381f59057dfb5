"""Hides blocks generated under page selection from other requests in vLLM's prefix cache, as they are approximate."""

import hashlib
import os
from logging import Logger
from typing import TYPE_CHECKING

from reprise_vllm.cache_watcher import Reuse
from reprise_vllm.reuse.engine_parts import NotSupportedError
from reprise_vllm.select_pages.asked import asked_ratio
from reprise_vllm.select_pages.settings import ASKED, PageSettings

if TYPE_CHECKING:
    from vllm.v1.request import Request


class PrivateAnswers:
    """
    The scheduler's side: if a request asks for selection, gives its generated blocks hashes no other request can have.

    vLLM finds blocks by a chain of hashes. For such a request, each hash from the first block with a generated token on
    is mixed with a secret of that request. The blocks before hold only its prompt, which full attention computed: they
    stay shared.
    """

    def __init__(self, settings: PageSettings, logger: Logger) -> None:
        self._settings, self._logger = settings, logger
        self._prompts: dict[str, int] = {}

    def begin(self, request: "Request") -> None:
        """Makes the answer private if the request asks for selection. If that fails, removes its wish for selection."""
        sampling = request.sampling_params
        ratio = asked_ratio(sampling.extra_args if sampling else None, self._settings)
        if not isinstance(ratio, float):
            return
        try:
            keep_answer_private(request)
            self._prompts[request.request_id] = request.num_prompt_tokens
        except Exception:
            self._logger.exception("reprise: a request reads all its pages: its answer cannot be kept apart")
            sampling.extra_args = {name: value for name, value in sampling.extra_args.items() if name != ASKED}

    def finished(self, request: "Request") -> None:
        """Forgets a request that has ended."""
        self._prompts.pop(request.request_id, None)

    def exact_part(self, request: "Request", reuse: Reuse | None) -> Reuse | None:
        """Returns `reuse`, with the exact part limited to the prompt if the request asked for selection."""
        prompt = self._prompts.get(request.request_id)
        if prompt is None:
            return reuse
        return Reuse(prompt, 0, 0) if reuse is None else Reuse(min(prompt, reuse.exact), reuse.reused, reuse.recomputed)


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
