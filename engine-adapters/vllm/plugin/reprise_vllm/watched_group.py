"""Which of a model's KV cache groups decides how long a cached prefix is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.kv_cache_interface import KVCacheConfig, KVCacheSpec
    from vllm.v1.request import Request


@dataclass(frozen=True, slots=True)
class WatchedGroup:
    """A group of layers that attend to everything, so that its cached prefix ends where its first missing block is."""

    group_id: int
    block_size: int
    hash_block_size: int
    is_alone: bool
    """other groups (sliding windows, states) may miss sooner"""

    def hashes_of(self, request: "Request") -> Sequence[bytes]:
        """One for each of the request's full blocks, chained, so that each names all tokens up to its end."""
        if self.block_size == self.hash_block_size:
            return request.block_hashes[:]
        from vllm.v1.core.kv_cache_utils import resolve_block_hashes

        return list(resolve_block_hashes(request.block_hashes, self.hash_block_size, self.block_size))

    def key_of(self, block_hash: bytes) -> bytes:
        """By which the pool knows a block of this group."""
        return block_hash + self.group_id.to_bytes(4, "big")


def find_watched_group(config: "KVCacheConfig", pool: "BlockPool") -> WatchedGroup | None:
    """The first group of full attention; None when there is none."""
    groups = config.kv_cache_groups
    for group_id, group in enumerate(groups):
        spec = group.kv_cache_spec
        if _sees_everything(spec):
            # context parallelism spreads a block over ranks: the hash's size is the one that counts then
            block_size = pool.hash_block_size if len(groups) == 1 else spec.block_size
            return WatchedGroup(group_id, block_size, pool.hash_block_size, len(groups) == 1)
    return None


def _sees_everything(spec: "KVCacheSpec") -> bool:
    from vllm.v1.kv_cache_interface import FullAttentionSpec

    # a reference window drops blocks in the middle of what was generated
    return isinstance(spec, FullAttentionSpec) and not hasattr(spec, "rswa_window")
