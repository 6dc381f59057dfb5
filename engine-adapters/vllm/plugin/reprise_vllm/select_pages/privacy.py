"""What is generated under selection is approximate: no other request finds it in vLLM's prefix cache."""

import hashlib
import os
from typing import TYPE_CHECKING

from reprise_vllm.cache_watcher import Reuse
from reprise_vllm.select_pages.asked import asked_ratio
from reprise_vllm.select_pages.settings import PageSettings

if TYPE_CHECKING:
    from vllm.v1.request import Request


class PrivateAnswers:
    """
    The scheduler's side: gives the generated blocks of requests that ask for selection hashes nobody else can have.

    vLLM finds blocks by a chain of hashes. From the first block on that holds a generated token, each hash of such a request
    is mixed with a secret of its own. The blocks before are its prompt's, which full attention computed: they stay shared.
    """

    def __init__(self, settings: PageSettings) -> None:
        self._settings = settings
        self._prompts: dict[str, int] = {}

    def begin(self, request: "Request") -> None:
        """A request arrives."""
        sampling = request.sampling_params
        ratio = asked_ratio(sampling.extra_args if sampling else None, self._settings)
        if isinstance(ratio, float):
            keep_answer_private(request)
            self._prompts[request.request_id] = request.num_prompt_tokens

    def finished(self, request: "Request") -> None:
        """The request is over."""
        self._prompts.pop(request.request_id, None)

    def exact_part(self, request: "Request", reuse: Reuse | None) -> Reuse | None:
        """As `reuse`, but no more of the request is called exact than its prompt."""
        prompt = self._prompts.get(request.request_id)
        if prompt is None:
            return reuse
        return Reuse(prompt, 0, 0) if reuse is None else Reuse(min(prompt, reuse.exact), reuse.reused, reuse.recomputed)


def keep_answer_private(request: "Request") -> None:
    """Has every block of the request that is hashed from now on, its prompt's being hashed, found by nobody else."""
    hasher, secret = request._block_hasher, os.urandom(16)
    if hasher is None:
        return

    def private(given: "Request") -> list[bytes]:
        return [hashlib.sha256(one + secret).digest() for one in hasher(given)]

    request._block_hasher = private
