"""`python -m quality.in_engine.store_timing`: time to the first token with a shared store, as a part of that without.

One engine answers each prompt without the store, with one that never answers, and with one that has its documents where
the engine has none: in turns, so that other load of the machine meets all. Wall-clock time: waiting counts.
"""

import argparse
import statistics
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from quality.in_engine.engine import Engine
from quality.in_engine.prompts import Trace
from quality.in_engine.timing import prompts_of
from reprise_reuse.stores.folder_store import FolderStore


class SwitchedStore(FolderStore):
    """A folder that can be made to hang."""

    answers = threading.Event()

    def get(self, keys: Sequence[str]) -> list[bytes | None]:
        self.answers.wait()
        return super().get(keys)


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
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(options.model, when="faster", remote=Path(folder).as_uri())
        _measure(engine, Trace(options.trace, engine.tokenizer, 1 << 20, 0), options.tokens, options.prompts)


def _measure(engine: Engine, trace: Trace, tokens: int, count: int) -> None:
    parts: dict[str, list[float]] = defaultdict(list)
    remote, counts = engine._reuse._remote, engine._reuse.counts
    for number, asked in enumerate(prompts_of(trace, tokens, count)):
        prompt = trace.prompt(asked)

        def seconds(salt: str, *, is_used: bool, answers: bool, prompt: list[int] = prompt) -> float:
            remote._is_used = is_used
            SwitchedStore.answers.set() if answers else SwitchedStore.answers.clear()
            begun = time.monotonic()
            engine.answer(prompt, salt, {})
            return time.monotonic() - begun

        written = counts["remote", "written"]
        for question in ("What is this about?", "And what is that?"):
            earlier = trace.prompt(asked, asked.documents[::-1], question)
            seconds(f"{number}", is_used=True, answers=True, prompt=earlier)
        while counts["remote", "written"] == written:
            engine.answer([1, 2, 3], "nobody", {})
        engine.forget()
        without = seconds(f"without {number}", is_used=False, answers=True)
        parts["dead store"].append(seconds(f"dead {number}", is_used=True, answers=False) / without)
        parts["store that has it"].append(seconds(f"{number}", is_used=True, answers=True) / without)
    print(f"{trace.name}: {count} prompts, parts of the time to first token without a store")
    for name, values in parts.items():
        print(f"{name:18} median {statistics.median(values):.3f} mean {statistics.mean(values):.3f} {sorted(values)}")
    print({kind: value for (what, kind), value in counts.items() if what == "remote"}, engine.take_counts())


if __name__ == "__main__":
    main()
