"""The scheduler's side of page selection: keeps answers apart from exact ones, and adds up what was read for them."""

from collections.abc import Mapping, Sequence
from logging import Logger
from typing import TYPE_CHECKING, Any

from reprise_settings.page_settings import ASKED, asked_ratio
from reprise_vllm.engine.private_hashes import keep_answer_private
from reprise_vllm.reporting.cache_watcher import Reuse
from reprise_vllm.select_pages.settings import PageSettings
from reprise_vllm.usage.figures import FIGURES, NAMED, PAGE_FIGURES

if TYPE_CHECKING:
    from vllm.v1.request import Request


class PageScheduler:
    """
    Gives the blocks that a request generates under selection hashes that no other request can have, as they are
    approximate.

    vLLM finds blocks by a chain of hashes. For such a request, each hash from the first block with a generated token on
    is mixed with a secret of that request. The blocks before hold only its prompt, which full attention computed: they
    stay shared.
    """

    def __init__(self, settings: PageSettings, logger: Logger) -> None:
        self._settings, self._logger = settings, logger
        # by active request that asks for selection
        self._prompts: dict[str, int] = {}
        self._figures: dict[str, list[int]] = {}
        # of requests that ended in the step which is reported next
        self._ended: dict[str, list[int]] = {}

    def begin(self, request: "Request") -> None:
        """Makes the answer private if the request asks for selection, and passes the request's name to workers.

        If that fails, removes its wish for selection.
        """
        sampling = request.sampling_params
        ratio = asked_ratio(sampling.extra_args if sampling else None, self._settings.min_ratio)
        if not isinstance(ratio, float):
            return
        try:
            keep_answer_private(request)
        except Exception:
            self._logger.exception("reprise: a request reads all its pages: its answer cannot be kept apart")
            sampling.extra_args = {name: value for name, value in sampling.extra_args.items() if name != ASKED}
            return
        sampling.extra_args = {**sampling.extra_args, NAMED: request.request_id}
        self._prompts[request.request_id] = request.num_prompt_tokens
        self._figures[request.request_id] = [0] * len(FIGURES)

    def heard(self, counted: Mapping[str, Sequence[int]]) -> None:
        """Adds what workers counted for requests in a step. Called with its output, after `finished` for its last."""
        for name, own in counted.items():
            figures = self._ended.get(name) or self._figures.get(name)
            if figures is not None:
                figures[:] = map(sum, zip(figures, own, strict=True))
        self._ended.clear()

    def finished(self, request: "Request") -> dict[str, Any]:
        """
        Returns what the front end gets as `kv_transfer_params` for a request that has ended.

        vLLM calls this before it delivers the last step's report, so `heard` fills in the final figures.
        """
        if self._prompts.pop(request.request_id, None) is None:
            return {}
        figures = self._ended[request.request_id] = self._figures.pop(request.request_id)
        return {PAGE_FIGURES: figures}

    def exact_part(self, request: "Request", reuse: Reuse | None) -> Reuse | None:
        """Returns `reuse`, with the exact part limited to the prompt if the request asked for selection."""
        prompt = self._prompts.get(request.request_id)
        if prompt is None:
            return reuse
        return Reuse(prompt, 0, 0) if reuse is None else Reuse(min(prompt, reuse.exact), reuse.reused, reuse.recomputed)
