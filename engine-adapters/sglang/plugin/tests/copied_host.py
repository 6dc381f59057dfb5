"""SGLang's host tier (HiCache) on a CPU: its own controller, pools and tree. Only the copies are stand-ins."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from scheduled_cache import ScheduledCache, build_context
from sglang.srt.managers import cache_controller
from sglang.srt.mem_cache.l2_transfer import L2Transfer, TransferCompletion
from sglang.srt.mem_cache.pool_host import base, common
from sglang.srt.runtime_context import get_memory

from reprise_sglang.create_cache import create_cache


class Event:
    """A stream event; done unless a pending copy records it."""

    def __init__(self, **_: object) -> None:
        self.is_done = True

    def record(self, *_: object) -> None:
        self.is_done = True

    def query(self) -> bool:
        return self.is_done

    def synchronize(self) -> None:
        assert self.is_done, "SGLang waits for a copy that nobody ends"


class Link:
    """Replaces SGLang's transfer engine: copies to the GPU begin when submitted, and end when `finish` is called."""

    def __init__(self, io_backend: str) -> None:
        self.submitted: list[int] = []
        """number of tokens of each submitted copy to the GPU"""
        self._pending: list[tuple[list[L2Transfer], int, Any, Event]] = []

    def submit_device_to_host(self, transfers: list[L2Transfer]) -> TransferCompletion:
        for each in transfers:
            for layer in range(each.device_pool.layer_num):
                self._host(each)[0][layer][each.host_indices] = each.device_pool.k_buffer[layer][each.device_indices]
                self._host(each)[1][layer][each.host_indices] = each.device_pool.v_buffer[layer][each.device_indices]
        return TransferCompletion(Event(), Event(), False)

    def submit_host_to_device(
        self, transfers: list[L2Transfer], *, transfer_layer_id_max: int, start_event: Any, on_layer_done: Any
    ) -> TransferCompletion:
        finish = Event()
        for event in [finish, *on_layer_done.__self__.load_events]:
            event.is_done = False
        self.submitted.append(sum(len(each.device_indices) for each in transfers))
        self._pending.append((transfers, transfer_layer_id_max, on_layer_done, finish))
        return TransferCompletion(Event(), finish, False)

    def finish(self) -> None:
        """Completes all submitted copies, in order."""
        for transfers, layers, on_layer_done, finish in self._pending:
            for layer in range(layers):
                for each in transfers:
                    each.device_pool.k_buffer[layer][each.device_indices] = self._host(each)[0][layer][
                        each.host_indices
                    ]
                    each.device_pool.v_buffer[layer][each.device_indices] = self._host(each)[1][layer][
                        each.host_indices
                    ]
                on_layer_done(layer)
            finish.record()
        self._pending = []

    @staticmethod
    def _host(transfer: L2Transfer) -> torch.Tensor:
        return (
            transfer.host_pool.get_pool("kv").kv_buffer
            if hasattr(transfer.host_pool, "get_pool")
            else (transfer.host_pool.kv_buffer)
        )


class HostedCache(ScheduledCache):
    """A cache with a host tier, and the scheduler steps that concern it."""

    @property
    def link(self) -> Link:
        return self.cache.cache_controller.l2_transfer_engine

    def step(self) -> None:
        """Does what the scheduler does at the start of each step."""
        self.cache.check_hicache_events()

    def on_host(self) -> set[int]:
        """Returns the nodes that are only on the host."""
        return {node.id for node in self.cache.tree_core._node_arena.values() if node.evicted and node.backuped}


@contextmanager
def hosted_caches(monkeypatch: pytest.MonkeyPatch, policy: str = "write_back") -> Iterator[Any]:
    """Yields a function that builds a cache as SGLang does with `--enable-hierarchical-cache`."""
    monkeypatch.setattr(common, "_cuda_host_register", lambda *_: None)
    # pools of a few kilobytes need no ten gigabytes beside them
    monkeypatch.setattr(base, "HICACHE_HOST_MEMORY_RESERVE_BYTES", 0)
    monkeypatch.setattr(cache_controller, "L2TransferEngine", Link)
    device = SimpleNamespace(Event=Event, current_stream=lambda: SimpleNamespace(wait_event=lambda event: None))
    monkeypatch.setattr(cache_controller, "device_module", device)
    worker = SimpleNamespace(register_hicache_layer_transfer_counter=lambda counter: None)

    def build(pool_tokens: int = 64, **environment: str) -> HostedCache:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        context = build_context("rust", pool_tokens, enable_hierarchical_cache=True, tp_worker=worker)
        return HostedCache(create_cache(context))

    options = {
        "enable_hierarchical_cache": True,
        "hicache_write_policy": policy,
        "hicache_io_backend": "direct",
        "hicache_mem_layout": "layer_first",
        "hicache_ratio": 2.0,
    }
    with get_memory().override(**options):
        yield build
