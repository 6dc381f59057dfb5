"""Moves cached keys to other positions: `rope_shift`, and its specification `naive_rope_shift`."""

from lab_kernels.rope_shift.dispatch import rope_shift
from lab_kernels.rope_shift.naive import naive_rope_shift

__all__ = ["naive_rope_shift", "rope_shift"]
