"""What is approximate does not reach other engines or stores as if it were exact."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from reuse_model import ReusingEngine, make_model
from reuse_prompts import FIRST, OTHER
from vllm.distributed.kv_transfer.kv_connector.v1.lmcache_connector import LMCacheConnectorV1
from vllm.distributed.kv_transfer.kv_connector.v1.nixl import NixlPullConnector, NixlPushConnector
from vllm.distributed.kv_transfer.kv_connector.v1.offloading_connector import OffloadingConnector
from vllm.distributed.kv_transfer.kv_connector.v1.simple_cpu_offload_connector import SimpleCPUOffloadConnector

from reprise_settings import NotSupportedError
from reprise_vllm.connector import RepriseConnector
from reprise_vllm.engine.supported import check_siblings


def test_beside_a_connector_that_stores_by_tokens_nothing_is_reused(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    by_tokens = {
        "kv_connector": "ExampleConnector",
        "kv_role": "kv_both",
        "kv_connector_extra_config": {"shared_storage_path": str(folder)},
    }
    engine = ReusingEngine(make_model(tmp_path / "model"), {"host_bytes": 8 << 20}, behind=by_tokens)
    engine.ask([FIRST])
    engine.counts()
    engine.ask([OTHER], {"reuse": 0})
    counts = engine.counts()
    # its rows are in that connector's files now, which are named by the prompt's tokens
    assert any(folder.iterdir())
    assert counts["stock", "refused"] == 1 and counts["tokens", "reused"] == 0
    assert "ExampleConnector beside it" in engine.reuse.refusal
    engine.core.shutdown()


def test_connectors_that_store_by_hash_or_on_demand_are_no_reason_to_refuse() -> None:
    ours = object.__new__(RepriseConnector)
    for one in (OffloadingConnector, SimpleCPUOffloadConnector, NixlPullConnector, NixlPushConnector):
        check_siblings(SimpleNamespace(_connectors=[object.__new__(one), ours]))
    check_siblings(ours)
    with pytest.raises(NotSupportedError, match="LMCacheConnectorV1 beside it"):
        check_siblings(SimpleNamespace(_connectors=[ours, object.__new__(LMCacheConnectorV1)]))
