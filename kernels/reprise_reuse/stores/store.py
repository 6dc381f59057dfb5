"""Stores that several engines share, and how an operator names them."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

_MOONCAKE = {"segment_bytes": int, "buffer_bytes": int, "metadata": str, "protocol": str, "devices": str, "local": str}
"""what may follow a Mooncake master's address, as `?name=value&…`"""
_LEAST_BUFFER = 1 << 20

Value = bytes | memoryview


class Store(Protocol):
    """
    Values by key, shared by engines on several machines. May be slow, full or gone.

    Keys are ASCII without separators. A value that is replaced while it is read may come as a mixture, so who reads it
    checks it. All threads may call. A store connects by itself, also again; while it cannot be reached, its methods
    raise, or take as long as they like.
    """

    def put(self, key: str, value: bytes) -> None:
        """Stores a value in place of the one that there may be."""

    def get(self, keys: Sequence[str]) -> list[Value | None]:
        """Returns the values of some keys in order; None for those that there are not."""

    def close(self) -> None:
        """Ends the connection."""


def store_at(address: str) -> Callable[[], Store]:
    """Returns what makes the store at `file:///FOLDER` or `mooncake://HOST:PORT?…`, without connecting to it.

    Raises `ValueError`, which says what the address must be.
    """
    parts = urlsplit(address)
    if parts.scheme == "file":
        if parts.netloc or parts.query or len(parts.path) < 2:
            raise ValueError("it must name a folder, as file:///mnt/segments does")
        from reprise_reuse.stores.folder_store import FolderStore

        return lambda: FolderStore(unquote(parts.path))
    if parts.scheme != "mooncake" or not parts.hostname or not parts.port or parts.path not in ("", "/"):
        raise ValueError("it must be file:///FOLDER or mooncake://HOST:PORT")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name, value in options.items():
        if name not in _MOONCAKE:
            raise ValueError(f"{name} is no option of mooncake://; there are {', '.join(_MOONCAKE)}")
        if _MOONCAKE[name] is int and not value.isdecimal():
            raise ValueError(f"{name} must be a number of bytes")
        if name == "buffer_bytes" and int(value) < _LEAST_BUFFER:
            raise ValueError(f"{name} must be {_LEAST_BUFFER} or more")
    if find_spec("mooncake") is None:
        raise ValueError("which needs Mooncake: pip install mooncake-transfer-engine")
    from reprise_reuse.stores.mooncake_store import MooncakeStore

    return lambda: MooncakeStore(parts.netloc, **{name: _MOONCAKE[name](value) for name, value in options.items()})
