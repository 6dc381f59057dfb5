"""Tracks at which lengths prefixes are found, where layers with windows or states keep only some blocks."""

from collections.abc import Iterable, Iterator

from reprise_vllm.reporting.prefix_ledger import Node, PrefixLedger
from reprise_vllm.reporting.watched_group import SideBlocks, WatchedGroup

_GROUP_BYTES = 4
_Shared = dict[Node, tuple[list[int], list[int]]]
"""by place where requests part: how many blocks in a row each side holds there, and the checkpoints up to it"""


class CheckpointLedger(PrefixLedger):
    """
    Knows which blocks are held beside full attention, and so which prefixes are found, whoever computed their blocks.

    Requests with the same beginning share its checkpoints. A report says what is held of the beginning, whoever has it.
    So it is enough to tell of a change with one of them: with the one that was reported last, which replaces what
    others reported of it.
    """

    def __init__(self, group: WatchedGroup) -> None:
        """Its blocks are those of the hashes, which may be smaller than full attention's."""
        super().__init__(group.block_size // group.hash_block_size)
        self._group = group
        # by side: the hashes at which held blocks end
        self._held: list[set[bytes]] = [set() for _ in group.sides]
        self._sides = {suffix: i for i, side in enumerate(group.sides) for suffix in side.suffixes}
        # by side: the hashes whose blocks were lost or stored since the last report
        self._changed: list[set[bytes]] = [set() for _ in group.sides]
        self._stored: list[str] = []

    def lose_sides(self, keys: Iterable[bytes]) -> None:
        """Removes blocks of groups beside full attention."""
        for key in keys:
            side = self._sides.get(key[-_GROUP_BYTES:])
            block_hash = key[:-_GROUP_BYTES]
            if side is not None and block_hash in self._held[side]:
                self._held[side].remove(block_hash)
                self._changed[side].add(block_hash)

    def store_sides(self, request_id: str, blocks: SideBlocks) -> None:
        """Records what is held of the request. Replaces what was recorded for this id."""
        self.store(request_id, blocks.hashes)
        self._stored.append(request_id)
        for node in self._path_of(request_id):
            node.reported = request_id
        for side, held, changed, own in zip(self._group.sides, self._held, self._changed, blocks.held, strict=True):
            step = side.block_size // self._group.hash_block_size
            fresh = held.intersection(blocks.hashes[step - 1 :: step]) ^ own
            held ^= fresh
            changed |= fresh

    def take_reports(self) -> dict[str, list[int]]:
        """Returns the requests that were stored, and those to tell of changes with, and the checkpoints of each."""
        told = dict.fromkeys([*self._stored, *self._tellers()])
        self._stored.clear()
        shared: _Shared = {}
        return {request_id: self._checkpoints_of(request_id, shared) for request_id in told}

    def clear(self) -> None:
        super().clear()
        self._stored.clear()
        for hashes in (*self._held, *self._changed):
            hashes.clear()

    def _tellers(self) -> Iterator[str]:
        """Yields the requests that were reported last of those whose checkpoints may have changed."""
        for side, held, changed in zip(self._group.sides, self._held, self._changed, strict=True):
            step = side.block_size // self._group.hash_block_size
            nodes = [node for block_hash in changed if (node := self._nodes.get(block_hash))]
            changed.clear()
            seen: set[Node] = set()
            # what is behind the deepest is as far from it as from those in front of it, or nearer
            for start in sorted(nodes, key=lambda node: node.depth, reverse=True):
                end = start.depth + side.tail * step
                below = [start]
                while below:
                    node = below.pop()
                    seen.add(node)
                    if node.reported in self._places:
                        yield node.reported
                    # a checkpoint needs all blocks between here and there
                    below += [
                        child
                        for child in node.children or ()
                        if child.depth < end and child not in seen and (child.depth % step or child.block_hash in held)
                    ]

    def _path_of(self, request_id: str) -> Iterator[Node]:
        node = self._places.get(request_id, self._root)
        while node.parent:
            yield node
            node = node.parent

    def _checkpoints_of(self, request_id: str, shared: _Shared) -> list[int]:
        sides = self._group.sides
        path = [*self._path_of(request_id)]
        for node in path:
            node.reported = request_id
        known = next((place for place, node in enumerate(path) if node in shared), len(path))
        runs, found = map(list, shared[path[known]] if known < len(path) else ([0] * len(sides), []))
        for node in reversed(path[:known]):
            tokens = node.depth * self._group.hash_block_size
            for i, side in enumerate(sides):
                if tokens % side.block_size == 0:
                    runs[i] = runs[i] + 1 if node.block_hash in self._held[i] else 0
            if tokens % self._group.unit == 0 and all(
                run >= min(side.tail, tokens // side.block_size) for run, side in zip(runs, sides, strict=True)
            ):
                found.append(tokens)
            if len(node.children or ()) > 1:
                shared[node] = [*runs], [*found]
        return found
