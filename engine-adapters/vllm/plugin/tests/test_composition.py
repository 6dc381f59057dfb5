"""The connector does not disturb vLLM: with other connectors, with metrics, and after its own faults."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from engine import Engine, tokens
from engine_config import REPRISE, make_config, make_connector
from listening import listening
from receiver import Receiver
from vllm.distributed.kv_transfer.kv_connector.factory import KVConnectorFactory
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.request import RequestStatus

from reprise_vllm.reporting.cache_watcher import CacheWatcher


def test_vllms_own_residency_metrics_go_on(receiver: Receiver, folder: Path) -> None:
    engine = Engine(make_config(folder, kv_cache_metrics=True, kv_cache_metrics_sample=1.0), blocks=21)
    for i in range(4):
        engine.add(f"r-{i}", tokens(1000 * i, 400))
        engine.run()
    engine.close()
    assert engine.evictions_seen > 12
    assert engine.pool.metrics_collector is engine.scheduler.kv_metrics_collector


def test_a_fault_of_ours_ends_the_reports_and_nothing_else(
    receiver: Receiver, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    engine = Engine(make_config(folder), blocks=21)
    engine.add("r-1", tokens(0, 200))
    engine.run()
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 192})
    monkeypatch.setattr(CacheWatcher, "_take_stored", lambda *_: 1 / 0)
    with listening(caplog):
        request = engine.add("r-2", tokens(1000, 200))
        engine.run()
    assert request.status == RequestStatus.FINISHED_LENGTH_CAPPED
    assert "ZeroDivisionError" in caplog.text
    assert engine.pool.metrics_collector is None
    receiver.wait_until(lambda: receiver.lengths == {})


def test_an_engine_steps_on_while_nobody_listens(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("REPRISE_CALLBACK_URL", "http://127.0.0.1:9/v1/replicas/gpu-0")
    engine = Engine(make_config(folder), blocks=21)
    for i in range(20):
        engine.add(f"r-{i}", tokens(400 * i, 300))
    # each request ends, although no report arrives
    engine.run()
    engine.close()


def test_it_goes_with_other_connectors(receiver: Receiver, folder: Path) -> None:
    connectors = [
        {"kv_connector": "DecodeBenchConnector", "kv_role": "kv_both"},
        REPRISE,
    ]
    multiple = {
        "kv_connector": "MultiConnector",
        "kv_role": "kv_both",
        "kv_connector_extra_config": {"connectors": connectors},
    }
    engine = Engine(make_config(folder, multiple), blocks=21)
    engine.add("r-1", tokens(0, 200))
    engine.run()
    engine.add("r-2", tokens(1000, 600))
    engine.run()
    receiver.wait_until(lambda: receiver.lengths.get("r-2") == 576)
    assert receiver.lengths.get("r-1", 0) == engine.cached_tokens(tokens(0, 200))
    engine.close()


def test_it_leaves_the_hybrid_cache_manager_on_and_delivers_nothing(receiver: Receiver, folder: Path) -> None:
    config = make_config(folder)
    assert KVConnectorFactory.supports_hma_config(config.kv_transfer_config)
    connector = make_connector(folder)
    assert connector.requires_kv_delivery is False
    assert connector.get_num_new_matched_tokens(None, 0) == (0, False)


def test_a_producer_reports_the_same_without_a_consumers_side_effects(receiver: Receiver, folder: Path) -> None:
    engine = Engine(make_config(folder, {**REPRISE, "kv_role": "kv_producer"}), blocks=21, scheduler=AsyncScheduler)
    assert not engine.scheduler.defer_block_free
    engine.add("r-1", tokens(0, 400), max_tokens=20)
    engine.run()
    engine.add("r-2", tokens(1000, 400), max_tokens=20)
    engine.run()
    left = engine.cached_tokens(tokens(0, 400))
    assert 0 < left < 384
    receiver.wait_until(lambda: receiver.lengths == {"r-1": left, "r-2": 416})
    engine.close()


def test_the_announced_successor_of_the_binding_binds_too(receiver: Receiver, folder: Path) -> None:
    engine = Engine(make_config(folder, connector=None), blocks=21)
    connector = make_connector(folder)
    connector.bind_scheduler_context(SimpleNamespace(gpu_block_pool=engine.pool))
    connector.bind_gpu_block_pool(engine.pool)
    receiver.wait_until(lambda: receiver.snapshots == 1)
    connector.shutdown()
    assert engine.pool.metrics_collector is None
