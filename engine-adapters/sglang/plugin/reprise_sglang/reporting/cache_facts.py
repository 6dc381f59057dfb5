"""What the cache passes from the engine's thread to the sender's thread: facts about the tree, in constant time."""

from typing import Final, NamedTuple

ROOT: Final = 0
"""tokens up to the root, where nothing is cached"""


Lengths = tuple[tuple[int, int], ...]
"""of prefixes, in tokens: ranges, first and last, in ascending order"""


class Anchored(NamedTuple):
    """A request's cached prefix now ends with this node of the tree, after `tokens` tokens."""

    request_id: str
    node: int
    tokens: int
    lengths: Lengths | None = None
    """at which others find it, up to there; None: at all of them, since the model has only full attention"""


class Evicted(NamedTuple):
    """A node without cached children is no longer cached; its parent still is, up to `parent_tokens` tokens."""

    node: int
    parent: int
    parent_tokens: int
    stays: bool = False
    """on the host, from which it may be promoted"""


class Promoted(NamedTuple):
    """A node that was evicted but stayed on the host is cached again after its parent, up to `tokens` tokens."""

    node: int
    parent: int
    tokens: int


class Refound(NamedTuple):
    """What is cached up to a node at which requests end is found at other lengths than before."""

    node: int
    lengths: Lengths
    changed: tuple[int, ...]
    """the nodes on the way there that were told otherwise"""
