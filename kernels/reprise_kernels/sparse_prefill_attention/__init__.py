"""Attention of queries at arbitrary true positions over a paged cache, and its specification."""

from reprise_kernels.sparse_prefill_attention.dispatch import sparse_prefill_attention
from reprise_kernels.sparse_prefill_attention.naive import naive_sparse_prefill_attention

__all__ = ["naive_sparse_prefill_attention", "sparse_prefill_attention"]
