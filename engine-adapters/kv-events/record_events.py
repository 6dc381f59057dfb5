"""Writes the bytes that an engine's own publisher sends, for kv-events.fixture.json.

    python record_events.py vllm|sglang   # prints the fixture's entry of that name

The events use the engine's own classes, are published by its own ZmqEventPublisher over real sockets, and are recorded
as received: the live frames, and the frames of a replay from sequence 1. `positional` is a batch as versions before the
tagged maps encoded it, made by the same msgspec with `array_like=True` structs.
"""

import json
import socket
import sys
import time
from importlib.metadata import version

import msgspec
import zmq

TOPIC = "kv@pod@model"


def free_port() -> int:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def record(publisher_class, batches, rank_name: str) -> dict:
    live_port, replay_port = free_port(), free_port()
    addresses = {"endpoint": f"tcp://*:{live_port}", "replay_endpoint": f"tcp://127.0.0.1:{replay_port}"}
    publisher = publisher_class(**{rank_name: 0}, **addresses, topic=TOPIC)
    context = zmq.Context.instance()
    subscriber = context.socket(zmq.SUB)
    subscriber.connect(f"tcp://127.0.0.1:{live_port}")
    subscriber.setsockopt(zmq.SUBSCRIBE, b"")
    time.sleep(0.5)
    for batch in batches:
        publisher.publish(batch)
    live = []
    while len(live) < len(batches) and subscriber.poll(5000):
        live.append([frame.hex() for frame in subscriber.recv_multipart()])
    dealer = context.socket(zmq.DEALER)
    dealer.connect(f"tcp://127.0.0.1:{replay_port}")
    dealer.send_multipart([b"", (1).to_bytes(8, "big")])
    replayed = []
    while dealer.poll(5000):
        frames = dealer.recv_multipart()
        replayed.append([frame.hex() for frame in frames])
        if (-1).to_bytes(8, "big", signed=True) in frames:
            break
    publisher.shutdown()
    return dict(live=live, replayed=replayed)


def record_vllm() -> dict:
    from vllm.distributed.kv_events import (
        AllBlocksCleared, BlockRemoved, BlockStored, KVEventBatch, ZmqEventPublisher,
    )

    wide = 2**64 - 59
    raw = bytes(range(32))

    def stored(hashes, parent, tokens, **more):
        fields = dict(block_size=4, lora_id=None, medium="GPU", lora_name=None) | more
        return BlockStored(block_hashes=hashes, parent_block_hash=parent, token_ids=tokens, **fields)

    batches = [
        KVEventBatch(ts=1000.5, events=[
            stored([wide, 7], None, list(range(8)), extra_keys=[("salt-1",), None], group_idx=0,
                   kv_cache_spec_kind="full_attention", session_id="s"),
            stored([2**53 + 1], 7, [70000, 1, 2, 3], group_idx=0)]),
        KVEventBatch(ts=1001.5, events=[
            BlockRemoved(block_hashes=[2**53 + 1], medium="GPU", group_idx=0),
            stored([9], None, [], block_size=0, medium="CPU"),
            BlockRemoved(block_hashes=[wide], medium="CPU", locality="LOCAL")]),
        KVEventBatch(ts=1002.5, events=[
            stored([raw], None, [5, 6, 7, 8]), stored([raw[::-1]], raw, [9, 10, 11, 12]),
            stored([11], None, [1, 2, 3, 4], lora_id=3, lora_name="sql",
                   extra_keys=[("sql", ("img-1", 2), "salt-1")])]),
        KVEventBatch(ts=1003.5, events=[AllBlocksCleared()]),
    ]
    return dict(version=version("vllm").split("+")[0], topic=TOPIC, **record(ZmqEventPublisher, batches, "data_parallel_rank"))


def record_sglang() -> dict:
    from sglang.srt.disaggregation.kv_events import (
        AllBlocksCleared, BlockRemoved, BlockStored, KVEventBatch, StorageMedium, ZmqEventPublisher,
    )

    low = -(2**63) + 5
    batches = [
        KVEventBatch(ts=2000.5, events=[
            AllBlocksCleared(),
            BlockStored(block_hashes=[low, -1, 3], parent_block_hash=None, token_ids=list(range(12)), block_size=4,
                        lora_id=None, medium=StorageMedium.GPU, cache_salt="salt-1", session_id="s"),
            BlockStored(block_hashes=[2**62], parent_block_hash=3, token_ids=[20, 21, 22, 23], block_size=4,
                        lora_id=None, medium=StorageMedium.GPU)]),
        KVEventBatch(ts=2001.5, events=[
            BlockStored(block_hashes=[3], parent_block_hash=-1, token_ids=[8, 9, 10, 11], block_size=4,
                        lora_id=None, medium=StorageMedium.CPU),
            BlockRemoved(block_hashes=[2**62, 3], medium=StorageMedium.GPU),
            BlockRemoved(block_hashes=[3], medium=StorageMedium.DISK)]),
        KVEventBatch(ts=2002.5, events=[AllBlocksCleared()]),
    ]

    # as 0.5.18 encoded them: field by field
    class OldEvent(msgspec.Struct, array_like=True, tag=True, omit_defaults=True):
        pass

    Stored = msgspec.defstruct("BlockStored", [
        ("block_hashes", list), ("parent_block_hash", object), ("token_ids", list), ("block_size", int),
        ("lora_id", object), ("medium", str)], bases=(OldEvent,), tag="BlockStored", array_like=True)
    Removed = msgspec.defstruct("BlockRemoved", [("block_hashes", list), ("medium", str)], bases=(OldEvent,),
                                tag="BlockRemoved", array_like=True)
    Cleared = msgspec.defstruct("AllBlocksCleared", [], bases=(OldEvent,), tag="AllBlocksCleared", array_like=True)
    old = [3000.5, [Stored([low, -1], None, list(range(8)), 4, None, "GPU"), Removed([-1], "CPU_PINNED"), Cleared()], 0]
    positional = msgspec.msgpack.encode(old).hex()
    recorded = record(ZmqEventPublisher, batches, "attn_dp_rank")
    return dict(version=version("sglang"), topic=TOPIC, positional=positional, **recorded)


if __name__ == "__main__":
    print(json.dumps({"vllm": record_vllm, "sglang": record_sglang}[sys.argv[1]](), indent=1))
