"""What the cache passes from the engine's thread to the sender's thread: facts about the tree, in constant time."""

from typing import Final, NamedTuple

ROOT: Final = 0
"""tokens up to the root, where nothing is cached"""


class Anchored(NamedTuple):
    """A request's cached prefix now ends with this node of the tree, after `tokens` tokens."""

    request_id: str
    node: int
    tokens: int


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
