"""`python -m quality.in_engine.store_timing`: time to the first token with a shared store, as a part of that without.

One engine answers each prompt with a store that has its documents where the engine has none, then each again in an
outage of the store. Each is held against the same prompt without a store right before and after it, because of other
load of the machine. Wall-clock time; what of it was spent waiting for a lookup is measured apart.
"""

import argparse
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quality.in_engine.engine import Engine
from quality.in_engine.prompts import Asked, Trace
from quality.in_engine.timing import prompts_of
from reprise_reuse.remote.remote_segments import RemoteSegments
from reprise_reuse.stores.folder_store import FolderStore


class SwitchedStore(FolderStore):
    """A folder that can be made to hang."""

    answers = threading.Event()

    def get(self, keys: Sequence[str]) -> list[bytes | None]:
        self.answers.wait()
        return super().get(keys)


class Waiting:
    """Measures for how long requests have waited for a store."""

    def __init__(self, remote: RemoteSegments) -> None:
        self.seconds = 0.0
        order_reads, since = remote.order_reads, None

        def timed(*arguments: Any) -> bool:
            nonlocal since
            goes_on = order_reads(*arguments)
            now = time.monotonic()
            self.seconds += 0.0 if since is None else now - since
            since = None if goes_on else now
            return goes_on

        remote.order_reads = timed


def main() -> None:
    """Prints the median and the mean of each way, and of what the engine counted of its store."""
    parser = argparse.ArgumentParser(prog="quality.in_engine.store_timing", description=main.__doc__)
    parser.add_argument("trace", type=Path, help="a folder with queries.jsonl and blocks.jsonl")
    parser.add_argument("--model", required=True, help="folder of the model")
    parser.add_argument("--tokens", type=int, default=2000, help="in a prompt")
    parser.add_argument("--prompts", type=int, default=12)
    options = parser.parse_args()
    from reprise_reuse.stores import folder_store

    folder_store.FolderStore = SwitchedStore
    SwitchedStore.answers.set()
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(options.model, when="faster", remote=Path(folder).as_uri())
        _measure(engine, Trace(options.trace, engine.tokenizer, 1 << 20, 0), options.tokens, options.prompts)


def _measure(engine: Engine, trace: Trace, tokens: int, count: int) -> None:
    parts: dict[str, list[float]] = defaultdict(list)
    waiting = Waiting(engine._reuse._remote)
    all_asked = prompts_of(trace, tokens, count)
    for number, asked in enumerate(all_asked):
        _write(engine, trace, asked, f"{number}")
        parts["store that has it"].append(_part(engine, trace.prompt(asked), f"{number}", f"before {number}")[0])
    # one outage: the first request meets a store that has answered so far
    SwitchedStore.answers.clear()
    for number, asked in enumerate(all_asked):
        waiting.seconds = 0.0
        part, taken = _part(engine, trace.prompt(asked), f"hangs {number}", f"then {number}")
        parts["store that hangs"].append(part)
        parts["waited for it"].append(part * waiting.seconds / taken)
    SwitchedStore.answers.set()
    print(f"{trace.name}: {count} prompts, parts of the time to first token without a store, in order")
    for name, values in parts.items():
        print(f"{name:18} median {statistics.median(values):.3f} mean {statistics.mean(values):.3f}", end=" ")
        print([round(value, 3) for value in values])
    counts = engine._reuse.counts
    print({kind: value for (what, kind), value in counts.items() if what == "remote"}, engine.take_counts())


def _write(engine: Engine, trace: Trace, asked: Asked, salt: str) -> None:
    """Has a prompt's documents written to the store."""
    counts = engine._reuse.counts
    written = counts["remote", "written"]
    for question in ("What is this about?", "And what is that?"):
        _seconds(engine, trace.prompt(asked, asked.documents[::-1], question), salt, is_used=True)
    while counts["remote", "written"] == written:
        engine.answer([1, 2, 3], "nobody", {})
    engine.forget()


def _part(engine: Engine, prompt: list[int], salt: str, salt_without: str) -> tuple[float, float]:
    """Returns what a prompt takes: as a part of the mean of one before and one after without the store; in seconds."""
    before, taken, after = (
        _seconds(engine, prompt, one, is_used=one == salt) for one in (salt_without, salt, f"{salt_without} again")
    )
    return 2 * taken / (before + after), taken


def _seconds(engine: Engine, prompt: list[int], salt: str, *, is_used: bool) -> float:
    engine._reuse._remote._is_used = is_used
    begun = time.monotonic()
    engine.answer(prompt, salt, {})
    return time.monotonic() - begun


if __name__ == "__main__":
    main()
