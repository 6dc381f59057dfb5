"""
vLLM's own attention backends, with a metadata builder that lists fewer pages for sparse requests.

`reprise_vllm.select_pages.backends.FLASH_ATTN` etc. are created on first access. They change neither which backend is
used nor what it can do.
"""

from functools import cache
from typing import Any

from vllm.utils.import_utils import resolve_obj_by_qualname
from vllm.v1.attention.backends.registry import AttentionBackendEnum

from reprise_vllm.select_pages import BACKENDS
from reprise_vllm.select_pages.page_worker import begin_selection, is_wanted
from reprise_vllm.select_pages.tables import STEP


def __getattr__(name: str) -> type:
    if name in BACKENDS:
        return _backend(name)
    raise AttributeError(name)


@cache
def _backend(name: str) -> type:
    base = resolve_obj_by_qualname(AttentionBackendEnum[name].value)
    builder = _builder(base.get_builder_cls())
    impl = _impl(base.get_impl_cls())
    own = {
        "get_builder_cls": staticmethod(lambda: builder),
        "get_impl_cls": staticmethod(lambda: impl if is_wanted() else base.get_impl_cls()),
        # `type` would set the module of a class with an ABC base to `abc`, but vLLM looks it up by module and name
        "__module__": __name__,
    }
    made = type(f"Paged{base.__name__}", (base,), own)
    globals()[made.__name__] = made
    return made


def _builder(base: type) -> type:
    class Builder(base):
        stock = base
        """for forwards outside of the engine's steps, in which nothing is sparse"""

        def __init__(
            self, kv_cache_spec: Any, layer_names: list[str], vllm_config: Any, device: Any, *more: Any, **named: Any
        ) -> None:
            super().__init__(kv_cache_spec, layer_names, vllm_config, device, *more, **named)
            self.selection = begin_selection(vllm_config, kv_cache_spec, layer_names, device)
            if self.selection is not None:
                # for another layer group, vLLM would replace only the block table and keep our lengths
                self.supports_update_block_table = False

            self._captures = False

        def build_for_cudagraph_capture(self, common_attn_metadata: Any) -> Any:
            self._captures = True
            try:
                return super().build_for_cudagraph_capture(common_attn_metadata)
            finally:
                self._captures = False

        def build(
            self, common_prefix_len: int, common_attn_metadata: Any, fast_build: bool = False, **named: Any
        ) -> Any:
            def stock(common: Any, fast_build: bool = fast_build) -> Any:
                return base.build(self, common_prefix_len, common, fast_build, **named)

            if self.selection is None:
                return stock(common_attn_metadata)
            return self.selection.metadata(common_attn_metadata, stock, is_captured=self._captures)

    Builder.__name__ = Builder.__qualname__ = f"Paged{base.__name__}"
    return Builder


def _impl(base: type) -> type:
    class Impl(base):
        reprise_pages: Any = None
        """(selection, layer index)"""

        def forward(
            self, layer: Any, query: Any, key: Any, value: Any, kv_cache: Any, attn_metadata: Any, output: Any,
            *more: Any, **named: Any,
        ) -> Any:  # fmt: skip
            step = getattr(attn_metadata, STEP, None)
            if step is not None:
                attn_metadata = self._listed(step, query, attn_metadata)
            return super().forward(layer, query, key, value, kv_cache, attn_metadata, output, *more, **named)

        def _listed(self, step: Any, query: Any, metadata: Any) -> Any:
            selection, index = self.reprise_pages
            if step.fallback is None and not (step.is_captured and selection.refusal is not None):
                try:
                    selection.in_layer(step, index, query)
                except Exception as error:
                    selection.give_up("fault", error)
                    # nothing is sparse at capture, nor any more
                    step.fallback = metadata if step.is_captured else step.build(step.stock)
            return metadata if step.fallback is None else step.fallback

    Impl.__name__ = Impl.__qualname__ = f"Paged{base.__name__}"
    return Impl
