"""The paper's layout of sparse prefill attention, shared and exclusive pages, and its specification."""

from lab_kernels.shared_prefill_attention.dispatch import shared_prefill_attention
from lab_kernels.shared_prefill_attention.naive import naive_shared_prefill_attention

__all__ = ["naive_shared_prefill_attention", "shared_prefill_attention"]
