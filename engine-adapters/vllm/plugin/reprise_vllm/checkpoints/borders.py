"""Keeps checkpoints at the borders that the proxy names, so that the next prompt with the same beginning finds it."""

import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from logging import Logger
from typing import TYPE_CHECKING, Any

from reprise_settings import NotSupportedError
from reprise_vllm.checkpoints.layer_kinds import LayerKinds, find_layer_kinds
from reprise_vllm.engine.contained import contained

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.core.kv_cache_manager import KVCacheManager
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.request import Request

MOST = 4


class Borders:
    """
    The borders of requests that have not ended.

    For windows, borders join the positions whose tails vLLM keeps. A state exists only where a chunk of the prefill
    ends, and vLLM ends one at `request.shared_prefix_boundary`: that is moved from border to border. A junction that
    vLLM has detected itself is one of them.
    """

    def __init__(self, kinds: LayerKinds | None, logger: Logger, counts: Counter[str]) -> None:
        """kinds: None for a model or a vLLM in which no border can be set; counts: of requests, by `borders/KIND`"""
        self._kinds = kinds
        self._logger = logger
        self._counts = counts
        self._key = secrets.token_hex(8)
        self._wanted: dict[str, Sequence[int]] = {}
        # requests with states that have borders ahead, ascending
        self._ahead: dict[str, tuple[Request, Sequence[int]]] = {}
        for manager in kinds.windows if kinds else ():
            manager.cache_blocks = partial(self._cache_blocks, manager.cache_blocks)

    @property
    def facts(self) -> dict[str, Any] | None:
        """What snapshots tell the proxy; None if no border can be set. Who does not know the key sets none."""
        kinds = self._kinds
        return kinds and {
            "unit": kinds.unit, "kinds": list(kinds.kinds), "room_tokens": kinds.room_tokens, "key": self._key,
        }  # fmt: skip

    @contained("a request")
    def begin(self, request: "Request") -> None:
        """Implements `on_new_request`. Reads `kv_transfer_params: {"reprise": {"borders": [TOKENS, …], "key": …}}`."""
        params = request.kv_transfer_params
        wish = params.get("reprise") if isinstance(params, dict) else None
        named = wish.get("borders") if isinstance(wish, dict) else None
        if named is None or self._kinds is None:
            return
        unit = self._kinds.unit
        if wish.get("key") != self._key:
            self._counts["borders/foreign"] += 1
        elif not _are_borders(named, unit, request.num_prompt_tokens):
            self._counts["borders/malformed"] += 1
        else:
            self._counts["borders/set"] += 1
            self._wanted[request.request_id] = [position // unit * unit for position in named]

    @contained("placing")
    def place(self, request: "Request", computed: int) -> None:
        """Implements `get_num_new_matched_tokens`, which runs in every step for a waiting request. O(1)."""
        wanted = self._wanted.get(request.request_id)
        if wanted is None or not self._kinds.has_states:
            return
        # vLLM sets its own anew before each call
        junction = request.shared_prefix_boundary // self._kinds.unit * self._kinds.unit
        self._move(request, sorted({*wanted, junction}), computed)

    @contained("a step")
    def end_step(self, output: "SchedulerOutput") -> None:
        """Implements `build_connector_meta`: what was scheduled has passed its borders."""
        scheduled = output.num_scheduled_tokens
        for request_id in [one for one in self._ahead if one in scheduled]:
            request, ahead = self._ahead[request_id]
            self._move(request, ahead, request.num_computed_tokens + scheduled[request_id])

    def finished(self, request: "Request") -> None:
        """Implements `request_finished`."""
        self._wanted.pop(request.request_id, None)
        self._ahead.pop(request.request_id, None)

    def give_up(self, _: str) -> None:
        """Sets no more borders after a fault: vLLM keeps the checkpoints it would keep without us."""
        self._logger.exception("reprise: no more checkpoints are kept at borders because of a fault in the plugin")
        self._kinds = None
        self._wanted.clear()
        self._ahead.clear()

    def _move(self, request: "Request", borders: Sequence[int], computed: int) -> None:
        ahead = [border for border in borders if border > computed]
        if not ahead:
            self._ahead.pop(request.request_id, None)
            return
        request.shared_prefix_boundary = ahead[0]
        self._ahead[request.request_id] = (request, ahead)

    def _cache_blocks(
        self, cache: Callable[..., None], request: "Request", *arguments: Any, replay_boundaries: Any, **options: Any
    ) -> None:
        wanted = self._wanted.get(request.request_id)
        cache(
            request, *arguments, replay_boundaries=(*replay_boundaries, *wanted) if wanted else replay_boundaries,
            **options,
        )  # fmt: skip


def start_borders(manager: "KVCacheManager", config: "VllmConfig", logger: Logger, counts: Counter[str]) -> Borders:
    """Sets no borders for a model with full attention only, nor where that is not possible, which is logged."""
    kinds = None
    try:
        kinds = find_layer_kinds(manager, config)
    except NotSupportedError as error:
        logger.error("reprise: no checkpoints are kept at the borders of documents: %s", error)
    except Exception:
        logger.exception("reprise: no checkpoints are kept at borders because of a fault in the plugin")
    if kinds:
        logger.info(
            "reprise: checkpoints at the borders of documents, in steps of %d tokens; one takes the room of %d tokens",
            *(kinds.unit, kinds.room_tokens),
        )
    return Borders(kinds, logger, counts)


def _are_borders(named: Any, unit: int, prompt_tokens: int) -> bool:
    if not isinstance(named, list) or not 0 < len(named) <= MOST or not all(type(one) is int for one in named):
        return False
    return named[-1] < prompt_tokens and all(b - a >= unit for a, b in zip([0, *named], named, strict=False))
