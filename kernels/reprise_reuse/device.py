"""What a device does beside the processor: copies, streams, flags and times, without waiting for each other."""

import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch


def to_device(values: np.ndarray, device: torch.device) -> torch.Tensor:
    """Returns values on a device. On a CPU the tensor shares their memory."""
    return _readable(values, device).to(device, non_blocking=True)


def copy_to(target: torch.Tensor, values: np.ndarray) -> None:
    """Overwrites a tensor with values of its shape."""
    target.copy_(_readable(values, target.device), non_blocking=True)


def _readable(values: np.ndarray, device: torch.device) -> torch.Tensor:
    given = torch.from_numpy(values)
    # from pageable memory, the host would wait until the device has got there
    return given if device.type == "cpu" else given.pin_memory()


class SideStream:
    """A stream of a GPU for copies beside what it computes."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self.launched: torch.cuda.Event | None = None
        """when the device has done what was launched here; None: nothing was"""

    def mark(self) -> "torch.cuda.Event | None":
        """Returns when the device has done what was launched on the current stream."""
        return None if self._stream is None else torch.cuda.current_stream(self._device).record_event()

    @contextmanager
    def behind(self, event: "torch.cuda.Event | None") -> Iterator[None]:
        """A context whose launches go here, to be done behind an event and behind what was launched here before."""
        if self._stream is None:
            yield
            return
        self._stream.wait_event(event)
        with torch.cuda.stream(self._stream):
            try:
                yield
            finally:
                # also after a fault: some of it may be under way
                self.launched = self._stream.record_event()

    def wait(self, event: "torch.cuda.Event | None") -> None:
        """Has the device do what is launched on the current stream from now on behind an event of this stream."""
        if event is not None:
            torch.cuda.current_stream(self._device).wait_event(event)


class Uses:
    """
    Orders how a GPU's streams and the processor use the same host memory.

    Reads wait for the last write, and writes for that and for all reads since; nothing else waits.
    """

    def __init__(self) -> None:
        self._written: torch.cuda.Event | None = None
        self._read: dict[int, torch.cuda.Event] = {}
        """by stream, the last read since then"""

    @contextmanager
    def reading(self, device: torch.device) -> Iterator[None]:
        """A context in which the current stream of a device reads the memory."""
        stream = torch.cuda.current_stream(device)
        if self._written is not None:
            stream.wait_event(self._written)
        yield
        self._read[stream.cuda_stream] = stream.record_event()

    @contextmanager
    def writing(self, device: torch.device) -> Iterator[None]:
        """A context in which the current stream of a device writes the memory."""
        stream = torch.cuda.current_stream(device)
        for event in self._before_writing():
            stream.wait_event(event)
        yield
        self._written, self._read = stream.record_event(), {}

    def wait_to_read(self) -> None:
        """Waits until the processor may read the memory."""
        if self._written is not None:
            self._written.synchronize()

    def wait_to_write(self) -> None:
        """Waits until the processor may write the memory."""
        for event in self._before_writing():
            event.synchronize()

    def _before_writing(self) -> "list[torch.cuda.Event]":
        return [*([] if self._written is None else [self._written]), *self._read.values()]


class DeviceFlags:
    """Flags on the way from the device to the host: nobody waits for them before they are read."""

    def __init__(self, flags: torch.Tensor) -> None:
        """flags  bool [n]"""
        self._event: torch.cuda.Event | None = None
        self._host = flags
        if flags.device.type == "cuda":
            self._host = torch.empty(flags.shape, dtype=flags.dtype, pin_memory=True)
            self._host.copy_(flags, non_blocking=True)
            self._event = torch.cuda.current_stream(flags.device).record_event()

    def read(self) -> np.ndarray:
        """Returns them, after waiting until the device has got so far; bool [n]."""
        if self._event is not None:
            self._event.synchronize()
        return self._host.numpy()


class Clock:
    """Adds up seconds by phase. On a GPU, events are read once they have happened, so nothing waits for them."""

    def __init__(self, device: torch.device) -> None:
        self._is_on_gpu = device.type == "cuda"
        self._taken: Counter[str] = Counter()
        self._open: deque[tuple[str, Any, Any]] = deque()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Measures its body as a part of a phase: filling, question or rows of loads, or a check."""
        if not self._is_on_gpu:
            began = time.perf_counter()
            yield
            self._taken[name] += time.perf_counter() - began
            return
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        yield
        end.record()
        self._open.append((name, start, end))

    def take(self) -> Counter[str]:
        """Returns the seconds of phases that have ended on the device since the last call."""
        while self._open and self._open[0][2].query():
            name, start, end = self._open.popleft()
            self._taken[name] += start.elapsed_time(end) / 1000
        taken, self._taken = self._taken, Counter()
        return taken
