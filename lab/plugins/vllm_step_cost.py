"""
Measures what a step of vLLM's scheduler costs with and without the plugin, in one run.

    python lab/plugins/vllm_step_cost.py

Two engines take the same requests and alternate, one step each. They have a real Scheduler, KVCacheManager and
BlockPool. The forward is a sleep, which frees the interpreter for other threads as a real one does. The cache is full,
so every new block evicts one. Reports go over HTTP to a receiver in a separate process. CPU time is measured in
addition to wall time, because it does not grow when other processes use the machine.
"""

import argparse
import gc
import json
import multiprocessing
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

PLUGIN = Path(__file__).resolve().parents[2] / "engine-adapters/vllm/plugin"
sys.path[:0] = [str(PLUGIN / "tests"), str(PLUGIN.parent.parent / "python" / "tests"), str(PLUGIN)]
sys.path.append(str(PLUGIN.parent.parent / "python"))


def receive(ready: "multiprocessing.Queue[str]", asked: "multiprocessing.Queue[None]") -> None:
    from receiver import Receiver

    receiver = Receiver()
    ready.put(receiver.url)
    asked.get()
    ready.put(json.dumps({"posts": len(receiver.posts), "events": len(receiver.events)}))


def prompts(seed: int, tokens: int) -> Iterator[list[int]]:
    """Yields prompts whose first half is one of 40 shared heads, as with contexts of retrieved documents."""
    chance = random.Random(seed)
    heads = [[chance.randrange(1, 4096) for _ in range(tokens // 2)] for _ in range(40)]
    while True:
        yield chance.choice(heads) + [chance.randrange(1, 4096) for _ in range(tokens - tokens // 2)]


class Side:
    """One of the two engines, kept supplied with as many requests as it runs at a time."""

    def __init__(self, name: str, arguments: argparse.Namespace, folder: Path) -> None:
        from engine import Engine
        from engine_config import REPRISE, make_config

        connector = REPRISE if name == "with" else None
        options = {"max_num_seqs": arguments.running, "max_num_batched_tokens": arguments.budget}
        self.engine = Engine(make_config(folder, connector, **options), arguments.blocks)
        self._prompts = prompts(0, arguments.prompt)
        self._arguments = arguments
        self._sent = 0
        self.scheduler: list[float] = []
        self.scheduler_cpu: list[float] = []
        self.step: list[float] = []

    def refill(self) -> None:
        while sum(self.engine.scheduler.get_request_counts()) < self._arguments.running + 4:
            self._sent += 1
            self.engine.add(f"r-{self._sent}", next(self._prompts), self._arguments.output)

    def take_step(self) -> None:
        scheduler = self.engine.scheduler
        began, began_cpu = time.perf_counter(), time.thread_time()
        output = scheduler.schedule()
        scheduled, scheduled_cpu = time.perf_counter(), time.thread_time()
        time.sleep(self._arguments.forward)
        result = self.engine.run_model(output)
        computed, computed_cpu = time.perf_counter(), time.thread_time()
        scheduler.update_from_output(output, result)
        ended, ended_cpu = time.perf_counter(), time.thread_time()
        self.scheduler.append(scheduled - began + ended - computed)
        self.scheduler_cpu.append(scheduled_cpu - began_cpu + ended_cpu - computed_cpu)
        self.step.append(ended - began)

    def forget(self) -> None:
        self.scheduler.clear()
        self.scheduler_cpu.clear()
        self.step.clear()


def main() -> None:
    parser = argparse.ArgumentParser(description="step cost with and without the plugin")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--warm-up", type=int, default=300)
    parser.add_argument("--running", type=int, default=64)
    parser.add_argument("--budget", type=int, default=2048, help="tokens a step")
    parser.add_argument("--prompt", type=int, default=2000)
    parser.add_argument("--output", type=int, default=60)
    parser.add_argument("--blocks", type=int, default=6000)
    parser.add_argument("--forward", type=float, default=0.01, help="seconds a forward takes")
    arguments = parser.parse_args()
    ready: multiprocessing.Queue[str] = multiprocessing.Queue()
    asked: multiprocessing.Queue[None] = multiprocessing.Queue()
    process = multiprocessing.get_context("fork").Process(target=receive, args=(ready, asked), daemon=True)
    process.start()
    os.environ["REPRISE_CALLBACK_URL"] = ready.get()
    with tempfile.TemporaryDirectory() as folder:
        sides = {name: Side(name, arguments, Path(folder)) for name in ("without", "with")}
        for i in range(arguments.warm_up + arguments.steps):
            if i == arguments.warm_up:
                # as vLLM's engine core does after startup
                gc.collect()
                gc.freeze()
                for side in sides.values():
                    side.forget()
                sender_began = sender_cpu()
            # alternate the order, because the second engine finds warmer caches
            for name in ("without", "with") if i % 2 else ("with", "without"):
                sides[name].refill()
                sides[name].take_step()
        sender = (sender_cpu() - sender_began) / arguments.steps
        sides["with"].engine.close()
    asked.put(None)
    report(sides["without"], sides["with"], sender, json.loads(ready.get()), arguments)
    process.terminate()


def sender_cpu() -> float:
    """Returns the CPU seconds that the plugin's own thread has used."""
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "reprise-callbacks")
    return time.clock_gettime(time.pthread_getcpuclockid(thread.ident))


def report(
    without: Side, plugged: Side, sender: float, received: dict[str, int], arguments: argparse.Namespace
) -> None:
    def percent(seconds: float, of: list[float]) -> float:
        return round(seconds / statistics.fmean(of) * 100, 2)

    def microseconds(seconds: float) -> float:
        return round(seconds * 1e6, 1)

    def quantiles(side: Side) -> dict[str, float]:
        cuts = statistics.quantiles(side.step, n=100)
        return {"p50": round(cuts[49] * 1e3, 2), "p99": round(cuts[98] * 1e3, 2)}

    added_cpu = statistics.fmean(plugged.scheduler_cpu) - statistics.fmean(without.scheduler_cpu)
    added = statistics.median(b - a for a, b in zip(without.step, plugged.step, strict=True))
    figures = {
        "steps": len(plugged.step),
        "forward_ms": arguments.forward * 1e3,
        "scheduler_cpu_us": {
            "without": microseconds(statistics.fmean(without.scheduler_cpu)),
            "with": microseconds(statistics.fmean(plugged.scheduler_cpu)),
        },
        "engine_thread_us": microseconds(added_cpu),
        "engine_thread_percent_of_step": percent(added_cpu, without.step),
        "sender_thread_us": microseconds(sender),
        "added_wall_us": microseconds(added),
        "added_wall_percent_of_step": percent(added, without.step),
        "step_ms": {"without": quantiles(without), "with": quantiles(plugged)},
        "received": received,
    }
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
