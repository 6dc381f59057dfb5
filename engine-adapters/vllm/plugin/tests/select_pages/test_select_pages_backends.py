"""Our builders wrap the platform's backends, which otherwise stay unchanged."""

import pytest
from vllm.utils.import_utils import resolve_obj_by_qualname
from vllm.v1.attention.backends.registry import AttentionBackendEnum
from vllm.v1.sample.logits_processor.interface import LogitsProcessor
from vllm.v1.worker.gpu.sample.logits_processor.interface import LogitsProcessor as LogitsProcessorV2

from reprise_vllm.select_pages import BACKENDS, backends, register_backends
from reprise_vllm.select_pages.processor import PageProcessor


def stock(name: str) -> type:
    try:
        return resolve_obj_by_qualname(AttentionBackendEnum[name].value)
    except ImportError as error:
        pytest.skip(f"{name} cannot be imported here: {error}")


@pytest.mark.parametrize("name", BACKENDS)
def test_each_backend_is_the_stock_one_with_another_builder(name):
    base = stock(name)
    register_backends()
    register_backends()
    assert AttentionBackendEnum[name].get_path() == f"reprise_vllm.select_pages.backends.{name}"
    ours = AttentionBackendEnum[name].get_class()
    assert issubclass(ours, base) and ours.get_name() == base.get_name()
    assert issubclass(ours.get_builder_cls(), base.get_builder_cls())
    assert ours.get_builder_cls().stock is base.get_builder_cls()
    # CUDA's platform turns the class into a path, and the path into a class
    assert resolve_obj_by_qualname(f"{ours.__module__}.{ours.__qualname__}") is ours
    assert backends.__getattr__(name) is ours


@pytest.mark.parametrize("name", BACKENDS)
@pytest.mark.parametrize("selection", [None, object()], ids=["no selection", "selection"])
def test_only_where_pages_are_selected_a_builder_makes_metadata_anew_for_each_group(name, selection, monkeypatch):
    base = stock(name).get_builder_cls()
    register_backends()
    monkeypatch.setattr(base, "__init__", lambda self, *arguments: None)
    monkeypatch.setattr(backends, "begin_selection", lambda *arguments: selection)
    builder = AttentionBackendEnum[name].get_class().get_builder_cls()(None, [], None, None)
    # with one, another layer group would get our lengths with its own table
    expected = base.supports_update_block_table if selection is None else False
    assert builder.supports_update_block_table is expected


def test_one_processor_is_of_both_runners_kinds():
    assert issubclass(PageProcessor, LogitsProcessor) and issubclass(PageProcessor, LogitsProcessorV2)
    assert not PageProcessor.__abstractmethods__
