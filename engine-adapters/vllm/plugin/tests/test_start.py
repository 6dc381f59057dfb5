"""When the plugin reports, and when it leaves the engine alone and logs why."""

import logging
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tomllib
import torch
from engine import Engine, tokens
from engine_config import BLOCK, full_attention, make_config, make_connector
from listening import listening
from receiver import Receiver
from vllm.distributed.kv_transfer.kv_connector.factory import KVConnectorFactory
from vllm.v1.kv_cache_interface import ChunkedLocalAttentionSpec, KVCacheSpec, MambaSpec, SlidingWindowSpec

import reprise_vllm
from reprise_vllm.engine import TESTED

WINDOW = SlidingWindowSpec(block_size=BLOCK, num_kv_heads=1, head_size=64, dtype=torch.float32, sliding_window=64)
STATE = MambaSpec(block_size=BLOCK, shapes=((16, 4),), dtypes=(torch.float32,), mamba_cache_mode="align")


def test_without_a_url_the_engine_is_left_alone_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("REPRISE_CALLBACK_URL", raising=False)
    with listening(caplog):
        engine = Engine(make_config(folder), blocks=21)
        engine.add("r-1", tokens(0, 200))
        engine.run()
    assert engine.pool.metrics_collector is None
    assert "REPRISE_CALLBACK_URL is not set" in caplog.text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"enable_prefix_caching": False}, "prefix caching is off"),
        ({"data_parallel_size": 2}, "2 ranks behind one address"),
    ],
)
def test_an_engine_that_cannot_be_mirrored_is_left_alone_and_it_is_said(
    receiver: Receiver, folder: Path, caplog: pytest.LogCaptureFixture, options: dict[str, Any], said: str
) -> None:
    with listening(caplog):
        engine = Engine(make_config(folder, **options), blocks=21)
        engine.add("r-1", tokens(0, 200))
        engine.run()
    engine.close()
    assert said in caplog.text
    assert receiver.posts == []


def test_a_pool_without_the_parts_we_need_is_named_and_left_alone(
    receiver: Receiver, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    connector = make_connector(folder)
    with listening(caplog):
        connector.bind_gpu_block_pool(SimpleNamespace(hash_block_size=32, enable_caching=True))
    assert "has no metrics_collector, no cached_block_hash_to_block, no get_one_block" in caplog.text


@pytest.mark.parametrize("spec", [WINDOW, STATE], ids=["windows", "states"])
def test_a_model_without_any_full_attention_is_left_alone_and_it_is_said(
    receiver: Receiver, folder: Path, caplog: pytest.LogCaptureFixture, spec: KVCacheSpec
) -> None:
    with listening(caplog):
        engine = Engine(make_config(folder), blocks=60, specs=[spec])
        engine.add("r-1", tokens(0, 200))
        engine.run()
    engine.close()
    assert "no layer of this model attends to its whole context" in caplog.text
    assert engine.scheduler.connector._borders.facts is None
    assert receiver.posts == []


def test_layers_of_a_kind_that_is_not_known_are_not_counted_and_it_is_said(
    receiver: Receiver, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    chunks = ChunkedLocalAttentionSpec(
        block_size=BLOCK, num_kv_heads=1, head_size=64, dtype=torch.float32, attention_chunk_size=64
    )
    with listening(caplog):
        engine = Engine(make_config(folder), blocks=60, specs=[full_attention(), chunks])
        engine.add("r-1", tokens(0, 200))
        engine.run()
    receiver.wait_until(lambda: receiver.lengths == {"r-1": 192})
    engine.close()
    assert "other layers may miss sooner" in caplog.text
    assert "no checkpoints are kept at the borders of documents: it is not known" in caplog.text
    assert "(ChunkedLocalAttentionSpec)" in caplog.text


def test_a_rank_puts_its_number_into_the_url_and_sends_the_token(
    receiver: Receiver, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPRISE_CALLBACK_URL", receiver.url.replace("gpu-0", "gpu-{rank}"))
    monkeypatch.setenv("REPRISE_CALLBACK_TOKEN", "secret")
    engine = Engine(make_config(folder), blocks=21)
    receiver.wait_until(lambda: receiver.snapshots == 1)
    engine.close()
    assert receiver.paths == {"/v1/replicas/gpu-0/snapshot"}
    assert receiver.tokens == {"Bearer secret"}


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("REPRISE_CALLBACK_URL", "http://gpu-0:port/v1", "in REPRISE_CALLBACK_URL is no callback URL: give http://"),
        ("REPRISE_CALLBACK_TOKEN", "sesame\nopen", "the token in REPRISE_CALLBACK_TOKEN holds characters"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_line_without_a_traceback(
    receiver: Receiver,
    folder: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    *,
    name: str,
    value: str,
    said: str,
) -> None:
    monkeypatch.setenv(name, value)
    with listening(caplog):
        engine = Engine(make_config(folder), blocks=21)
        engine.add("r-1", tokens(0, 200))
        engine.run()
    engine.close()
    # a record is captured twice if vLLM's loggers do propagate
    records = [one for one in caplog.records if "reprise:" in one.getMessage() and one.levelname != "INFO"]
    lines = {id(record): record for record in records}.values()
    assert [said in record.getMessage() for record in lines] == [True]
    assert [record.exc_info for record in lines] == [None]
    assert "sesame" not in caplog.text
    assert receiver.posts == []


def test_the_general_plugin_names_the_connector_however_often_it_is_loaded() -> None:
    project = tomllib.loads((Path(reprise_vllm.__file__).parent.parent / "pyproject.toml").read_text())
    assert project["project"]["entry-points"]["vllm.general_plugins"] == {"reprise": "reprise_vllm:register"}
    reprise_vllm.register()
    reprise_vllm.register()
    assert KVConnectorFactory.get_connector_class_by_name("RepriseConnector").__module__ == "reprise_vllm.connector"


def test_the_connectors_module_names_it_too_where_the_entry_point_is_not_loaded() -> None:
    code = (
        "import reprise_vllm.connector\n"
        "from vllm.distributed.kv_transfer.kv_connector.factory import KVConnectorFactory\n"
        "print(KVConnectorFactory.get_connector_class_by_name('RepriseConnector').__module__)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "VLLM_PLUGINS": "none"}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["reprise_vllm.connector"]


@pytest.mark.parametrize(("running", "level"), [(TESTED[-1], "INFO"), ("0.99.0", "WARNING")])
def test_the_scheduler_side_says_which_versions_were_tested(
    monkeypatch: pytest.MonkeyPatch, folder: Path, caplog: pytest.LogCaptureFixture, running: str, level: str
) -> None:
    monkeypatch.setattr("vllm.__version__", running)
    with listening(caplog), caplog.at_level(logging.INFO, "vllm.reprise"):
        make_connector(folder)
    # a record is captured twice if vLLM's loggers do propagate
    said = {id(one): one for one in caplog.records if "tested with vLLM" in one.getMessage()}.values()
    assert [one.levelname for one in said] == [level]
    assert f"this is {running}" in caplog.text
