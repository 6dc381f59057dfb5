"""Finds the KV cache group that determines how long a cached prefix is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reprise_vllm.checkpoints.side_groups import SideGroups, find_side_groups, hashes_of

if TYPE_CHECKING:
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.kv_cache_interface import KVCacheConfig, KVCacheSpec
    from vllm.v1.request import Request


@dataclass(frozen=True, slots=True)
class WatchedGroup:
    """A group of full-attention layers. Its cached prefix ends at its first missing block."""

    group_id: int
    block_size: int
    hash_block_size: int
    is_alone: bool
    """false if there are other groups (sliding windows, states), which may miss sooner"""
    sides: "SideGroups | None" = None
    """the other groups, if it is known what they must hold"""

    def hashes_of(self, request: "Request") -> Sequence[bytes]:
        """Returns one hash per full block of the request. They are chained: each covers all tokens up to its end."""
        return hashes_of(request, self.hash_block_size, self.block_size)[:]

    def key_of(self, block_hash: bytes) -> bytes:
        """Returns the key under which the pool stores a block of this group."""
        return block_hash + self.group_id.to_bytes(4, "big")


def find_watched_group(config: "KVCacheConfig", pool: "BlockPool") -> WatchedGroup | None:
    """Returns the first full-attention group, or None if there is none."""
    groups = config.kv_cache_groups
    for group_id, group in enumerate(groups):
        spec = group.kv_cache_spec
        if _sees_everything(spec):
            # context parallelism spreads a block over ranks, so the hash block size is the one that counts
            block_size = pool.hash_block_size if len(groups) == 1 else spec.block_size
            sides = find_side_groups(config, pool.hash_block_size)
            return WatchedGroup(group_id, block_size, pool.hash_block_size, len(groups) == 1, sides)
    return None


def _sees_everything(spec: "KVCacheSpec") -> bool:
    from vllm.v1.kv_cache_interface import FullAttentionSpec

    # a reference window (rswa) drops blocks in the middle of the generated tokens
    return isinstance(spec, FullAttentionSpec) and not hasattr(spec, "rswa_window")
