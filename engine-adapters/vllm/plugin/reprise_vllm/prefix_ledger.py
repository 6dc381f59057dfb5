"""Which requests lose what when a block is evicted."""

from collections.abc import Iterable, Sequence


class _Node:
    """A cached block: a prefix of some prompts, named by a hash of all its tokens."""

    __slots__ = ("children", "depth", "is_cached", "parent", "requests")

    def __init__(self, parent: "_Node | None", depth: int) -> None:
        self.parent = parent
        self.depth = depth
        self.is_cached = True
        self.children: set[_Node] | None = None
        # those whose longest cached prefix ends here
        self.requests: set[str] | None = None


class PrefixLedger:
    """
    Keeps each request at the deepest block of its prefix that is cached.

    A block that a thousand requests share is one node, and falling back is one step up: engines evict tails first. A
    request only ever falls; when what it lost is computed again, that is another request's news.
    """

    def __init__(self) -> None:
        self._root = _Node(None, 0)
        self._nodes: dict[bytes, _Node] = {}
        self._places: dict[str, _Node] = {}

    @property
    def blocks(self) -> int:
        """How many blocks are known."""
        return len(self._nodes)

    def store(self, request_id: str, hashes: Sequence[bytes]) -> None:
        """The request's prefix of these blocks is cached; what the id stood for before is replaced."""
        nodes = self._nodes
        node = self._root
        for block_hash in hashes:
            child = nodes.get(block_hash)
            if child is None:
                child = nodes[block_hash] = _Node(node, node.depth + 1)
                _adopt(node, child)
            elif child.parent is not node:
                # the block in front of it was evicted alone, and has been computed again
                child.parent = node
                _adopt(node, child)
            node = child
        self.forget(request_id)
        if node is not self._root:
            self._stand(request_id, node)

    def lose(self, hashes: Iterable[bytes]) -> dict[str, int]:
        """These blocks are no longer cached; the requests that lost some, with the blocks they still have."""
        lost = [node for block_hash in hashes if (node := self._nodes.pop(block_hash, None))]
        for node in lost:
            node.is_cached = False
            node.parent.children.discard(node)
        moved: dict[str, int] = {}
        for node in lost:
            if node.requests:
                self._fall(node, node, moved)
        for node in lost:
            if node.children:
                for below in _descendants(node):
                    if below.requests:
                        self._fall(below, node, moved)
        return moved

    def forget(self, request_id: str) -> None:
        """The request is not heard of any more."""
        node = self._places.pop(request_id, None)
        if node:
            node.requests.discard(request_id)

    def clear(self) -> None:
        """Nothing is cached."""
        self._root = _Node(None, 0)
        self._nodes.clear()
        self._places.clear()

    def _stand(self, request_id: str, node: _Node) -> None:
        self._places[request_id] = node
        if node.requests is None:
            node.requests = set()
        node.requests.add(request_id)

    def _fall(self, node: _Node, evicted: _Node, moved: dict[str, int]) -> None:
        """The requests that stand at `node` have nothing from `evicted` on."""
        requests, node.requests = node.requests, None
        target = above = evicted.parent
        while above is not self._root:
            # what is cached behind a lost block is of no use, however many of a chain are lost at once
            if not above.is_cached:
                target = above.parent
            above = above.parent
        for request_id in requests:
            moved[request_id] = target.depth
            if target is self._root:
                del self._places[request_id]
            else:
                self._places[request_id] = target
        if target is self._root:
            return
        if target.requests:
            target.requests |= requests
        else:
            target.requests = requests


def _adopt(parent: _Node, child: _Node) -> None:
    if parent.children is None:
        parent.children = {child}
    else:
        parent.children.add(child)


def _descendants(node: _Node) -> Iterable[_Node]:
    below = list(node.children)
    while below:
        found = below.pop()
        yield found
        if found.children:
            below.extend(found.children)
