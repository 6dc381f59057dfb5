"""Which cache SGLang gets for `--radix-cache-backend reprise`, and what is logged about it."""

import contextlib
import inspect
import logging
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from scheduled_cache import ScheduledCache, build_context
from sglang.srt import runtime_context
from sglang.srt.mem_cache import registry
from sglang.srt.mem_cache.cache_init_params import CacheInitParams
from sglang.srt.mem_cache.unified_cache.component_type import ComponentType
from sglang.srt.mem_cache.unified_radix_cache import UnifiedRadixCache
from sglang.srt.runtime_context import get_memory
from sglang.srt.server_args import ServerArgs

import reprise_sglang
from reprise_sglang import create_cache as factory
from reprise_sglang.engine_seams import HOTNESS, PROMOTION, REPORTS, TESTED, what_lacks

URL = "http://127.0.0.1:9/v1/replicas/gpu-0"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPRISE_CALLBACK_URL", URL)
    monkeypatch.delenv("REPRISE_CALLBACK_TOKEN", raising=False)
    reprise_sglang.register()


def test_the_plugin_is_loaded_where_the_package_that_reuses_is_missing() -> None:
    code = "import sys; sys.modules['reprise_reuse'] = None; import reprise_sglang; reprise_sglang.register()"
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)})


@pytest.fixture
def senders(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, object]]]:
    """The arguments that senders were created with; none of them sends anything."""
    created: list[dict[str, object]] = []

    class SilentSender:
        def __init__(self, url: str, token: str | None, **options: object) -> None:
            self.url = url
            created.append({"url": url, "token": token, **options})

        def report(self, report: object, facts: int = 1) -> None:
            created[-1].setdefault("reports", []).append(report)  # type: ignore[union-attr]

        def cleared(self) -> None:
            created[-1]["cleared"] = True

        def describe(self, facts: dict[str, object]) -> None:
            created[-1]["facts"] = facts

        def close(self, *, wait: bool) -> None:
            pass

    monkeypatch.setattr(factory, "CallbackSender", SilentSender)
    yield created


def create(core: str = "python", **overrides: object) -> UnifiedRadixCache:
    """Creates a cache as SGLang does, by the name on its command line."""
    with get_memory().override(radix_cache_backend=reprise_sglang.BACKEND):
        return registry.create_tree_cache(build_context(core, **overrides))


def test_sglang_itself_has_everything_that_is_looked_for() -> None:
    assert [what_lacks(seams) for seams in (REPORTS, HOTNESS, PROMOTION)] == [None] * 3


def test_registering_twice_is_registering_once() -> None:
    reprise_sglang.register()
    assert registry.registered_radix_cache_backends().count("reprise") == 1


def test_the_cache_is_observed_and_its_core_is_kept(senders: list[dict[str, object]], core: str) -> None:
    cache = create(core)
    assert type(cache).__name__ == "ReportingRadixCache"
    assert type(cache.tree_core).__name__.startswith("Rust") == (core == "rust")
    assert [(sender["url"], sender["token"]) for sender in senders] == [(URL, None)]
    ScheduledCache(cache).serve("r-1", list(range(8)))
    assert senders[0]["reports"]


def test_without_a_core_of_ones_choice_it_is_rust(senders: list[dict[str, object]]) -> None:
    assert type(create(None).tree_core).__name__ == "RustUnifiedTreeCore"  # type: ignore[arg-type]


