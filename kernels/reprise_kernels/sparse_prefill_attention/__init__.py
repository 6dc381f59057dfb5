"""Attention of queries at arbitrary true positions over a paged cache, in two layouts, and their specifications."""

from reprise_kernels.rotary.key_turns import KeyTurns
from reprise_kernels.sparse_prefill_attention.dispatch import sparse_prefill_attention
from reprise_kernels.sparse_prefill_attention.naive import (
    naive_shared_prefill_attention,
    naive_sparse_prefill_attention,
)
from reprise_kernels.sparse_prefill_attention.shared_dispatch import shared_prefill_attention

__all__ = [
    "KeyTurns",
    "naive_shared_prefill_attention",
    "naive_sparse_prefill_attention",
    "shared_prefill_attention",
    "sparse_prefill_attention",
]
