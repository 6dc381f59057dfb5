"""The pages relevant to the text being written, found from coarse to fine: `hierarchical_select`."""

from lab_kernels.hierarchical_select.dispatch import hierarchical_select
from lab_kernels.hierarchical_select.hierarchy import Hierarchy
from lab_kernels.hierarchical_select.naive import naive_hierarchical_select

__all__ = ["Hierarchy", "hierarchical_select", "naive_hierarchical_select"]
