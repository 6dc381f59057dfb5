"""The state shared by the builder, the layers and the logits processor of a worker process, by engine."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from vllm.logger import init_logger

from reprise_settings import NotSupportedError, refuse
from reprise_vllm.select_pages.settings import PageSettings, settings_of
from reprise_vllm.select_pages.sparse_rows import SparseRows

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.kv_cache_interface import AttentionSpec

    from reprise_vllm.select_pages.selection import PageSelection
    from reprise_vllm.select_pages.uncertainty import Uncertain

logger = init_logger("vllm.reprise")


@dataclass
class PageWorker:
    """The state of one engine's worker."""

    settings: PageSettings
    rows: SparseRows
    uncertain: "Uncertain | None" = None
    layers: Sequence[str] = ()
    """the names of the layers whose pages are selected"""
    selection: "PageSelection | None" = None
    refusal: str | None = None
    """why no pages can be selected"""
    has_processor: bool = False
    _taken: Counter[tuple[str, str]] = field(default_factory=Counter)

    def why_stock(self) -> str | None:
        """Returns why no request can be sparse, or None if requests may be."""
        if self.refusal is not None:
            return "unsupported"
        # no requests exist before the engine's caches do, so there is a selection by now
        return None if self.selection is None else self.selection.refusal

    def take_counts(self) -> Counter[tuple[str, str]]:
        """Returns what was counted since the last call."""
        fresh = self.rows.counts - self._taken
        self._taken = self.rows.counts.copy()
        return fresh


# an engine creates its processor before its builders, so the two can only meet here
_workers: dict[str, PageWorker] = {}


def page_worker(config: "VllmConfig") -> PageWorker | None:
    """Returns this engine's worker, creating it on first use; None if no page selection is configured."""
    worker = _workers.get(config.instance_id)
    # asked in every step: settings may be in a file
    if worker is None and (settings := settings_of(config)) is not None:
        rows = SparseRows(settings.requests, config.scheduler_config.max_num_seqs)
        worker = _workers[config.instance_id] = PageWorker(settings, rows)
    return worker


def forget_worker(config: "VllmConfig") -> None:
    """Forgets the worker of an engine that has ended."""
    _workers.pop(config.instance_id, None)


def is_wanted() -> bool:
    """Whether the engine whose model is being built selects pages."""
    from vllm.config import get_current_vllm_config

    return settings_of(get_current_vllm_config()) is not None


def begin_selection(
    config: "VllmConfig", spec: "AttentionSpec", names: list[str], device: Any
) -> "PageSelection | None":
    """Returns the selection for these layers. Returns None, and logs why, if this engine cannot select pages."""
    worker = page_worker(config)
    if worker is None:
        return None
    if worker.layers != names:
        try:
            refuse({"a model with several kinds of layers": worker.layers})
            worker.layers = names
            worker.selection = _begin(worker, config, spec, names, torch.device(device))
        except Exception as error:
            worker.refusal = str(error) if isinstance(error, NotSupportedError) else f"a fault: {error}"
            logger.error("reprise: no pages are selected: %s", worker.refusal)
    return worker.selection if worker.layers == names else None


def _begin(
    worker: PageWorker, config: "VllmConfig", spec: "AttentionSpec", names: list[str], device: torch.device
) -> "PageSelection":
    from reprise_pages.selectors import make_selector
    from reprise_vllm.engine.private_hashes import check_private_answers
    from reprise_vllm.select_pages.check_engine import check_engine, has_full_graphs, shape_of
    from reprise_vllm.select_pages.selection import PageSelection
    from reprise_vllm.select_pages.uncertainty import Uncertain

    settings = worker.settings
    if not worker.has_processor:
        raise NotSupportedError("vLLM has not loaded our logits processor, which reports the row of each request")
    check_private_answers()
    context = config.compilation_config.static_forward_context
    layers = [context[name] for name in names]
    selector = make_selector(settings.selector, settings.grids, settings.chunks)
    check_engine(config, spec, layers, selector)
    shape = shape_of(config, spec, layers[0])
    if settings.backtracks:
        worker.uncertain = Uncertain(
            settings.requests, shape.page, settings.max_entropy, settings.max_varentropy, device
        )
    selection = PageSelection(
        settings, selector, shape, layers, worker.rows, worker.uncertain, device, logger,
        in_graphs=has_full_graphs(config),
    )  # fmt: skip
    for index, layer in enumerate(layers):
        layer.impl.reprise_pages = (selection, index)
    logger.info("reprise: selecting pages by %s, %g of a context at least", settings.selector, settings.min_ratio)
    return selection
