"""Attention of one query per request over all its pages or a list of them."""

from lab_kernels.sparse_decode_attention.dispatch import sparse_decode_attention
from lab_kernels.sparse_decode_attention.naive import naive_sparse_decode_attention

__all__ = ["naive_sparse_decode_attention", "sparse_decode_attention"]
