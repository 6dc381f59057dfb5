"""Segments on disk: checked when they are read, replaced as a whole when they are written."""

import contextlib
import hashlib
import queue
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from logging import Logger
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from reprise_vllm.reuse.messages import DiskFile

_SUFFIX = ".safetensors"
_PARTIAL = ".partial"
_LONGEST_WRITE = 600
"""seconds after which nobody can still be writing a file"""
_MOST_WAITING = 256


class DiskTier:
    """
    One file a segment and rank. Writing and reading go on beside the engine's steps.

    What a file says is believed only if its checksum holds and it was written by the same model, in the same types, on
    the same rank. A file that fails is named, left where it is, and its rows are computed again.
    """

    def __init__(self, folder: Path, fingerprint: str, rank: int, logger: Logger) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        _clear_away_partials(folder, rank)
        self._folder = folder
        self._fingerprint = fingerprint
        self._rank = rank
        self._logger = logger
        self._waiting: queue.Queue[tuple[DiskFile, dict[str, torch.Tensor]] | None] = queue.Queue(_MOST_WAITING)
        self._written: Counter[int] = Counter()
        self._pending: Counter[int] = Counter()
        self._dropped: set[int] = set()
        self._lock = threading.Lock()
        self._readers = ThreadPoolExecutor(2, thread_name_prefix="reprise-read")
        self._reading: list[tuple[DiskFile, Future[dict[str, torch.Tensor] | None]]] = []
        self._has_failed = False
        self._writer = threading.Thread(target=self._write_on, name="reprise-write", daemon=True)
        self._writer.start()

    def restore(self) -> Iterator[tuple[DiskFile, np.ndarray]]:
        """What earlier lives left and this engine may use, with its tokens; other files are named in the log."""
        for path in sorted(self._folder.glob(f"*.{self._rank}{_SUFFIX}")):
            read = self._open(path)
            if read is not None:
                told, tensors = read
                prefixes = tuple(bytes.fromhex(one) for one in told["prefixes"].split(","))
                name, slots = int(path.name.split(".")[0]), np.empty(0, np.int64)
                namespace, is_exact = bytes.fromhex(told["namespace"]), told["is_exact"] == "1"
                file = DiskFile(name, slots, namespace, int(told["position"]), prefixes, is_exact, name)
                yield file, tensors["tokens"].numpy()

    def write(self, file: DiskFile, state: dict[str, torch.Tensor]) -> None:
        """Has a segment written; where too many wait for that already it is not, and nobody waits."""
        try:
            self._waiting.put_nowait((file, state))
        except queue.Full:
            return
        with self._lock:
            self._pending[file.name] += 1

    def take_written(self) -> Counter[int]:
        """Names of the segments that were written since."""
        with self._lock:
            written, self._written = self._written, Counter()
        return written

    def start_read(self, file: DiskFile) -> None:
        """Has a segment read; `take_read` gives it."""
        self._reading.append((file, self._readers.submit(self._read, file)))

    def take_read(self) -> list[tuple[DiskFile, dict[str, torch.Tensor] | None]]:
        """What has been read since; None where a file is missing, damaged or another model's."""
        reading, self._reading = self._reading, []
        read = []
        for file, future in reading:
            # asked once: one that ends between two askings would be in neither list
            if future.done():
                read.append((file, future.result()))
            else:
                self._reading.append((file, future))
        return read

    def drop(self, name: int) -> None:
        """Removes a segment's file."""
        with self._lock:
            if self._pending[name]:
                self._dropped.add(name)
        self._path(name).unlink(missing_ok=True)

    def close(self) -> None:
        """Writes what waits, and ends."""
        self._waiting.put(None)
        self._writer.join()
        self._readers.shutdown()

    def _path(self, name: int) -> Path:
        return self._folder / f"{name:020d}.{self._rank}{_SUFFIX}"

    def _write_on(self) -> None:
        while (item := self._waiting.get()) is not None:
            file, state = item
            try:
                self._write(file, state)
            except OSError as error:
                # every further write would say the same
                if not self._has_failed:
                    self._logger.error("reprise: segments cannot be written to %s: %s", self._folder, error)
                self._has_failed = True

    def _write(self, file: DiskFile, state: dict[str, torch.Tensor]) -> None:
        told = {"fingerprint": self._fingerprint, **_told_of(file)}
        told["checksum"] = _checksum(told, state)
        path = self._path(file.name)
        partial = path.with_suffix(_PARTIAL)
        try:
            partial.write_bytes(save(state, metadata=told))
            with self._lock:
                if file.name in self._dropped:
                    return
                partial.replace(path)
                self._written[file.name] += 1
            self._has_failed = False
        finally:
            partial.unlink(missing_ok=True)
            with self._lock:
                self._pending[file.name] -= 1
                if not self._pending[file.name]:
                    del self._pending[file.name]
                    self._dropped.discard(file.name)

    def _read(self, file: DiskFile) -> dict[str, torch.Tensor] | None:
        read = self._open(self._path(file.name))
        if read is None:
            return None
        told, tensors = read
        if any(told[name] != value for name, value in _told_of(file).items()):
            # written before its rows were replaced or averaged for the last time
            self._logger.warning("reprise: %s is out of date and is not used", self._path(file.name))
            return None
        return tensors

    def _open(self, path: Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]] | None:
        try:
            with safe_open(path, "pt") as opened:
                told = opened.metadata() or {}
                if told.get("fingerprint") != self._fingerprint:
                    self._logger.warning("reprise: %s is of another model or set-up and is not used", path)
                    return None
                tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        except (OSError, SafetensorError) as error:
            self._logger.warning("reprise: %s cannot be read and is not used: %s", path, error)
            return None
        if told.pop("checksum", None) != _checksum(told, tensors):
            self._logger.warning("reprise: %s is damaged and is not used", path)
            return None
        return told, tensors


def _clear_away_partials(folder: Path, rank: int) -> None:
    """Removes what a killed process has left half written; another engine may be writing to the folder, too."""
    for path in folder.glob(f"*.{rank}{_PARTIAL}"):
        with contextlib.suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _LONGEST_WRITE:
                path.unlink()


def fingerprint_of(model: Any, *facts: object) -> str:
    """Names a model by its parameters' names, shapes, types and a sample of each, and whatever else is given."""
    state = hashlib.blake2b(repr(facts).encode(), digest_size=16)
    for name, parameter in sorted(model.named_parameters()):
        flat = parameter.detach().flatten()
        sample = flat[:: max(1, len(flat) // 64)].float().cpu().numpy().tobytes()
        state.update(f"{name} {tuple(parameter.shape)} {parameter.dtype}".encode() + sample)
    return state.hexdigest()


def _told_of(file: DiskFile) -> dict[str, str]:
    """What a file says of its segment."""
    return {
        "namespace": file.namespace.hex(),
        "position": str(file.position),
        "prefixes": ",".join(prefix.hex() for prefix in file.prefixes),
        "is_exact": "1" if file.is_exact else "0",
    }


def _checksum(told: dict[str, str], tensors: dict[str, torch.Tensor]) -> str:
    state = hashlib.blake2b(repr(sorted(told.items())).encode(), digest_size=16)
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        state.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        state.update(tensor.view(torch.uint8).numpy().tobytes())
    return state.hexdigest()
