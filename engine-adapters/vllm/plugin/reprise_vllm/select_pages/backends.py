"""
vLLM's own attention backends, with a metadata builder that lists fewer pages for sparse requests.

`reprise_vllm.select_pages.backends.FLASH_ATTN` etc. are created on first access. They change neither which backend is
used nor what it can do.
"""

from functools import cache
from typing import Any

from vllm.utils.import_utils import resolve_obj_by_qualname
from vllm.v1.attention.backends.registry import AttentionBackendEnum

from reprise_vllm.select_pages.register_backends import BACKENDS
from reprise_vllm.select_pages.worker.page_worker import begin_selection, is_wanted
from reprise_vllm.select_pages.worker.proof import Proof

STEP = "reprise_step"
"""the attribute of attention metadata that holds the sparse requests of its step"""
PROOF = "reprise_proof"


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
        def __init__(
            self, kv_cache_spec: Any, layer_names: list[str], vllm_config: Any, device: Any, *more: Any, **named: Any
        ) -> None:
            super().__init__(kv_cache_spec, layer_names, vllm_config, device, *more, **named)
            self.selection = begin_selection(vllm_config, kv_cache_spec, layer_names, device)
            if self.selection is not None:
                # for another layer group, vLLM would replace only the block table and keep our lengths
                self.supports_update_block_table = False

        def build(
            self, common_prefix_len: int, common_attn_metadata: Any, fast_build: bool = False, **named: Any
        ) -> Any:
            selection = self.selection
            if selection is None or selection.refusal is not None:
                return super().build(common_prefix_len, common_attn_metadata, fast_build, **named)
            try:
                step = selection.rewrite(common_attn_metadata, all_pages=not selection.is_proven)
                if step is not None:
                    metadata = super().build(common_prefix_len, step.rewritten, fast_build, **named)
                    step.build = super().build
                    if selection.is_proven:
                        setattr(metadata, STEP, step)
                        return metadata
                    stock = super().build(common_prefix_len, common_attn_metadata, fast_build, **named)
                    setattr(stock, PROOF, Proof(selection, step, metadata))
                    return stock
            except Exception as error:
                selection.give_up("fault", error)
            return super().build(common_prefix_len, common_attn_metadata, fast_build, **named)

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
            if self.reprise_pages is not None:
                proof = getattr(attn_metadata, PROOF, None)
                if proof is not None:
                    stock = super().forward(layer, query, key, value, kv_cache, attn_metadata, output, *more, **named)

                    def attend(metadata: Any, scratch: Any) -> Any:
                        return base.forward(self, layer, query, key, value, kv_cache, metadata, scratch, *more, **named)

                    proof.see(self.reprise_pages[1], query, output, attend)
                    return stock
                step = getattr(attn_metadata, STEP, None)
                if step is not None:
                    attn_metadata = self._listed(step, query, attn_metadata)
            return super().forward(layer, query, key, value, kv_cache, attn_metadata, output, *more, **named)

        def _listed(self, step: Any, query: Any, metadata: Any) -> Any:
            selection, index = self.reprise_pages
            if step.fallback is None and selection.selector.per_layer:
                try:
                    selection.in_layer(step, index, query)
                except Exception as error:
                    selection.give_up("fault", error)
                    step.fallback = step.build(0, step.stock)
            return step.of_layer(metadata, index) if step.fallback is None else step.fallback

    Impl.__name__ = Impl.__qualname__ = f"Paged{base.__name__}"
    return Impl
