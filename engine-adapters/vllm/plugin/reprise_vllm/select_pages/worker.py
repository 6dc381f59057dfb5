"""What the builder, the layers and the logits processor of a worker process share, by engine."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from vllm.logger import init_logger

from reprise_vllm.reuse.engine_parts import NotSupportedError
from reprise_vllm.select_pages.rows import SparseRows
from reprise_vllm.select_pages.settings import PageSettings, settings_of

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
    selections: dict[tuple[str, ...], "PageSelection | None"] = field(default_factory=dict)
    """by their layers; None where they cannot be had"""
    refusal: str | None = None
    has_processor: bool = False
    _taken: Counter[tuple[str, str]] = field(default_factory=Counter)

    def why_stock(self) -> str | None:
        """Why no request is sparse; None where requests may be."""
        if self.refusal is not None:
            return "unsupported"
        # before the engine's caches are there no request is
        return next((one.refusal for one in self.selections.values() if one is not None and one.refusal), None)

    def take_counts(self) -> Counter[tuple[str, str]]:
        """What was counted since this was last asked."""
        fresh = self.rows.counts - self._taken
        self._taken = self.rows.counts.copy()
        return fresh


# an engine's processor comes before its builders, and knows none of them
_workers: dict[str, PageWorker] = {}


def page_worker(config: "VllmConfig") -> PageWorker | None:
    """This engine's worker; None where no pages are to be selected."""
    settings = settings_of(config)
    if settings is None:
        return None
    if config.instance_id not in _workers:
        rows = SparseRows(settings.requests, config.scheduler_config.max_num_seqs)
        _workers[config.instance_id] = PageWorker(settings, rows)
    return _workers[config.instance_id]


def forget_worker(config: "VllmConfig") -> None:
    """The engine is over."""
    _workers.pop(config.instance_id, None)


def is_wanted() -> bool:
    """Whether the engine whose model is being made selects pages."""
    from vllm.config import get_current_vllm_config

    return settings_of(get_current_vllm_config()) is not None


def begin_selection(
    config: "VllmConfig", spec: "AttentionSpec", names: list[str], device: Any
) -> "PageSelection | None":
    """The selection for these layers; None, with a line that says why, where this engine cannot have one."""
    worker = page_worker(config)
    if worker is None:
        return None
    key = tuple(names)
    if key not in worker.selections:
        try:
            worker.selections[key] = _begin(worker, config, spec, names, torch.device(device))
        except Exception as error:
            worker.selections[key] = None
            worker.refusal = str(error) if isinstance(error, NotSupportedError) else f"a fault: {error}"
            logger.error("reprise: no pages are selected: %s", worker.refusal)
    return worker.selections[key]


def _begin(
    worker: PageWorker, config: "VllmConfig", spec: "AttentionSpec", names: list[str], device: torch.device
) -> "PageSelection":
    from reprise_pages.selectors import SELECTORS
    from reprise_vllm.select_pages.engine import check_engine, shape_of
    from reprise_vllm.select_pages.privacy import check_private_answers
    from reprise_vllm.select_pages.selection import PageSelection
    from reprise_vllm.select_pages.uncertainty import Uncertain

    settings = worker.settings
    if not worker.has_processor:
        raise NotSupportedError("vLLM has not loaded our logits processor, so nobody says who sits in which row")
    if worker.selections:
        raise NotSupportedError("a model with several kinds of layers is not supported")
    check_private_answers()
    context = config.compilation_config.static_forward_context
    layers = [context[name] for name in names]
    kind = SELECTORS[settings.selector]
    check_engine(config, spec, layers, kind.per_layer)
    selector = kind(_rotation()) if settings.selector == "chess-unrotated" else kind()
    shape = shape_of(config, spec, layers[0])
    if settings.backtracks:
        worker.uncertain = Uncertain(
            settings.requests, shape.page, settings.max_entropy, settings.max_varentropy, device
        )
    selection = PageSelection(settings, selector, shape, layers, worker.rows, worker.uncertain, device, logger)
    for index, layer in enumerate(layers):
        layer.impl.reprise_pages = (selection, index)
    logger.info("reprise: selecting pages by %s, %g of a context at least", settings.selector, settings.min_ratio)
    return selection


def _rotation() -> Any:
    from reprise_reuse.rotation import KeyRotation
    from reprise_vllm.reuse import engine_parts

    rotary = engine_parts.rotary_of_runner()
    return KeyRotation(rotary.cos_sin, is_neox=rotary.is_neox)
