"""Segments on disk: checked when read, replaced atomically when written."""

import contextlib
import math
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from logging import Logger
from pathlib import Path

import numpy as np

from reprise_reuse.disk.messages import DiskFile, ReuseReport
from reprise_reuse.disk.segment_file import MOST_BYTES, SegmentFiles, State, size_of, why_unused
from reprise_reuse.stores.folder_store import PARTIAL, warn_of_others, write_private

_SUFFIX = ".safetensors"
_OURS = re.compile(r"(?P<name>[0-9]{20})\.(?P<rank>0|[1-9][0-9]*)(?P<suffix>\.safetensors|(\.\w+)?\.partial)")
_YEAR = 365 * 24 * 3600 * 10**9
"""names are nanoseconds since 1970, counted up from the largest one found; no valid name is this far in the future"""
_LONGEST_WRITE = 600
"""seconds after which no process can still be writing a file"""
_LONGEST_CLOSE = 30
_LONGEST_WITHOUT_READ = 30
_MOST_NAMED = 5


class DiskTier:
    """
    One file per segment and rank, written and read in the background, in parallel to the engine's steps.

    A file is used only if its checksum matches and it was written by the same model, with the same dtypes, on the same
    rank. A rejected file is logged, and its rows are computed again. A fault affects only its own file.
    """

    def __init__(self, folder: Path, fingerprint: Callable[[], str], rank: int, logger: Logger) -> None:
        """fingerprint: identifies the model with its current weights."""
        self._folder = folder.expanduser()
        self._make_fingerprint = fingerprint
        self.renew()
        self._rank = rank
        self._logger = logger
        self._make_folder()
        self._clear_away_partials()
        self._waiting: queue.SimpleQueue[tuple[str, Callable[[], None]] | None] = queue.SimpleQueue()
        self._waiting_bytes = 0
        """of rows that wait to be written, or are being written"""
        self._news = ReuseReport()
        self.unused_bytes = 0
        """the size of the files that `restore` left alone: they take room from this engine's"""
        self._lock = threading.Lock()
        self._readers = ThreadPoolExecutor(2, thread_name_prefix="reprise-read")
        self._reading: list[tuple[DiskFile, Future[State | None]]] = []
        self._last_read = math.inf
        self._writer = threading.Thread(target=self._work, name="reprise-write", daemon=True)
        self._writer.start()

    def restore(self) -> Iterator[tuple[DiskFile, np.ndarray]]:
        """Yields the segments of earlier runs that this engine may use, with their tokens. Logs the other files.

        Afterwards, `unused_bytes` is the size of the others.
        """
        refused: dict[str, list[Path]] = {}
        for name in self._names():
            path = self._path(name)
            try:
                restored = self._files.read_head(path, name)
            except Exception as error:
                refused.setdefault(why_unused(error), []).append(path)
            else:
                yield restored
        for why, paths in refused.items():
            self._report_refused(why, paths)
            size = 0
            for path in paths:
                with contextlib.suppress(OSError):
                    size += path.lstat().st_size
            self.unused_bytes += size
            unused = (len(paths), self._folder, size)
            advice = "reprise: %d unused files in %s take %d of disk_bytes: delete what nobody needs"
            self._logger.warning(advice, *unused)

    def renew(self) -> None:
        """The model may have got other weights: computes its fingerprint again. Queued writes keep the old one."""
        self._fingerprint = None
        self._fingerprint = self._make_fingerprint()
        self._files = SegmentFiles(self._fingerprint)

    def fingerprint(self) -> str:
        """Returns what identifies the model with its weights. Raises `LookupError` if it could not be computed."""
        if self._fingerprint is None:
            raise LookupError("the model's fingerprint is not known")
        return self._fingerprint

    def write(self, file: DiskFile, state: State) -> None:
        """Queues a segment for writing. Never blocks."""
        with self._lock:
            self._waiting_bytes += size_of(state)
        self._waiting.put(("written to", partial(self._write, self._files, file, state)))

    def has_room(self, file: DiskFile) -> bool:
        """Whether a segment can be queued; if too much is queued already, it is counted as not written."""
        with self._lock:
            is_full = self._waiting_bytes >= MOST_BYTES
            self._news.unwritten += is_full
        return not is_full

    def report(self, report: ReuseReport) -> None:
        """Adds what was written, refused and not written since the last call."""
        with self._lock:
            news, self._news = self._news, ReuseReport()
        report.written.update(news.written)
        report.refused += news.refused
        report.unwritten += news.unwritten

    def start_read(self, file: DiskFile) -> None:
        """Starts to read a segment; `take_read` returns it."""
        if not self._reading:
            self._last_read = time.monotonic()
        self._reading.append((file, self._readers.submit(self._read, self._files, file)))

    def take_read(self) -> list[tuple[DiskFile, State | None]]:
        """
        Returns what was read since the last call; None for a file that is missing, damaged or another model's.

        Raises `TimeoutError` if the disk has long not answered any read.
        """
        reading, self._reading = self._reading, []
        read = []
        for file, future in reading:
            # call `done` once: a read that finishes between two calls would be in neither list
            if future.done():
                read.append((file, future.result()))
            else:
                self._reading.append((file, future))
        if read:
            self._last_read = time.monotonic()
        elif self._reading and time.monotonic() - self._last_read > _LONGEST_WITHOUT_READ:
            raise TimeoutError(f"{self._folder} has answered no read for {_LONGEST_WITHOUT_READ} seconds")
        return read

    def drop(self, name: int) -> None:
        """Has a segment's file removed, once what is queued before is written."""
        self._waiting.put(("removed from", partial(self._path(name).unlink, missing_ok=True)))

    def close(self, seconds: float = _LONGEST_CLOSE) -> None:
        """Finishes queued writes, for at most `seconds`, and stops."""
        self._waiting.put(None)
        self._writer.join(seconds)
        if self._writer.is_alive():
            self._logger.error("reprise: not all segments were written to %s in %g seconds", self._folder, seconds)
        self._readers.shutdown(wait=False, cancel_futures=True)

    def _make_folder(self) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        warn_of_others(self._folder, self._logger)

    def _path(self, name: int) -> Path:
        return self._folder / f"{name:020d}.{self._rank}{_SUFFIX}"

    def _names(self) -> list[int]:
        """Returns the names of this rank's segments. Logs, and leaves alone, files that no rank writes."""
        names, others = [], []
        largest = time.time_ns() + _YEAR
        for path in sorted(self._folder.iterdir()):
            ours = _OURS.fullmatch(path.name)
            if ours is None or int(ours["name"]) > largest:
                others.append(path.name)
            elif (ours["rank"], ours["suffix"]) == (str(self._rank), _SUFFIX):
                names.append(int(ours["name"]))
        if others:
            more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
            named = ", ".join(others[:_MOST_NAMED]) + more
            self._logger.warning("reprise: files in %s that are no segments are left alone: %s", self._folder, named)
        return names

    def _clear_away_partials(self) -> None:
        """Removes files half written by a killed process, but not recent ones: another engine may be writing them."""
        for path in self._folder.glob(f"*{PARTIAL}"):
            ours = _OURS.fullmatch(path.name)
            with contextlib.suppress(FileNotFoundError):
                is_mine = ours is not None and ours["rank"] == str(self._rank)
                if is_mine and time.time() - path.stat().st_mtime > _LONGEST_WRITE:
                    path.unlink()

    def _work(self) -> None:
        """Writes and removes files in order. Logs once that it cannot, and again only after it could."""
        failing: set[str] = set()
        while (item := self._waiting.get()) is not None:
            doing, work = item
            try:
                work()
                failing.discard(doing)
            except Exception as error:
                if doing not in failing:
                    self._logger.error("reprise: segments cannot be %s %s: %s", doing, self._folder, error)
                failing.add(doing)

    def _write(self, files: SegmentFiles, file: DiskFile, state: State) -> None:
        try:
            if not self._folder.exists():
                self._logger.warning("reprise: %s was removed, it is made again", self._folder)
                self._make_folder()
            write_private(self._path(file.name), files.pack(file, state))
        except Exception:
            with self._lock:
                self._news.unwritten += 1
            raise
        else:
            with self._lock:
                self._news.written[file.name] += 1
        finally:
            with self._lock:
                self._waiting_bytes -= size_of(state)

    def _read(self, files: SegmentFiles, file: DiskFile) -> State | None:
        path = self._path(file.name)
        try:
            return files.read(path, file)
        except Exception as error:
            self._report_refused(why_unused(error), [path])
            return None

    def _report_refused(self, why: str, paths: list[Path]) -> None:
        """Logs and counts files that stay where they are: another engine may need them."""
        with self._lock:
            self._news.refused += len(paths)
        for path in paths[:_MOST_NAMED]:
            self._logger.warning("reprise: %s %s and is not used", path, why)
