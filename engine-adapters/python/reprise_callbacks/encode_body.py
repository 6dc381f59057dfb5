"""Encodes request bodies in pieces, so that the engine's thread can run in between."""

import json
import time
from collections.abc import Iterable
from itertools import islice
from typing import Any

_ITEMS_PER_PIECE = 200
_BREATH = 0.0005


def encode_body(head: dict[str, Any], member: str, items: Iterable[dict[str, Any]]) -> bytes:
    """Returns `{…head, member: [items]}` as JSON. Never holds the interpreter's lock (GIL) for long."""
    encoder = json.JSONEncoder(separators=(",", ":"))
    pieces = [f"{encoder.encode(head)[:-1]},{encoder.encode(member)}:[".encode()]
    rest = iter(items)
    while piece := list(islice(rest, _ITEMS_PER_PIECE)):
        if len(pieces) > 1:
            pieces.append(b",")
            # a real pause: otherwise this thread takes the lock back before the other one wakes
            time.sleep(_BREATH)
        pieces.append(encoder.encode(piece)[1:-1].encode())
    pieces.append(b"]}")
    return b"".join(pieces)
