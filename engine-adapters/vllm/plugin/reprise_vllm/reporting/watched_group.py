"""Which groups of layers determine how long a cached prefix is: full attention, and what is beside it."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING, Any, NamedTuple

from reprise_vllm.checkpoints.layer_kinds import kinds_of, tail_blocks

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
    """Groups that hold the same blocks, because they need the same: of layers with windows or states."""

    block_size: int
    tail: int
    """blocks in front of a checkpoint that must be held"""
    suffixes: Sequence[bytes]
    """what the pool's keys of these groups end with"""


@dataclass(frozen=True, slots=True)
class WatchedGroup:
    """A group of full-attention layers. Its cached prefix ends at its first missing block."""

    suffix: bytes
    """what the pool's keys of this group end with"""
    block_size: int
    hash_block_size: int
    is_alone: bool
    """false if there are other groups (sliding windows, states), which may miss sooner"""
    sides: Sequence[Side] = ()
    """the other groups, if it is known what they must hold"""
    unit: int = 0
    """tokens: a checkpoint lies at a multiple of it"""
    kinds: Sequence[str] = ()
    """of the sides' layers: `window`, `state`"""

    @property
    def checkpoints(self) -> dict[str, Any] | None:
        """What snapshots tell the proxy of a model for which no border can be set."""
        return {"unit": self.unit, "kinds": list(self.kinds)} if self.sides else None

    def hashes_of(self, request: "Request") -> Sequence[bytes]:
        """Returns one hash per full block of the request. They are chained: each covers all tokens up to its end."""
        return self._hashes_of(request, self.block_size)[:]

    def key_of(self, block_hash: bytes) -> bytes:
        """Returns the key under which the pool stores a block of this group."""
        return block_hash + self.suffix

    def beside(self, request: "Request", tokens: int, is_cached: Callable[[bytes], object]) -> SideBlocks | None:
        """Returns what sides hold of the first `tokens`, which full attention holds. O(tokens / block size)."""
        held = [
            {
                block_hash
                for block_hash in self._hashes_of(request, block_size)[: tokens // block_size]
                # nearly always the first one is missing
                if all(is_cached(block_hash + suffix) is not None for suffix in suffixes)
            }
            for block_size, _, suffixes in self.sides
        ]
        return SideBlocks(request.block_hashes[: tokens // self.hash_block_size], held) if held else None

    def _hashes_of(self, request: "Request", block_size: int) -> Sequence[bytes]:
        if block_size == self.hash_block_size:
            return request.block_hashes
        from vllm.v1.core.kv_cache_utils import resolve_block_hashes

        return resolve_block_hashes(request.block_hashes, self.hash_block_size, block_size)


def find_watched_group(config: "KVCacheConfig", pool: "BlockPool") -> WatchedGroup | None:
    """Returns the first full-attention group, or None if there is none."""
    specs = [group.kv_cache_spec for group in config.kv_cache_groups]
    group_id = next((at for at, spec in enumerate(specs) if _sees_everything(spec)), None)
    if group_id is None:
        return None
    suffix, size = _suffix(group_id), pool.hash_block_size
    if len(specs) == 1:
        # context parallelism spreads a block over ranks, so the hash block size is the one that counts
        return WatchedGroup(suffix, size, size, is_alone=True)
    own = specs[group_id].block_size
    # vLLM's `prefix_match_unit`: a state may be found within a block, by the hash of its first part
    is_fine = any(_is_state(spec) and spec.block_size > size for spec in specs)
    suffixes: dict[tuple[int, int | None], list[bytes]] = {}
    for at, spec in enumerate(specs):
        its = size if is_fine and _is_state(spec) else spec.block_size
        suffixes.setdefault((its, tail_blocks(spec)), []).append(_suffix(at))
    sides = [Side(its, tail, own) for (its, tail), own in suffixes.items() if tail]
    # windows in larger blocks keep vLLM from it, and then hashes of parts of a block say nothing
    is_mixed = is_fine and any(side.block_size != size for side in sides)
    if not sides or is_mixed or any(tail is None for _, tail in suffixes):
        return WatchedGroup(suffix, own, size, is_alone=False)
    unit = size if is_fine else lcm(*(spec.block_size for spec in specs))
    return WatchedGroup(suffix, own, size, is_alone=False, sides=sides, unit=unit, kinds=kinds_of(specs))


def _suffix(group_id: int) -> bytes:
    return group_id.to_bytes(4, "big")


def _is_state(spec: "KVCacheSpec") -> bool:
    from vllm.v1.kv_cache_interface import MambaSpec

    return isinstance(spec, MambaSpec) and spec.mamba_cache_mode == "align"


def _sees_everything(spec: "KVCacheSpec") -> bool:
    from vllm.v1.kv_cache_interface import FullAttentionSpec

    # a reference window (rswa) drops blocks in the middle of the generated tokens
    return isinstance(spec, FullAttentionSpec) and not hasattr(spec, "rswa_window")
