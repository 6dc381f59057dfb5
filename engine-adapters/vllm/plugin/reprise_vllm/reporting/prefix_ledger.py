"""Tracks which requests lose how much when a block is evicted."""

from collections.abc import Iterable, Sequence


class Node:
    """A cached block. It stands for a prefix of some prompts, named by the hash of all tokens up to its end."""

    __slots__ = ("block_hash", "children", "depth", "parent", "reported", "requests")

    def __init__(self, parent: "Node | None" = None, block_hash: bytes = b"") -> None:
        self.parent = parent
        self.block_hash = block_hash
        self.depth = parent.depth + 1 if parent else 0
        self.children: set[Node] | None = None
        # requests whose longest cached prefix ends here
        self.requests: set[str] | None = None
        # which of those with this block was reported last, where that matters
        self.reported: str | None = None

    def adopt(self, child: "Node") -> None:
        if self.children is None:
            self.children = set()
        self.children.add(child)


class PrefixLedger:
    """
    Maps each request to the deepest cached block of its prefix.

    A block shared by a thousand requests is one node. An eviction usually moves them up one step: engines evict tails
    first. A request's prefix only ever shrinks: if lost blocks are computed again, only the computing request is
    recorded with them.
    """

    def __init__(self, step: int = 1) -> None:
        """step: how many hashes a block has, the last of which names it"""
        self._step = step
        self._root = Node()
        self._nodes: dict[bytes, Node] = {}
        self._places: dict[str, Node] = {}

    @property
    def blocks(self) -> int:
        """How many blocks are known."""
        return len(self._nodes)

    def blocks_of(self, request_id: str) -> int:
        """How many blocks of a request are known to be cached."""
        node = self._places.get(request_id)
        return node.depth if node else 0

    def store(self, request_id: str, hashes: Sequence[bytes]) -> None:
        """Records that these blocks, the request's prefix, are cached. Replaces what was recorded for this id."""
        nodes = self._nodes
        node = self._root
        for block_hash in hashes:
            child = nodes.get(block_hash)
            if child is None:
                child = nodes[block_hash] = Node(node, block_hash)
                node.adopt(child)
            elif child.parent is not node:
                # the block before it was evicted alone and has been computed again
                child.parent = node
                node.adopt(child)
            node = child
        self.forget(request_id)
        if node is not self._root:
            self._places[request_id] = node
            if node.requests is None:
                node.requests = set()
            node.requests.add(request_id)

    def lose(self, hashes: Iterable[bytes]) -> dict[str, int]:
        """Removes blocks that are no longer cached. Returns the affected requests and how many blocks each has left."""
        found = (node for block_hash in hashes if (node := self._nodes.pop(block_hash, None)))
        moved: dict[str, int] = {}
        seen: set[Node] = set()
        # the topmost first: blocks cached after a lost block are useless
        lost = sorted(found, key=lambda node: node.depth)
        for node in lost:
            below = [] if node in seen else [node]
            while below:
                one = below.pop()
                seen.add(one)
                if one.requests:
                    self._move(one, self._block_before(node), moved)
                below += one.children or ()
        for node in lost:
            self._detach(node)
        return moved

    def forget(self, request_id: str) -> None:
        """Stops tracking the request."""
        node = self._places.pop(request_id, None)
        if node:
            node.requests.discard(request_id)

    def clear(self) -> None:
        """Forgets all blocks and requests."""
        self._root = Node()
        self._nodes.clear()
        self._places.clear()

    def _block_before(self, node: Node) -> Node:
        node = node.parent
        while node.depth % self._step:
            node = node.parent
        return node

    def _detach(self, node: Node) -> None:
        """Takes a lost block out of the tree, with the hashes within it that no other block begins with."""
        node.parent.children.discard(node)
        while (node := node.parent).depth % self._step and not node.children:
            self._nodes.pop(node.block_hash, None)
            node.parent.children.discard(node)

    def _move(self, node: Node, target: Node, moved: dict[str, int]) -> None:
        """Moves the requests at `node` up to `target`."""
        requests, node.requests = node.requests, None
        moved |= dict.fromkeys(requests, target.depth)
        if target is self._root:
            for request_id in requests:
                del self._places[request_id]
            return
        self._places |= dict.fromkeys(requests, target)
        if target.requests:
            target.requests |= requests
        else:
            target.requests = requests
