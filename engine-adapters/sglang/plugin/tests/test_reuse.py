"""Reuse at any position: settings, usage, and what is refused; in SGLang's scheduler, see `reuse/`."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import prometheus_client
import pytest
import torch
from sglang.srt.layers.attention.torch_native_backend import TorchNativeAttnBackend
from sglang.srt.layers.radix_attention import RadixAttention
from torch import nn

from reprise_settings import NotSupportedError
from reprise_settings.reuse_settings import ReuseSettingError
from reprise_sglang import register_reuse
from reprise_sglang.reuse.hooks import REUSER, ReuseHooks
from reprise_sglang.reuse.row_attention import extend_new_rows
from reprise_sglang.reuse.settings import read_settings
from reprise_sglang.reuse.supported import attention_layers, rotary_of
from reprise_sglang.reuse.usage import CachedTokens, ReuseMetrics, take_figures


def test_in_sglangs_scheduler() -> None:
    """In a process of its own: there is one scheduler in a process, and it leaves its hooks behind."""
    tests = Path(__file__).parent
    command = [sys.executable, "-m", "pytest", "-q", "-m", "scheduler", "-p", "no:cacheprovider", str(tests / "reuse")]
    path = os.pathsep.join([str(tests / "engine" / "cpu_shim"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=tests.parent, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_settings_have_the_names_of_the_vllm_plugin() -> None:
    assert read_settings({}) is None
    assert read_settings({"REPRISE_REUSE": '{"ratio": 0.3, "store": "all"}'}).ratio == 0.3


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("{", "REPRISE_REUSE is no JSON"),
        ('{"ration": 0.1}', r"reuse\.ration is no setting; did you mean ratio\?"),
        ('{"ratio": 2}', r"reuse\.ratio is 2, it must be a number from 0 to 1"),
        ('{"rows_per_step": 100}', r"reuse\.rows_per_step is a setting of the vLLM plugin"),
    ],
)
def test_settings_that_cannot_be_used_are_named(given: str, says: str) -> None:
    with pytest.raises(ReuseSettingError, match=says):
        read_settings({"REPRISE_REUSE": given})


def test_settings_that_cannot_be_used_end_the_start_before_a_model_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPRISE_REUSE", '{"ration": 0.1}')
    with pytest.raises(SystemExit, match=r"reprise: reuse\.ration is no setting; did you mean ratio\?"):
        register_reuse()


def test_a_cache_that_empties_itself_while_it_is_made_forgets_no_segments() -> None:
    hooks, resets = ReuseHooks(), []
    hooks._runner = SimpleNamespace(**{REUSER: SimpleNamespace(reset=lambda: resets.append("reset"))})
    hooks._scheduler = SimpleNamespace(tree_cache=None)
    hooks.emptied(None, object())
    assert resets == []
    hooks._scheduler.tree_cache = object()
    hooks.emptied(None, hooks._scheduler.tree_cache)
    assert resets == ["reset"]


def test_figures_travel_with_the_number_of_cached_tokens() -> None:
    details = [{"device": 32, "host": 0, "reused_tokens": 100, "recomputed_tokens": 20}, None, {"device": 8, "host": 0}]
    received = SimpleNamespace(cached_tokens=[32, 0, 8], cached_tokens_details=details)
    take_figures(None, received)
    assert received.cached_tokens == [32, 0, 8]
    assert received.cached_tokens[0].figures == (100, 20)
    assert not isinstance(received.cached_tokens[2], CachedTokens)
    summed = sum([*received.cached_tokens, CachedTokens(1, (2, 3))])
    assert summed == 41 and summed.figures == (102, 23)


def test_counts_are_exported_as_they_grow() -> None:
    metrics, counts = ReuseMetrics(), Counter({("tokens", "reused"): 5})
    metrics.update(counts)
    counts["tokens", "reused"] += 2
    counts["stock", "off"] += 1
    metrics.update(counts)
    value = prometheus_client.REGISTRY.get_sample_value
    assert value("sglang:reprise_prompt_tokens_total", {"kind": "reused"}) == 7
    assert value("sglang:reprise_stock_requests_total", {"reason": "off"}) == 1


def layers(count: int = 2, **named: object) -> nn.ModuleList:
    given = {"num_heads": 4, "head_dim": 16, "scaling": 0.25, "num_kv_heads": 2, **named}
    return nn.ModuleList(RadixAttention(layer_id=at, **given) for at in range(count))


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ({"sliding_window_size": 128}, "sliding windows"),
        ({"logit_cap": 30.0}, "attention with capped logits"),
        ({"v_head_dim": 8}, "keys and values of different sizes"),
        ({"is_cross_attention": True}, "attention over other texts"),
        ({"use_irope": True}, "attention in chunks"),
    ],
)
def test_layers_that_attend_in_another_way_are_refused(named: dict[str, object], says: str) -> None:
    assert len(attention_layers(layers())) == 2
    with pytest.raises(NotSupportedError, match=says):
        attention_layers(layers(**named))


def test_layers_without_a_table_of_angles_are_refused() -> None:
    class Rotary(nn.Module):
        is_neox_style = True

        def __init__(self, positions: int) -> None:
            super().__init__()
            self.register_buffer("cos_sin_cache", torch.ones(positions, 8))

    assert rotary_of(nn.ModuleList([Rotary(100), Rotary(100)]), 2, 64)[0].shape == (64, 8)
    with pytest.raises(NotSupportedError, match="of 2 layers only 1 turn their keys"):
        rotary_of(nn.ModuleList([Rotary(100), nn.Linear(1, 1)]), 2, 64)
    with pytest.raises(NotSupportedError, match="no table of all positions"):
        rotary_of(nn.ModuleList([Rotary(50), Rotary(50)]), 2, 64)


def test_attention_of_new_rows_is_that_of_sglangs_torch_backend() -> None:
    torch.manual_seed(0)
    lengths, prefixes = torch.tensor([90, 200]), torch.tensor([80, 100])
    table = torch.randperm(400).view(2, 200)
    new = lengths - prefixes
    given = {
        "query": torch.randn(int(new.sum()), 4, 16), "k_cache": torch.randn(400, 2, 16),
        "v_cache": torch.randn(400, 2, 16), "req_to_token": table, "req_pool_indices": torch.tensor([1, 0]),
        "seq_lens": lengths, "extend_prefix_lens": prefixes, "extend_seq_lens": new, "scaling": 0.25,
        "enable_gqa": True, "causal": True,
    }  # fmt: skip
    stock = TorchNativeAttnBackend._run_sdpa_forward_extend
    expected = stock(None, output=torch.empty(int(new.sum()), 4, 16), **given)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("SGLang's own function was called")

    ours = extend_new_rows(never, None, output=torch.empty(int(new.sum()), 4, 16), **given)
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=1e-5)
    # whole prompts are SGLang's own
    with pytest.raises(AssertionError):
        extend_new_rows(never, None, output=ours, **{**given, "extend_prefix_lens": torch.tensor([0, 100])})
