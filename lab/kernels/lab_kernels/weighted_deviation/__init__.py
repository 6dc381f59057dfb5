"""How much cached values differ from fresh ones, weighted by attention: KVShare's choice, ProphetKV's ideal."""

from lab_kernels.weighted_deviation.dispatch import kvshare_scores, weighted_deviation
from lab_kernels.weighted_deviation.naive import naive_kvshare_scores, naive_weighted_deviation

__all__ = ["kvshare_scores", "naive_kvshare_scores", "naive_weighted_deviation", "weighted_deviation"]
