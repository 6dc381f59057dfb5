"""A network between an engine and Mooncake that is cut in silence: no wrong rows, nobody who waits, and a recovery."""

import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path

import numpy as np
import pytest
import torch
from test_stores import Master, MiB, mooncake_or_skip, wait_for

from reprise_reuse.disk.messages import Lookup, RemoteFile, ReuseReport, digest_of
from reprise_reuse.prompts.users import EVERYONE
from reprise_reuse.remote import store_calls
from reprise_reuse.remote.remote_tier import SPARSE, RemoteTier
from reprise_reuse.segments import Grams
from reprise_reuse.stores.store import store_at

LENGTH, WIDTH = 128, 4096


def may_cut() -> bool:
    if shutil.which("unshare") is None or shutil.which("tc") is None:
        return False
    tried = ["unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "blackhole"]
    return subprocess.run(tried, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not may_cut(), reason="needs iproute2 and the right to make a network namespace")
def test_a_network_that_is_cut_in_silence_costs_hits_alone_until_it_is_back():
    mooncake_or_skip()
    # a process of its own: sockets stay in the namespace of the thread that made them
    run = ["unshare", "--net", sys.executable, __file__]
    paths = {"PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(run, env=os.environ | paths, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr


def cut() -> None:
    """From now on, no packet arrives, and nobody is told."""
    subprocess.run(["tc", "qdisc", "add", "dev", "lo", "root", "blackhole"], check=True)


def mend() -> None:
    subprocess.run(["tc", "qdisc", "del", "dev", "lo", "root"], check=True)


def state_of(seed: int) -> dict[str, torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, 30_000, (LENGTH,), generator=random, dtype=torch.int32)
    return {"keys": torch.randn(2, LENGTH, WIDTH, generator=random), "tokens": tokens}


def file_of(seed: int, seconds: float = 10.0) -> RemoteFile:
    digest = digest_of(state_of(seed)["tokens"].numpy())
    return RemoteFile(seed, np.arange(LENGTH), b"tenant", 0, (b"one",), (b"u",), True, seed, digest, EVERYONE, seconds)


def lookup_of(seed: int, silence: float) -> Lookup:
    anchors = Grams(state_of(seed)["tokens"].numpy(), SPARSE).anchors(0, LENGTH)[1]
    return Lookup(f"request {seed}", b"tenant", (EVERYONE,), anchors, silence, silence)


def read(tier: RemoteTier, *seeds: int, seconds: float = 10.0) -> list[bool]:
    """Whether each segment was read; asserts that all are answered, and what was read is what was written."""
    answers: list[tuple[RemoteFile, dict[str, torch.Tensor] | None]] = []
    for seed in seeds:
        tier.start_read(file_of(seed, seconds))
    wait_for(lambda: answers.extend(tier.take_read()) or len(answers) == len(seeds))
    states = {file.name: state for file, state in answers}
    for seed, state in states.items():
        assert state is None or all(torch.equal(state[name], one) for name, one in state_of(seed).items())
    return [states[seed] is not None for seed in seeds]


def found(tier: RemoteTier, seed: int, silence: float = 0.0) -> list[object] | None:
    heads: list[tuple[str, list[object] | None]] = []
    tier.look_up(lookup_of(seed, silence))
    wait_for(lambda: heads.extend(tier.take_found()) or heads)
    assert [request for request, _ in heads] == [f"request {seed}"]
    return heads[0][1]


def unwritten(tier: RemoteTier) -> set[int]:
    tier.report(report := ReuseReport())
    return report.unshared


def check(*addresses: str) -> None:
    writer, reader = (RemoteTier(store_at(one)(), lambda: "model", logging.getLogger("reprise")) for one in addresses)
    for seed in range(4):
        writer.write(file_of(seed), state_of(seed))
    wait_for(lambda: all(read(reader, *range(4))))
    # while values are under way
    cutting = threading.Thread(target=cut)
    cutting.start()
    read(reader, *range(4), seconds=0.0)
    cutting.join()
    wait_for(lambda: read(reader, 0, seconds=0.0) == [False] and reader._reads._breaker.is_open)
    wait_for(lambda: found(reader, 1) is None and reader._finding.is_open)
    reader.write(file_of(9), state_of(9))
    mend()
    store_calls._PAUSE = 0.0
    wait_for(lambda: all(read(reader, *range(4))))
    wait_for(lambda: found(reader, 1, silence=10.0))
    assert not reader._reads._breaker.has_failed and not reader._finding.has_failed
    # what was to be written meanwhile is written, or given up and told
    wait_for(lambda: read(writer, 9) == [True] or 9 in unwritten(reader))


def main() -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        master = Master(Path(folder))
        try:
            check(*(master.address(size) for size in (256 * MiB, 0)))
        finally:
            master.kill()


if __name__ == "__main__":
    code = 1
    try:
        main()
        code = 0
    except BaseException:
        traceback.print_exc()
    # threads that wait for Mooncake would keep the process
    os._exit(code)
