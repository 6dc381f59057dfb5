"""Rotary position embeddings, and how far cached keys are from the positions that a request needs."""

from reprise_kernels.rotary.embedding import Rotary, Turns, llama3_rotary, plain_rotary, yarn_rotary

__all__ = ["Rotary", "Turns", "llama3_rotary", "plain_rotary", "yarn_rotary"]
