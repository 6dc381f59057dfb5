"""Which groups of layers determine how long a cached prefix is: full attention, and what is beside it."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING, Any, NamedTuple

from reprise_vllm.checkpoints.layer_kinds import tail_blocks

if TYPE_CHECKING:
    from vllm.v1.core.block_pool import BlockPool
    from vllm.v1.kv_cache_interface import KVCacheConfig, KVCacheSpec
    from vllm.v1.request import Request


class SideBlocks(NamedTuple):
    """What is held of a request beside full attention."""

    hashes: Sequence[bytes]
    """of its prefix, one every `hash_block_size` tokens"""
    held: Sequence[AbstractSet[bytes]]
    """by side: the hashes at which blocks end that all of its groups hold"""


class Side(NamedTuple):
    """Groups that hold the same blocks, because they need the same."""

    block_size: int
    tail: int
    """blocks in front of a checkpoint that must be held"""
    suffixes: Sequence[bytes]
    """what the pool's keys of these groups end with"""


@dataclass(frozen=True, slots=True)
class SideGroups:
    """The groups of layers with windows or states."""

    unit: int
    """tokens: a checkpoint lies at a multiple of it"""
    hash_block_size: int
    sides: Sequence[Side]
    kinds: Sequence[str]
    """`window`, `state`"""

    @property
    def facts(self) -> dict[str, Any]:
        """What snapshots tell the proxy of a model for which no border can be set."""
        return {"unit": self.unit, "kinds": list(self.kinds)}

    def blocks_of(self, request: "Request", tokens: int, is_cached: Callable[[bytes], object]) -> SideBlocks:
        """Returns what is held of the first `tokens`, which full attention holds. O(tokens / block size)."""
        size = self.hash_block_size
        held = [
            {
                block_hash
                for block_hash in hashes_of(request, size, block_size)[: tokens // block_size]
                # nearly always the first one is missing
                if all(is_cached(block_hash + suffix) is not None for suffix in suffixes)
            }
            for block_size, _, suffixes in self.sides
        ]
        return SideBlocks(request.block_hashes[: tokens // size], held)


def find_side_groups(config: "KVCacheConfig", hash_block_size: int) -> SideGroups | None:
    """Returns None if there are none, or if it is not known what a checkpoint needs."""
    specs = [group.kv_cache_spec for group in config.kv_cache_groups]
    # vLLM's `prefix_match_unit`: a state may be found within a block, by the hash of its first part
    is_fine = any(_is_state(spec) and spec.block_size > hash_block_size for spec in specs)
    suffixes: dict[tuple[int, int | None], list[bytes]] = {}
    for i, spec in enumerate(specs):
        size = hash_block_size if is_fine and _is_state(spec) else spec.block_size
        suffixes.setdefault((size, tail_blocks(spec)), []).append(i.to_bytes(4, "big"))
    sides = [Side(size, tail, own) for (size, tail), own in suffixes.items() if tail]
    # windows in larger blocks keep vLLM from it, and then hashes of parts of a block say nothing
    is_mixed = is_fine and any(size != hash_block_size for size, _, _ in sides)
    if not sides or is_mixed or any(tail is None for _, tail in suffixes):
        return None
    unit = hash_block_size if is_fine else lcm(*(spec.block_size for spec in specs))
    kinds = dict.fromkeys(
        "window" if hasattr(spec, "sliding_window") else "state" for spec in specs if tail_blocks(spec)
    )
    return SideGroups(unit, hash_block_size, sides, sorted(kinds, reverse=True))


def _is_state(spec: "KVCacheSpec") -> bool:
    from vllm.v1.kv_cache_interface import MambaSpec

    return isinstance(spec, MambaSpec) and spec.mamba_cache_mode == "align"


def hashes_of(request: "Request", hash_block_size: int, block_size: int) -> Sequence[bytes]:
    """Returns one hash per full block of this size. They are chained: each covers all tokens up to its end."""
    if block_size == hash_block_size:
        return request.block_hashes
    from vllm.v1.core.kv_cache_utils import resolve_block_hashes

    return resolve_block_hashes(request.block_hashes, hash_block_size, block_size)


@dataclass(frozen=True, slots=True)
class WatchedGroup:
    """A group of full-attention layers. Its cached prefix ends at its first missing block."""

    group_id: int
    block_size: int
    hash_block_size: int
    is_alone: bool
    """false if there are other groups (sliding windows, states), which may miss sooner"""
    sides: SideGroups | None = None
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
