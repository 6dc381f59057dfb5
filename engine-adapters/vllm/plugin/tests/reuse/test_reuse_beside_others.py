"""Reuse with other connectors, on several ranks, and in engines that do not support it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from engine import Engine, tokens
from engine_config import REPRISE, make_config
from listening import listening

import reprise_vllm
from reprise_reuse.methods import METHODS, Method
from reprise_reuse.pieces import Load, Piece
from reprise_reuse.rows.row_choice import OpenLoad, choose_rows
from reprise_settings import NotSupportedError
from reprise_vllm.engine.supported import check_config
from reprise_vllm.reuse.messages import WorkerReport

REUSING = {**REPRISE, "kv_connector_extra_config": {"reuse": {"host_bytes": 8 << 20}}}
OTHER = {"kv_connector": "DecodeBenchConnector", "kv_role": "kv_both"}


def beside(*connectors: dict[str, Any]) -> dict[str, Any]:
    return {
        "kv_connector": "MultiConnector",
        "kv_role": "kv_both",
        "kv_connector_extra_config": {"connectors": list(connectors)},
    }


@pytest.mark.parametrize("connector", [REUSING, beside(OTHER, REUSING)], ids=["alone", "beside another"])
def test_vllm_computes_what_a_load_could_not_fill(folder: Path, connector: dict[str, Any]) -> None:
    reprise_vllm.register()
    engine = Engine(make_config(folder, connector), blocks=60)
    assert engine.scheduler.recompute_kv_load_failures
    engine.close()


def test_other_connectors_keep_their_policy_where_nothing_is_reused(folder: Path) -> None:
    reprise_vllm.register()
    engine = Engine(make_config(folder, beside(OTHER, REPRISE)), blocks=60)
    assert not engine.scheduler.recompute_kv_load_failures
    engine.close()


def test_what_another_connector_loads_stays_public(folder: Path) -> None:
    engine = Engine(make_config(folder, REUSING), blocks=60)
    side = engine.scheduler.connector._on_scheduler
    side.heard(WorkerReport(ready=1))
    document, others = tokens(0, 320), tokens(5000, 64)
    engine.add("first", document)
    engine.run()
    request = engine.add("second", [*others, *document, *tokens(9000, 40)])
    public = list(request.block_hashes)
    claimed, _ = side.claim(request, 0)
    assert claimed > 256 and request.block_hashes != public
    # vLLM chose another connector's tokens
    side.allocated(request, SimpleNamespace(get_block_ids=lambda: ([],)), 0)
    assert request.block_hashes == public and side.reuse_of(request) is None
    engine.close()


def test_a_request_whose_claim_found_no_room_and_is_gone_is_computed_under_public_hashes(folder: Path) -> None:
    engine = Engine(make_config(folder, REUSING), blocks=60)
    side = engine.scheduler.connector._on_scheduler
    side.heard(WorkerReport(ready=1))
    document = tokens(0, 320)
    engine.add("first", document)
    engine.run()
    request = engine.add("second", [*tokens(5000, 64), *document, *tokens(9000, 40)])
    public = list(request.block_hashes)
    assert side.claim(request, 0)[0] > 256 and request.block_hashes != public
    # no blocks were allocated, and in the next step nothing is left to reuse
    side._catalogue.clear()
    assert side.claim(request, 0) == (0, False)
    assert request.block_hashes == public and request.cache_salt is None
    engine.close()


UNFIT = {
    "LoRA": ("lora_config", SimpleNamespace()),
    "prefill context parallelism": ("parallel_config.prefill_context_parallel_size", 2),
    "overlapping of two batches": ("parallel_config.enable_dbo", True),
    "pipeline parallelism": ("parallel_config.pipeline_parallel_size", 2),
    "a KV cache whose scales are found while it is used": ("cache_config.calculate_kv_scales", True),
}


@pytest.mark.parametrize("what", UNFIT)
def test_an_engine_whose_forwards_are_not_of_one_request_alone_does_not_reuse(folder: Path, what: str) -> None:
    config = make_config(folder, REUSING)
    check_config(config)
    path, value = UNFIT[what]
    *parents, name = path.split(".")
    owner = config
    for parent in parents:
        owner = getattr(owner, parent)
    setattr(owner, name, value)
    with pytest.raises(NotSupportedError, match=f"^{what} is not supported"):
        check_config(config)


def test_experts_over_data_parallel_ranks_are_refused_whatever_way_they_are_spread(folder: Path) -> None:
    config = make_config(folder, REUSING)
    config.parallel_config.data_parallel_size, config.parallel_config.is_moe_model = 2, True
    with pytest.raises(NotSupportedError, match="experts over data-parallel ranks"):
        check_config(config)
    config.parallel_config.is_moe_model = False
    check_config(config)


def test_requests_of_an_engine_that_cannot_reuse_are_counted_as_such(folder: Path, caplog) -> None:
    config = make_config(folder, REUSING)
    config.parallel_config.enable_dbo = True
    with listening(caplog):
        engine = Engine(config, blocks=60)
    assert "nothing is reused but equal beginnings: overlapping of two batches is not supported" in caplog.text
    for name in ("one", "two"):
        engine.add(name, tokens(0, 100))
    # before a step collects them
    assert engine.scheduler.connector.get_kv_connector_stats().data == {"stock/unsupported": 2}
    assert engine.scheduler.connector.get_kv_connector_stats() is None
    engine.close()


def test_ranks_choose_the_same_rows_by_the_spread_of_all_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(spread: list[float]) -> OpenLoad:
        piece = Piece(0, 4, None, 1, pages=np.arange(4))
        load = Load("r", np.arange(6, dtype=np.int32), [0], 0, 5, [piece], [5], 1, "spread", is_asynchronous=False)
        return OpenLoad(load, np.arange(5), torch.device("cpu"), np.array([*spread, 0], np.float32))

    ranks = [opened([0, 3, 4, 0]), opened([0, 4, 2, 4])]
    total = sum(torch.from_numpy(one.spread).square() for one in ranks)
    pages = SimpleNamespace(ranks=2, sum_over_ranks=lambda _: total)
    monkeypatch.setitem(METHODS, "spread", Method(lambda evidence: evidence.spread, reads_question=False))
    for one in ranks:
        choose_rows(pages, [one])
        # of all heads, row 1 varies most; no segment holds row 4
        assert one.rows.tolist() == [1, 4]
    choose_rows(SimpleNamespace(ranks=1), [alone := opened([0, 3, 4, 0])])
    assert alone.rows.tolist() == [2, 4]
