"""What is to be looked up, read and written in a shared store."""

import math
from dataclasses import dataclass, field

import numpy as np

from reprise_reuse.disk.messages import DiskFile, DiskOrders


@dataclass(frozen=True, slots=True)
class RemoteFile(DiskFile):
    """A segment's rows in host memory, and the value that holds or will hold them."""

    audience: bytes
    """who may find it: see `prompts.users.audience_of`"""
    seconds: float = 0.0
    """for a read: it is of use only if it takes no longer"""
    silence: float = math.inf
    """for a read: how long the store may answer nothing meanwhile"""


@dataclass(frozen=True, slots=True)
class Lookup:
    """What a request would like to find."""

    request: str
    namespace: bytes
    audiences: tuple[bytes, ...]
    """to which it belongs"""
    grams: np.ndarray
    """anchors of the text that no segment here holds, uint64 [n]"""
    seconds: float
    """the request waits no longer for it"""
    silence: float
    """how long the store may answer nothing meanwhile"""


@dataclass(slots=True)
class RemoteOrders(DiskOrders):
    """What to do with values, in the order of `DiskOrders`; then look up."""

    lookups: list[Lookup] = field(default_factory=list)
