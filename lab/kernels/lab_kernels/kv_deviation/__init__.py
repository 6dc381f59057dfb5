"""How much cached keys and values differ from fresh ones, and how large the cached ones are."""

from lab_kernels.kv_deviation.dispatch import kv_deviation, value_norm
from lab_kernels.kv_deviation.naive import naive_kv_deviation

__all__ = ["kv_deviation", "naive_kv_deviation", "value_norm"]
