"""Measures what the reports cost the scheduler's thread, compared with a request's cache calls.

    python lab/plugins/sglang_step_cost.py [--requests 200] [--core rust]

Prompts have 4,096 tokens in pages of 16 and share half of them with other prompts. The pool holds ten, so every request
evicts. Measures processor time of the observation and of all cache calls of a request (match, allocate, checkpoint
twice, decode, release) in one run: two runs, with and without the plugin, differ by more than the cost to measure.
"""

import argparse
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PLUGIN = Path(__file__).parents[2] / "engine-adapters/sglang/plugin"
_SHARED = _PLUGIN.parents[1] / "python"
sys.path[:0] = [str(folder) for folder in (_PLUGIN, _PLUGIN / "tests", _SHARED, _SHARED / "tests")]

from receiver import Receiver
from scheduled_cache import ScheduledCache, build_context
from sglang.srt import runtime_context
from sglang.srt.mem_cache.registry import create_unified_radix_cache
from sglang.srt.server_args import ServerArgs

from reprise_callbacks import CallbackSender
from reprise_sglang.reporting.cache_reporter import CacheReporter
from reprise_sglang.reporting.reporting_radix_cache import ReportingRadixCache
from reprise_sglang.reporting.request_places import RequestPlaces

PAGE, PROMPT, POOL = 16, 4096, 10 * 4096
ROUNDS = 3
OUTPUT = list(range(8))


def make_prompts(count: int, seed: int) -> list[list[int]]:
    draw = random.Random(seed)
    shared = [[draw.randrange(1 << 17) for _ in range(PROMPT // 8)] for _ in range(12)]
    prompts = []
    for _ in range(count):
        front = [token for part in draw.sample(shared, 4) for token in part]
        prompts.append(front + [draw.randrange(1 << 17) for _ in range(PROMPT - len(front))])
    return prompts


class TimedCache(ReportingRadixCache):
    """Records how long and how often the cache was observed."""

    observed = 0.0
    observations = 0

    def _observe(self, see: Callable[..., Any], *arguments: Any) -> Any:
        started = time.thread_time()
        result = super()._observe(see, *arguments)
        self.observed += time.thread_time() - started
        self.observations += 1
        return result


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--requests", type=int, default=200)
    arguments.add_argument("--core", choices=["rust", "python"], default="rust")
    options = arguments.parse_args()
    server = ServerArgs(model_path="none", device="cpu")
    runtime_context.publish(server, role="scheduler", ranks=runtime_context.SpawnRanks(world_rank=0))

    receiver = Receiver()
    sender = CallbackSender(receiver.url, translator=RequestPlaces())
    for round_number in range(ROUNDS):
        cache = create_unified_radix_cache(build_context(options.core, POOL, PAGE), cache_class=TimedCache)
        cache.report_to(CacheReporter(sender))
        scheduled, prompts = ScheduledCache(cache), make_prompts(options.requests, round_number)
        started = time.thread_time()
        for i, prompt in enumerate(prompts):
            scheduled.serve(f"chatcmpl-{round_number}-{i:08x}", prompt, OUTPUT)
        whole = time.thread_time() - started
        print(
            f"{options.core}: {whole / options.requests * 1e6:.0f} µs a request, observed for "
            f"{cache.observed / options.requests * 1e6:.0f} µs of it ({cache.observed / whole:.1%}) in "
            f"{cache.observations / options.requests:.1f} calls"
        )
    sender.close()
    receiver.stop()
    events = [event["type"] for event in receiver.events]
    print(f"told: {events.count('stored')} stored, {events.count('evicted')} evicted")


if __name__ == "__main__":
    main()
