"""Scores of rival methods, derived from positions or from other scores alone: index arithmetic, no kernels."""

from lab_kernels.chunk_head.scores import attention_change, chunk_head, random_scores

__all__ = ["attention_change", "chunk_head", "random_scores"]