def test_the_token_is_passed_on(senders: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPRISE_CALLBACK_TOKEN", "secret")
    create()
    assert senders[0]["token"] == "secret"


def test_without_a_url_it_is_sglangs_own_and_says_so(
    senders: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.delenv("REPRISE_CALLBACK_URL")
    assert type(create()) is UnifiedRadixCache
    assert senders == []
    assert "REPRISE_CALLBACK_URL is not set" in caplog.text


@contextlib.contextmanager
def launched_with(rank: int = 0, dp_rank: int | None = None, **arguments: int) -> Iterator[None]:
    """The context that SGLang's launcher creates for a process of a server with these arguments."""
    server = ServerArgs(model_path="none", device="cpu", radix_cache_backend="reprise", **arguments)
    ranks = runtime_context.SpawnRanks(world_rank=rank, dp_rank=dp_rank)
    with runtime_context.use_context(runtime_context.create_context(server, role="scheduler", ranks=ranks)):
        yield


@pytest.mark.parametrize("arguments", [{"tp_size": 2}, {"pp_size": 2}, {"tp_size": 2, "attn_cp_size": 2}], ids=str)
def test_one_rank_reports(
    senders: list[dict[str, object]], arguments: dict[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), launched_with(rank=1, **arguments):
        assert type(create()) is UnifiedRadixCache
    assert senders == []
    assert "the first rank reports" in caplog.text
    with launched_with(rank=0, **arguments):
        assert type(create()).__name__ == "ReportingRadixCache"
    assert len(senders) == 1


SEAMS = ["checkpoint", "on_release", "evict_for_alloc", "_evict_device_leaf", "_demote", "_drop_subtree_no_host"]


@pytest.mark.parametrize("name", SEAMS)
def test_a_name_that_is_gone_leaves_sglangs_own_cache_and_a_loud_line(
    senders: list[dict[str, object]], name: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    # the base class has abstract methods of the same names, which do not count
    monkeypatch.setattr(UnifiedRadixCache, name, None)
    assert type(create()) is UnifiedRadixCache
    assert senders == []
    assert "NOT reported" in caplog.text
    assert f"UnifiedRadixCache.{name}" in caplog.text
    assert caplog.records[-1].levelno == logging.ERROR


def test_a_parameter_that_is_gone_counts_as_gone(
    senders: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def _evict_device_leaf(self: object, node: object) -> None: ...

    monkeypatch.setattr(UnifiedRadixCache, "_evict_device_leaf", _evict_device_leaf)
    assert type(create()) is UnifiedRadixCache
    assert "node_id of UnifiedRadixCache._evict_device_leaf" in caplog.text


def test_a_module_that_is_gone_counts_as_gone(
    senders: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    module = inspect.getmodule(registry.BasePrefixCache)
    monkeypatch.delattr(module, "EvictResult")
    assert type(create()) is UnifiedRadixCache
    assert "EvictResult" in caplog.text


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"disable_radix_cache": True}, "disabled"),
        ({"is_hybrid_swa": True, "full_tokens_per_layer": 0}, "keeps no prefix tree"),
        ({"is_hybrid_swa": True, "enable_hierarchical_cache": True}, "the host may hold a state or a window"),
        ({"is_hybrid_ssm": True, "enable_hierarchical_cache": True}, "the host may hold a state or a window"),
    ],
    ids=["disabled", "windows only", "windows on the host", "states on the host"],
)
def test_where_reports_could_not_be_exact_there_are_none(
    senders: list[dict[str, object]],
    overrides: dict[str, bool],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    chosen: list[object] = []
    monkeypatch.setattr(registry, "default_radix_cache_factory", chosen.append)
    context = build_context("python", **overrides)
    factory.create_cache(context)
    # SGLang chose by itself, with the very same context
    assert chosen == [context]
    assert senders == []
    assert said in caplog.text


@pytest.mark.parametrize(
    ("sizes", "kind", "lengths"), [({"states": 8}, "state", ((8, 8),)), ({"window": 4}, "window", ((7, 8),))]
)
def test_a_model_with_windows_or_states_is_reported_and_said_to_keep_checkpoints(
    senders: list[dict[str, object]], sizes: dict[str, int], kind: str, lengths: tuple[tuple[int, int]]
) -> None:
    cache = create(page_size=1, **sizes)
    assert senders[0]["facts"] == {"checkpoints": {"unit": 1, "kinds": [kind]}}
    ScheduledCache(cache).serve("r-1", list(range(8)))
    assert senders[0]["reports"][-1][0].lengths == lengths


def test_windows_that_sglang_computes_again_are_not_reported(
    senders: list[dict[str, object]], caplog: pytest.LogCaptureFixture
) -> None:
    context = build_context("python", page_size=1, window=4)
    context.params.decoder_swa_bounded_replay = True
    factory.create_cache(context)
    assert senders == []
    assert "computes the windows of a found prefix again" in caplog.text


def test_a_cache_of_several_parts_is_not_reported(
    senders: list[dict[str, object]], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    build = UnifiedRadixCache.__init__

    def build_with_another_part(self: UnifiedRadixCache, params: CacheInitParams) -> None:
        build(self, params)
        self.tree_components = (*self.tree_components, ComponentType.C128)

    monkeypatch.setattr(UnifiedRadixCache, "__init__", build_with_another_part)
    cache = create()
    assert "C128" in caplog.text
    assert senders[0]["cleared"] is True
    ScheduledCache(cache).serve("r-1", list(range(8)))
    assert "reports" not in senders[0]


def test_data_parallel_ranks_are_not_taken_for_one(
    senders: list[dict[str, object]], caplog: pytest.LogCaptureFixture
) -> None:
    with launched_with(dp_size=2, dp_rank=1):
        assert type(create()) is UnifiedRadixCache
    assert senders == []
    assert "one server a replica" in caplog.text


def test_a_url_that_is_none_does_not_stop_the_engine(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("REPRISE_CALLBACK_URL", "gpu-0")
    assert type(create()) is UnifiedRadixCache
    assert "NOT reported" in caplog.text
    assert "'gpu-0' in REPRISE_CALLBACK_URL is no callback URL: give http://HOST:PORT" in caplog.text


def test_a_token_that_cannot_be_sent_is_said_without_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("REPRISE_CALLBACK_TOKEN", "sesame\nopen")
    assert type(create()) is UnifiedRadixCache
    assert "NOT reported" in caplog.text
    assert "REPRISE_CALLBACK_TOKEN" in caplog.text
    assert "sesame" not in caplog.text


@pytest.mark.parametrize(("running", "level"), [(TESTED[-1], "INFO"), ("0.9.0", "WARNING")])
def test_it_says_which_versions_were_tested(
    senders: list[dict[str, object]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    *,
    running: str,
    level: str,
) -> None:
    monkeypatch.setattr("sglang.__version__", running)
    with caplog.at_level(logging.INFO):
        create()
    said = [one for one in caplog.records if "tested with SGLang" in one.getMessage()]
    assert [(one.levelname, running in one.getMessage()) for one in said] == [(level, True)]
