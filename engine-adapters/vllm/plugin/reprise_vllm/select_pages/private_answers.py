"""Hides blocks generated under page selection from other requests in vLLM's prefix cache, as they are approximate."""

from logging import Logger
from typing import TYPE_CHECKING

from reprise_settings.page_settings import ASKED, asked_ratio
from reprise_vllm.engine.private_hashes import keep_answer_private
from reprise_vllm.reporting.cache_watcher import Reuse
from reprise_vllm.select_pages.settings import PageSettings

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
        ratio = asked_ratio(sampling.extra_args if sampling else None, self._settings.min_ratio)
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
