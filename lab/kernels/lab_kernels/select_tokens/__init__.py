"""The best-scored share of each request's tokens, ordered by position: `select_tokens` and its specification."""

from lab_kernels.select_tokens.dispatch import select_tokens
from lab_kernels.select_tokens.naive import naive_select_tokens

__all__ = ["naive_select_tokens", "select_tokens"]
