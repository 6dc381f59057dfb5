"""Doubles of a GPU's streams: nothing runs later here, but what nobody has ordered is found out."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from reuse_model import BLOCK, ReusingEngine

Clock = dict[int, int]
"""how many launches of each stream are over"""


class EventDouble:
    def __init__(self, streams: "StreamsDouble", clock: Clock) -> None:
        self._streams, self.clock = streams, clock
        self._is_over = False

    def query(self) -> bool:
        """Whether the device has got so far; that is by chance, at some time it has."""
        self._is_over = self._is_over or self._streams.chance.random() < 0.3
        if self._is_over:
            self._streams.host_knows(self.clock)
        return self._is_over

    def synchronize(self) -> None:
        self._is_over = True
        self._streams.host_knows(self.clock)


class StreamDouble:
    def __init__(self, streams: "StreamsDouble", number: int) -> None:
        self._streams, self.cuda_stream = streams, number
        self.clock: Clock = {}

    def wait_event(self, event: EventDouble) -> None:
        merge(self.clock, event.clock)

    def record_event(self) -> EventDouble:
        return EventDouble(self._streams, dict(self.clock))


class StreamsDouble:
    """The streams of a GPU, and who has read and written what on them."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self._host: Clock = {}
        self._count = 0
        self.current = self.main = self.make()
        self._written: dict[Any, tuple[int, int]] = {}
        self._read: dict[Any, Clock] = defaultdict(dict)
        self.races: Counter[str] = Counter()
        self.rows: Counter[str] = Counter()
        """rows copied, by way"""

    def make(self, *_: Any) -> StreamDouble:
        self._count += 1
        return StreamDouble(self, self._count)

    @contextmanager
    def switch(self, stream: StreamDouble) -> Iterator[None]:
        before, self.current = self.current, stream
        try:
            yield
        finally:
            self.current = before

    def host_knows(self, clock: Clock) -> None:
        """The processor has seen that so much is over: what it launches from now on comes later."""
        merge(self._host, clock)

    def launch(self, what: str, *, reads: Iterable[Any] = (), writes: Iterable[Any] = ()) -> None:
        """Something on the current stream reads and writes; it must come behind all that it could meet."""
        stream, number = self.current, self.current.cuda_stream
        merge(stream.clock, self._host)
        stream.clock[number] = stream.clock.get(number, 0) + 1
        writes = list(writes)
        for cell in [*reads, *writes]:
            if cell in self._written:
                self._comes_behind(what, *self._written[cell])
        for cell in writes:
            for reader in self._read.pop(cell, {}).items():
                self._comes_behind(what, *reader)
            self._written[cell] = number, stream.clock[number]
        for cell in reads:
            self._read[cell][number] = stream.clock[number]

    def _comes_behind(self, what: str, stream: int, launch: int) -> None:
        if self.current.clock.get(stream, 0) < launch:
            self.races[what] += 1


def merge(clock: Clock, other: Clock) -> None:
    for stream, launches in other.items():
        clock[stream] = max(clock.get(stream, 0), launches)


def on_streams(engine: ReusingEngine, monkeypatch: pytest.MonkeyPatch, seed: int = 0) -> StreamsDouble:
    """Has an engine's worker copy rows as on a GPU, and everything on the way tell what it reads and writes."""
    streams, worker = StreamsDouble(seed), engine.worker
    monkeypatch.setattr(torch.cuda, "Stream", streams.make)
    monkeypatch.setattr(torch.cuda, "stream", streams.switch)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda *_: streams.current)
    for side in (worker._late._side, worker._moving._side):
        monkeypatch.setattr(side, "_stream", streams.make())
    _watch_host_memory(streams, worker, monkeypatch)
    _watch_pages(streams, worker, monkeypatch)
    return streams


def _watch_host_memory(streams: StreamsDouble, worker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for half, rows in (("keys", worker.store._keys), ("values", worker.store._values)):

        def cells(slots: torch.Tensor, half: str = half) -> list[Any]:
            return [(half, slot) for slot in slots.tolist()]

        def put(layer: int, slots: torch.Tensor, new: torch.Tensor, rows: Any = rows, cells: Any = cells) -> None:
            with rows.uses.writing(worker.device):
                streams.launch("rows go to host memory", writes=cells(slots))
                rows._rows[layer, slots] = new
            streams.rows["ahead" if streams.current is not streams.main else "in the way"] += len(slots)

        def get(layer: int, slots: torch.Tensor, _: Any, rows: Any = rows, cells: Any = cells) -> torch.Tensor:
            with rows.uses.reading(worker.device):
                streams.launch("rows come from host memory", reads=cells(slots))
            streams.rows["beside" if streams.current is not streams.main else "before"] += len(slots)
            return rows._rows[layer, slots]

        monkeypatch.setattr(rows, "put", put)
        monkeypatch.setattr(rows, "get", get)


def _watch_pages(streams: StreamsDouble, worker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = type(worker.layout)
    read, read_slots, keys_of_slots = layout.read, layout.read_slots, layout.keys_of_slots

    def watched_read(self: Any, cache: Any, blocks: torch.Tensor, begin: int, end: int) -> Any:
        streams.launch("a question reads pages", reads=in_blocks(blocks.tolist(), end)[begin:])
        return read(self, cache, blocks, begin, end)

    def watched_read_slots(self: Any, cache: Any, slots: torch.Tensor) -> Any:
        streams.launch("rows are read from pages", reads=slots.tolist())
        return read_slots(self, cache, slots)

    def watched_keys(self: Any, cache: Any, slots: torch.Tensor) -> Any:
        streams.launch("rows in pages are compared", reads=slots.tolist())
        return keys_of_slots(self, cache, slots)

    for name, watched in (("read", watched_read), ("read_slots", watched_read_slots), ("keys_of_slots", watched_keys)):
        monkeypatch.setattr(layout, name, watched)
    for layer in worker.stored._layers:
        _watch_layer(streams, layer, monkeypatch)


def _watch_layer(streams: StreamsDouble, layer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    update, attend = layer.impl.do_kv_cache_update, layer.impl.forward

    def watched_update(layer: Any, keys: Any, values: Any, cache: Any, slots: torch.Tensor) -> None:
        streams.launch("rows are written to pages", writes=[slot for slot in slots.tolist() if slot >= 0])
        update(layer, keys, values, cache, slots)

    def watched_attend(layer: Any, q: Any, k: Any, v: Any, cache: Any, metadata: Any, *rest: Any, **named: Any) -> Any:
        if metadata is not None:
            both = zip(metadata.block_table.tolist(), metadata.seq_lens.tolist(), strict=False)
            streams.launch(
                "attention reads pages", reads=[one for blocks, end in both for one in in_blocks(blocks, end)]
            )
        return attend(layer, q, k, v, cache, metadata, *rest, **named)

    monkeypatch.setattr(layer.impl, "do_kv_cache_update", watched_update)
    monkeypatch.setattr(layer.impl, "forward", watched_attend)


def in_blocks(blocks: list[int], end: int) -> list[int]:
    return [blocks[row // BLOCK] * BLOCK + row % BLOCK for row in range(end)]
