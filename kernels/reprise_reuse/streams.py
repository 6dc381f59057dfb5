"""The order of copies between host memory and a GPU on several streams. On a CPU all is done as it is called."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


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
