"""Reuse's own forwards stay within what vLLM's metadata builders and compiled code are made for."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from reuse_model import ReusingEngine, make_model
from reuse_prompts import FIRST, OTHER, difference, full_attention, said
from vllm.utils.math_utils import round_up
from vllm.v1.attention.backends.flash_attn import FlashAttentionMetadataBuilder

MOST_REQUESTS, MOST_ROWS = 4, 64


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReusingEngine]:
    # half of the rows, anywhere: as many runs as there can be
    reuse = {"host_bytes": 8 << 20, "rows_per_step": 4096, "method": "random", "ratio": 0.5}
    limits = {"max_num_seqs": MOST_REQUESTS, "max_num_batched_tokens": MOST_ROWS}
    engine = ReusingEngine(make_model(tmp_path_factory.mktemp("model")), reuse, **limits)
    yield engine
    engine.core.shutdown()


def test_no_forward_has_more_requests_or_rows_than_the_engines_own(engine, monkeypatch):
    ((_, builder),) = engine.worker.forward._builders
    build, seen = builder.build, []
    # FlashAttention 3 with full CUDA graphs: its buffer has room for so many requests
    flash = object.__new__(FlashAttentionMetadataBuilder)
    flash.use_full_cuda_graph = True
    flash.scheduler_metadata = torch.zeros(1 + 4 * round_up(MOST_REQUESTS, 4), dtype=torch.int32)

    def building(prefix: int, common: Any, *more: Any, **named: Any) -> Any:
        seen.append((common.num_reqs, common.num_actual_tokens))
        flash._store_scheduler_metadata(torch.zeros(1 + 4 * round_up(common.num_reqs, 4), dtype=torch.int32))
        return build(prefix, common, *more, **named)

    monkeypatch.setattr(builder, "build", building)
    engine.ask([FIRST])
    engine.tokens_by_kind()
    engine.ask([OTHER])
    assert engine.tokens_by_kind()["recomputed"] > 200
    assert len(seen) > 20
    assert max(requests for requests, _ in seen) == MOST_REQUESTS
    assert max(rows for _, rows in seen) <= MOST_ROWS


def test_rows_computed_in_many_passes_equal_full_attention(engine):
    engine.reset()
    engine.ask([FIRST])
    engine.tokens_by_kind()
    answer = engine.ask([OTHER], {"reuse": 1.0})[0]
    assert engine.tokens_by_kind()["recomputed"] > 400
    expected = full_attention(engine, OTHER)
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3
