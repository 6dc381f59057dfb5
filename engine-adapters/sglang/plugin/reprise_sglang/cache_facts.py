"""What the cache hands from the engine's thread to the sender's: facts of the tree, in constant time."""

from typing import Final, NamedTuple

ROOT: Final = 0
"""How many tokens lead to the root, where nothing is cached."""


class Anchored(NamedTuple):
    """A request's cached prefix ends, from now on, with this node of the tree, after so many tokens."""

    request_id: str
    node: int
    tokens: int


class Evicted(NamedTuple):
    """A node without cached children is no longer cached; its parent is, up to so many tokens."""

    node: int
    parent: int
    parent_tokens: int
    stays: bool = False
    """on the host, from where it may be promoted"""


class Promoted(NamedTuple):
    """A node that had been evicted and stayed on the host is cached again, up to so many tokens, behind its parent."""

    node: int
    parent: int
    tokens: int
