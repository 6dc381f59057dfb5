"""What the cache passes from the engine's thread to the sender's thread: facts about the tree, in constant time."""

from typing import Final, NamedTuple

ROOT: Final = 0
"""tokens up to the root, where nothing is cached"""


class State(NamedTuple):
    """A node that keeps the state of layers that have one. A prefix is found only where one is kept."""

    node: int
    tokens: int


class Anchored(NamedTuple):
    """A request's cached prefix now ends with this node of the tree, after `tokens` tokens."""

    request_id: str
    node: int
    tokens: int
    states: tuple[State, ...] | None = None
    """those up to there, the shortest prefix first; None: the model has only full attention"""


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


class StateLost(NamedTuple):
    """A node that is still cached does not keep its state any more."""

    state: State
    before: tuple[State, ...]
    """those of its prefixes that are kept"""
