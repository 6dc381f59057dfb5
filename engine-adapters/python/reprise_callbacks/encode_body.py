"""Bodies of the protocol, encoded in pieces so that the engine's thread gets the interpreter in between."""

import json
import time
from collections.abc import Iterable
from itertools import islice
from typing import Any

_ITEMS_PER_PIECE = 200
_BREATH = 0.0005


def encode_body(head: dict[str, Any], member: str, items: Iterable[dict[str, Any]]) -> bytes:
    """`{…head, member: [items]}` as JSON; the interpreter's lock is never held for long."""
    encoder = json.JSONEncoder(separators=(",", ":"))
    pieces = [f"{encoder.encode(head)[:-1]},{encoder.encode(member)}:[".encode()]
    rest = iter(items)
    while piece := list(islice(rest, _ITEMS_PER_PIECE)):
        if len(pieces) > 1:
            pieces.append(b",")
            # a real pause: giving the lock up without one takes it back before the other thread wakes
            time.sleep(_BREATH)
        pieces.append(encoder.encode(piece)[1:-1].encode())
    pieces.append(b"]}")
    return b"".join(pieces)
