"""What vLLM does about a load that could not fill its blocks."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vllm.config import VllmConfig

    from reprise_reuse.pieces import Load


class FailedLoads:
    """Loads that vLLM computes instead. It hears of their blocks, or of requests."""

    def __init__(self, block_size: int, *, by_request: bool) -> None:
        self._block_size = block_size
        self._by_request = by_request
        self._requests: set[str] = set()
        self._blocks: set[int] = set()

    def add(self, load: "Load") -> None:
        if self._by_request:
            self._requests.add(load.request_id)
        else:
            size = self._block_size
            self._blocks.update(load.blocks[0][load.begin // size : -(-load.end // size)])

    def clear(self) -> None:
        self._requests.clear()
        self._blocks.clear()

    def touch(self, blocks: Sequence[int]) -> bool:
        """Whether any of these blocks could not be filled."""
        return not self._blocks.isdisjoint(blocks)

    def take_blocks(self) -> set[int]:
        """Returns the blocks that could not be filled since the last call."""
        taken, self._blocks = self._blocks, set()
        return taken

    def take_requests(self) -> set[str]:
        """Returns the requests whose loads failed since the last call."""
        taken, self._requests = self._requests, set()
        return taken


def recompute_failed_loads() -> None:
    """Makes vLLM compute what a load could not fill, even inside a MultiConnector; by default it fails the request.

    MultiConnector gives its children copies of the configuration, but the scheduler reads the original.
    """
    from vllm.distributed.kv_transfer.kv_connector.v1.multi_connector import MultiConnector

    get_children = MultiConnector._get_connector_classes_and_configs
    if getattr(get_children, "is_reprises", False):
        return

    def with_policy(cls: type, config: "VllmConfig") -> list[tuple[type, "VllmConfig"]]:
        children = get_children(config)
        if any((child.kv_transfer_config.kv_connector_extra_config or {}).get("reuse") for _, child in children):
            config.kv_transfer_config.kv_load_failure_policy = "recompute"
        return children

    with_policy.is_reprises = True
    MultiConnector._get_connector_classes_and_configs = classmethod(with_policy)
