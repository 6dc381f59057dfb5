"""Stands in for FlashInfer, which needs a GPU: computes on the CPU what its paged attention is documented to compute.

Follows the signatures of flashinfer-python 0.7.2. Attention is plain, in float64.
"""

from types import ModuleType

import torch


class _FakePaged:
    def __init__(self, float_workspace_buffer: torch.Tensor, kv_layout: str = "NHD", use_tensor_cores: bool = False):
        assert kv_layout == "NHD"
        assert not float_workspace_buffer.any(), "the workspace must be zeros at its first use"

    def _keep(self, q_starts, starts, indices, last, heads, mask, types):
        for each in (q_starts, starts, indices, last):
            assert each.dtype == torch.int32
        self.q_starts, self.starts, self.last = q_starts.tolist(), starts.tolist(), last.tolist()
        self.indices, self.heads, self.mask, self.types = indices.long(), heads, mask, types

    def run(self, q: torch.Tensor, paged_kv_cache: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """Computes the planned attention."""
        q_heads, kv_heads, head_dim, page_size = self.heads
        assert q.shape[1:] == (q_heads, head_dim)
        assert all(cache.shape[1:] == (page_size, kv_heads, head_dim) for cache in paged_kv_cache)
        assert self.types == (q.dtype, paged_kv_cache[0].dtype)
        out, used = torch.empty_like(q), 0
        for b in range(len(self.last)):
            rows = slice(self.q_starts[b], self.q_starts[b + 1])
            pages = self.indices[self.starts[b] : self.starts[b + 1]]
            length = (len(pages) - 1) * page_size + self.last[b]
            k, v = (
                cache[pages].flatten(0, 1)[:length].double().repeat_interleave(q_heads // kv_heads, 1)
                for cache in paged_kv_cache
            )
            logits = torch.einsum("mhd,nhd->hmn", q[rows].double(), k) * head_dim**-0.5
            if self.mask is not None:
                size = (rows.stop - rows.start) * length
                seen = self.mask[used : used + size].view(-1, length)
                logits, used = logits.masked_fill(~seen, -torch.inf), used + size
            out[rows] = torch.einsum("hmn,nhd->mhd", logits.softmax(-1), v).to(q.dtype)
        assert self.mask is None or used == len(self.mask)
        return out


class FakePrefill(_FakePaged):
    """Stands in for BatchPrefillWithPagedKVCacheWrapper."""

    def plan(
        self, qo_indptr, paged_kv_indptr, paged_kv_indices, paged_kv_last_page_len, num_qo_heads, num_kv_heads,
        head_dim_qk, page_size, custom_mask=None, q_data_type="float16", kv_data_type=None,
    ):  # fmt: skip
        """Stores its arguments."""
        assert custom_mask.dtype == torch.bool
        assert custom_mask.dim() == 1
        heads = (num_qo_heads, num_kv_heads, head_dim_qk, page_size)
        where = (qo_indptr, paged_kv_indptr, paged_kv_indices, paged_kv_last_page_len)
        self._keep(*where, heads, custom_mask, (q_data_type, kv_data_type))


class FakeDecode(_FakePaged):
    """Stands in for BatchDecodeWithPagedKVCacheWrapper."""

    def plan(
        self, indptr, indices, last_page_len, num_qo_heads, num_kv_heads, head_dim, page_size,
        *, q_data_type="float16", kv_data_type=None,
    ):  # fmt: skip
        """Stores its arguments."""
        heads, one_each = (num_qo_heads, num_kv_heads, head_dim, page_size), torch.arange(len(indptr)).int()
        self._keep(one_each, indptr, indices, last_page_len, heads, None, (q_data_type, kv_data_type))


def fake_flashinfer() -> ModuleType:
    """Returns a module with FlashInfer's names."""
    module = ModuleType("flashinfer")
    module.BatchPrefillWithPagedKVCacheWrapper = FakePrefill
    module.BatchDecodeWithPagedKVCacheWrapper = FakeDecode
    return module
