"""A store in the memory of a Mooncake cluster."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from reprise_reuse.stores.store import Value

_SEGMENT_BYTES = 1 << 30
_BUFFER_BYTES = 256 << 20
_LONGEST_CLOSE = 1.0
_LONGEST_ANSWER = 10.0
"""seconds that a master may take for a first answer"""
_PROBE = """
import json, sys
from mooncake.store import MooncakeDistributedStore
sys.exit(bool(MooncakeDistributedStore().setup(*json.loads(sys.argv[1]))))
"""
_PROBE_BYTES = 16 << 20
_LONGEST_TURN = 10.0
"""seconds for which calls wait for the buffer: one that hangs must not keep all others"""
_PROBED_AGAIN = 5.0
"""seconds after which a master that did not answer is asked again"""


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
        buffer_bytes   memory through which values are read and written, which limits their size, and how many at once
        metadata       where Mooncake's clients find each other
        local          this machine's name, as other clients reach it; by default the address that reaches the master
        """
        self._master, self._local = master, local
        self._settings = metadata, segment_bytes, buffer_bytes, protocol, devices, master
        self._lock = threading.Lock()
        self._buffer, self._buffer_bytes = _Buffer(), buffer_bytes
        self._connected: Any = None
        self._users = 0
        self._is_closed = False
        self._failed: tuple[float, Exception] | None = None

    def put(self, key: str, value: bytes) -> None:
        with self._client() as client, self._buffer.beside_others():
            code = client.upsert(key, value)
        if code:
            raise MooncakeError(f"{self._master} answers {code} to a put of {len(value)} bytes")

    def get(self, keys: Sequence[str]) -> list[Value | None]:
        with self._client() as client:
            codes = client.batch_is_exist(list(keys))
            if any(code < 0 for code in codes):
                raise MooncakeError(f"{self._master} answers {min(codes)}")
            there = [key for key, code in zip(keys, codes, strict=True) if code == 1]
            with self._buffer.beside_others():
                values = _read(client, there)
            for key in there:
                if values[key] is None:
                    values[key] = self._read_alone(client, key)
        return [values.get(key) for key in keys]

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

    def _read_alone(self, client: Any, key: str) -> Value | None:
        """Reads a value for which others may have left no room in the buffer. None: it has gone, or is replaced now."""
        with self._buffer.alone():
            value = _read(client, [key])[key]
            size = client.get_size(key) if value is None else 0
        if size > self._buffer_bytes:
            raise MooncakeError(f"a value of {size} bytes does not fit into buffer_bytes")
        return value

    @contextmanager
    def _client(self) -> Iterator[Any]:
        with self._lock:
            if self._is_closed:
                raise MooncakeError(f"the connection to {self._master} is closed")
            if self._connected is None:
                self._connected = self._connect()
            self._users += 1
        try:
            yield self._connected
        finally:
            with self._lock:
                self._users -= 1

    def _connect(self) -> Any:
        host, port = self._master.rsplit(":", 1)
        with socket.create_connection((host.strip("[]"), int(port)), timeout=5) as reached:
            settings = self._local or reached.getsockname()[0], *self._settings
        if self._failed and time.monotonic() < self._failed[0] + _PROBED_AGAIN:
            raise self._failed[1]
        try:
            _check_that_it_answers(settings)
        except MooncakeError as error:
            self._failed = time.monotonic(), error
            raise
        from mooncake.store import MooncakeDistributedStore

        client = MooncakeDistributedStore()
        code = client.setup(*settings)
        if code:
            raise MooncakeError(f"{self._master} cannot be reached: {code}")
        return client


class _Buffer:
    """Who uses the memory through which values go: many at once, or one alone."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._users, self._waiting = 0, 0

    def beside_others(self) -> AbstractContextManager[None]:
        return self._use(lambda: not self._waiting)

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._changed:
            self._waiting += 1
        try:
            with self._use(lambda: not self._users):
                yield
        finally:
            with self._changed:
                self._waiting -= 1
                self._changed.notify_all()

    @contextmanager
    def _use(self, may_begin: Callable[[], bool]) -> Iterator[None]:
        with self._changed:
            if not self._changed.wait_for(may_begin, _LONGEST_TURN):
                raise MooncakeError("the buffer is in use by calls that do not end")
            self._users += 1
        try:
            yield
        finally:
            with self._changed:
                self._users -= 1
                self._changed.notify_all()


def _read(client: Any, keys: Sequence[str]) -> dict[str, Value | None]:
    """Returns values by key; None for those that have gone, or for which there is no room in the buffer."""
    found = zip(keys, client.batch_get_buffer(list(keys)) if keys else (), strict=True)
    # bytes would be copied while all other threads of the engine stand still
    return {key: None if handle is None else np.frombuffer(handle, np.uint8).copy().data for key, handle in found}


def _check_that_it_answers(settings: Sequence[str | int]) -> None:
    """Raises if the master does not answer in time. Within our process, Mooncake would stop all threads meanwhile."""
    own, metadata, _, _, protocol, devices, master = settings
    asked = json.dumps([own, metadata, 0, _PROBE_BYTES, protocol, devices, master])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _PROBE, asked]
    try:
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(command, env=environment, timeout=_LONGEST_ANSWER, check=True, **quiet)
    except subprocess.TimeoutExpired:
        raise MooncakeError(f"{master} is reached, and does not answer within {_LONGEST_ANSWER:.0f} s") from None
    except subprocess.CalledProcessError:
        raise MooncakeError(f"{master} is reached, and takes no client of Mooncake") from None
