"""Without a GPU, Triton kernels run under its interpreter, which must be chosen before the import."""

import os

import pytest
import torch
from hypothesis import HealthCheck, Phase, settings

HAS_GPU = torch.cuda.is_available()
if not HAS_GPU:
    os.environ["TRITON_INTERPRET"] = "1"
# explaining a failure takes minutes under the interpreter, and the time of an example says nothing.
# more examples: --hypothesis-profile=thorough; "few" is for the sanitizer, under which everything is slow
for name, examples in (("kernels", 8), ("thorough", 100), ("few", 2)):
    settings.register_profile(
        name,
        deadline=None,
        max_examples=examples,
        phases=[phase for phase in Phase if phase != Phase.explain],
        suppress_health_check=list(HealthCheck),
    )
settings.load_profile("kernels")
torch.set_num_threads(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips tests that need a GPU if there is none."""
    for item in items:
        if item.get_closest_marker("gpu") and not HAS_GPU:
            item.add_marker(pytest.mark.skip(reason="no CUDA device"))
