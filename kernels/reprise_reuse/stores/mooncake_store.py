"""A store in the memory of a Mooncake cluster."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

_SEGMENT_BYTES = 1 << 30
_BUFFER_BYTES = 256 << 20
_LONGEST_CLOSE = 1.0


class MooncakeError(Exception):
    """What Mooncake answers if something cannot be done."""


class MooncakeStore:
    """Objects of a Mooncake cluster (`reprise_reuse.stores.store.Store`), which evicts them when memory is short.

    Connects with the first call, and tries again with each until it succeeds.
    """

    def __init__(
        self, master: str, segment_bytes: int = _SEGMENT_BYTES, buffer_bytes: int = _BUFFER_BYTES,
        metadata: str = "P2PHANDSHAKE", protocol: str = "tcp", devices: str = "", local: str = "",
    ) -> None:  # fmt: skip
        """
        master         its host and port
        segment_bytes  memory that this process adds to the cluster
        buffer_bytes   memory through which values are read and written, which limits their size
        metadata       where Mooncake's clients find each other
        local          this machine's name, as other clients reach it; by default the address that reaches the master
        """
        self._master, self._local = master, local
        self._settings = metadata, segment_bytes, buffer_bytes, protocol, devices, master
        self._lock = threading.Lock()
        self._connected: Any = None
        self._users = 0
        self._is_closed = False

    def put(self, key: str, value: bytes) -> None:
        with self._client() as client:
            code = client.upsert(key, value)
        if code:
            raise MooncakeError(f"{self._master} answers {code} to a put of {len(value)} bytes")

    def get(self, keys: Sequence[str]) -> list[bytes | None]:
        with self._client() as client:
            there = [key for key, is_there in zip(keys, self._there(client, keys), strict=True) if is_there]
            # values that have gone meanwhile are empty
            values = dict(zip(there, client.get_batch(there) if there else (), strict=True))
        return [values.get(key) or None for key in keys]

    def close(self) -> None:
        self._is_closed = True
        # one that is in use, or is being made, ends with the process
        if self._lock.acquire(timeout=_LONGEST_CLOSE):
            try:
                if self._connected is not None and not self._users:
                    self._connected.close()
                    self._connected = None
            finally:
                self._lock.release()

    def _there(self, client: Any, keys: Sequence[str]) -> list[bool]:
        codes = client.batch_is_exist(list(keys))
        if any(code < 0 for code in codes):
            raise MooncakeError(f"{self._master} answers {min(codes)}")
        return [code == 1 for code in codes]

    @contextmanager
    def _client(self) -> Iterator[Any]:
        with self._lock:
            if self._is_closed:
                raise MooncakeError(f"the connection to {self._master} is closed")
            if self._connected is None:
                from mooncake.store import MooncakeDistributedStore

                client = MooncakeDistributedStore()
                code = client.setup(self._local or self._own_address(), *self._settings)
                if code:
                    raise MooncakeError(f"{self._master} cannot be reached: {code}")
                self._connected = client
            self._users += 1
        try:
            yield self._connected
        finally:
            with self._lock:
                self._users -= 1

    def _own_address(self) -> str:
        host, port = self._master.rsplit(":", 1)
        with socket.create_connection((host.strip("[]"), int(port)), timeout=5) as reached:
            return reached.getsockname()[0]
