"""Whether a model's output has become uncertain, page by page: `generation_uncertainty`."""

from reprise_kernels.generation_uncertainty.dispatch import Uncertainty, generation_uncertainty
from reprise_kernels.generation_uncertainty.naive import naive_entropy, naive_page_uncertainty

__all__ = ["Uncertainty", "generation_uncertainty", "naive_entropy", "naive_page_uncertainty"]
