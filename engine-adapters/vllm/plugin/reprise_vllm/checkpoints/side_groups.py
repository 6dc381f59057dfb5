"""Which checkpoints of a prefix the groups beside full attention hold."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING, NamedTuple

from reprise_vllm.checkpoints.layer_kinds import tail_blocks

if TYPE_CHECKING:
    from vllm.v1.kv_cache_interface import KVCacheConfig
    from vllm.v1.request import Request


class Checkpoint(NamedTuple):
    """A length of a prefix that vLLM can find."""

    tokens: int
    keys: Sequence[bytes]
    """of the blocks that it takes in groups beside full attention; the first one identifies it"""


class _Side(NamedTuple):
    suffix: bytes
    """what the pool's keys of this group end with"""
    block_size: int
    tail: int
    """blocks in front of a checkpoint that must be held"""


@dataclass(frozen=True, slots=True)
class SideGroups:
    """The groups of layers with windows or states."""

    unit: int
    hash_block_size: int
    sides: Sequence[_Side]

    def checkpoints_of(
        self, request: "Request", tokens: int, is_cached: Callable[[bytes], object]
    ) -> Sequence[Checkpoint]:
        """Returns the checkpoints within the first `tokens`, which full attention holds. O(tokens / unit)."""
        sides = [(side, hashes_of(request, self.hash_block_size, side.block_size)) for side in self.sides]
        found = []
        for end in range(self.unit, tokens + 1, self.unit):
            keys = []
            for (suffix, block_size, tail), hashes in sides:
                last = end // block_size
                own = [hashes[i] + suffix for i in range(last - 1, max(last - tail, 0) - 1, -1)]
                # nearly always the first one is missing
                if not all(is_cached(key) is not None for key in own):
                    break
                keys += own
            else:
                found.append(Checkpoint(end, keys))
        return found


def find_side_groups(config: "KVCacheConfig", hash_block_size: int) -> SideGroups | None:
    """Returns None if there are none, or if a checkpoint may lie within a block, or is not known to need what."""
    groups = [
        (i, group.kv_cache_spec, tail_blocks(group.kv_cache_spec)) for i, group in enumerate(config.kv_cache_groups)
    ]
    # vLLM's `prefix_match_unit`: states are found by hashes of parts of a block
    is_fine = any(tail == 1 and spec.block_size != hash_block_size for _, spec, tail in groups)
    sides = [_Side(i.to_bytes(4, "big"), spec.block_size, tail) for i, spec, tail in groups if tail]
    if not sides or is_fine or any(tail is None for _, _, tail in groups):
        return None
    return SideGroups(lcm(*(spec.block_size for _, spec, _ in groups)), hash_block_size, sides)


def hashes_of(request: "Request", hash_block_size: int, block_size: int) -> Sequence[bytes]:
    """Returns one hash per full block of this size. They are chained: each covers all tokens up to its end."""
    if block_size == hash_block_size:
        return request.block_hashes
    from vllm.v1.core.kv_cache_utils import resolve_block_hashes

    return list(resolve_block_hashes(request.block_hashes, hash_block_size, block_size))
