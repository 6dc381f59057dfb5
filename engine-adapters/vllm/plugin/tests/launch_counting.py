"""Counts what would be launched on a GPU."""

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode
from vllm.model_executor.layers.attention import attention

NO_LAUNCHES = ("empty", "new_empty", "detach", "lift_fresh", "alias", "device")


class Counting(TorchDispatchMode):
    """Counts operations that launch something: not views, and not allocations."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self.is_paused = False

    def __torch_dispatch__(self, function: Any, types: Any, given: Any = (), named: Any = None) -> Any:
        name = function.overloadpacket.__name__
        if name.startswith("unified_"):
            # vLLM's wrappers of attention: what they do is counted, and not they themselves
            with self:
                return getattr(attention, name)(*given, **(named or {}))
        if self.is_paused:
            return function(*given, **(named or {}))
        if not function.is_view and not name.startswith(NO_LAUNCHES):
            self.count += 1
        return function(*given, **(named or {}))
