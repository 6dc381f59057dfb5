"""
Measures what share of a whole step of SGLang's own scheduler the reports cost.

    python lab/plugins/sglang_scheduler_steps.py MODEL [--steps 600] [--forward 0.01]

MODEL is a folder made by `vllm/test-model/make_test_model.py`. The real Scheduler, with the plugin's backend, runs in
this process and takes the same steps as its own loop: choose the batch, run the model, process the result. The model's
time on a CPU says nothing about a GPU, so it is left out and `--forward` seconds are counted instead. The benchmark
measures processor time of the scheduler's thread, for whole steps and for the plugin's observation within them: two
runs, with and without the plugin, differ by more than the cost to measure. Prompts share half of their tokens, and the
pool is full, so new prompts evict old ones.
"""

import argparse
import json
import os
import random
import statistics
import sys
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_PLUGIN = Path(__file__).parents[2] / "engine-adapters/sglang/plugin"
_SHARED = _PLUGIN.parents[1] / "python"
sys.path[:0] = [str(folder) for folder in (_PLUGIN, _SHARED, _SHARED / "tests", _PLUGIN / "tests/engine/cpu_shim")]
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from receiver import Receiver
from sglang.srt import runtime_context
from sglang.srt.managers.io_struct import TokenizedGenerateReqInput
from sglang.srt.managers.scheduler import Scheduler
from sglang.srt.sampling.sampling_params import SamplingParams
from sglang.srt.server_args import PortArgs, ServerArgs

import reprise_sglang
from reprise_sglang.reporting import reporting_radix_cache

PAGE, VOCABULARY = 16, 4096


class Observed:
    """Seconds spent in the plugin's observation, and its calls."""

    seconds = 0.0
    calls = 0


def time_observations() -> None:
    """Times everything the plugin does on the scheduler's thread."""
    observe = reporting_radix_cache.ReportingRadixCache._observe

    def timed(cache: Any, see: Callable[..., Any], *arguments: Any) -> Any:
        began = time.thread_time()
        try:
            return observe(cache, see, *arguments)
        finally:
            Observed.seconds += time.thread_time() - began
            Observed.calls += 1

    reporting_radix_cache.ReportingRadixCache._observe = timed


def prompts(tokens: int) -> Iterator[list[int]]:
    """Yields prompts that share their first half with one of 40 heads, like contexts of retrieved documents."""
    chance = random.Random(0)
    heads = [[chance.randrange(1, VOCABULARY) for _ in range(tokens // 2)] for _ in range(40)]
    while True:
        yield chance.choice(heads) + [chance.randrange(1, VOCABULARY) for _ in range(tokens - tokens // 2)]


class Steps:
    """The scheduler, kept filled with as many requests as it runs at a time."""

    def __init__(self, scheduler: Scheduler, options: argparse.Namespace) -> None:
        self.scheduler = scheduler
        self._options = options
        self._prompts = prompts(options.prompt)
        self._sent = 0
        self.cpu: list[float] = []
        self.observed: list[float] = []

    def refill(self) -> None:
        scheduler = self.scheduler
        while len(scheduler.waiting_queue) + len(scheduler.running_batch.reqs) < self._options.running + 2:
            self._sent += 1
            sampling = SamplingParams(max_new_tokens=self._options.output, ignore_eos=True, temperature=0)
            sampling.normalize(None)
            request = TokenizedGenerateReqInput(
                rid=f"r-{self._sent}",
                input_text="",
                input_ids=array("q", next(self._prompts)),
                input_embeds=None,
                mm_inputs=None,
                token_type_ids=None,
                sampling_params=sampling,
                return_logprob=False,
                logprob_start_len=-1,
                top_logprobs_num=0,
                token_ids_logprob=None,
                stream=False,
            )
            scheduler.process_input_requests([request])

    def take_step(self) -> None:
        """One round of `Scheduler.event_loop_normal`."""
        scheduler = self.scheduler
        observed, began = Observed.seconds, time.thread_time()
        plan = scheduler.get_next_batch_to_run(running_batch=scheduler.running_batch, last_batch=scheduler.last_batch)
        scheduler.running_batch = plan.running_batch
        batch = plan.batch_to_run
        chosen = time.thread_time()
        result = scheduler.run_batch(batch) if batch else None
        run = time.thread_time()
        if batch:
            scheduler.process_batch_result(batch, result)
        scheduler.last_batch = batch
        self.cpu.append(chosen - began + time.thread_time() - run)
        self.observed.append(Observed.seconds - observed)


def main() -> None:
    parser = argparse.ArgumentParser(description="what the reports cost of a step of SGLang's scheduler")
    parser.add_argument("model", type=Path)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--warm-up", type=int, default=150)
    parser.add_argument("--running", type=int, default=16)
    parser.add_argument("--prompt", type=int, default=1000)
    parser.add_argument("--output", type=int, default=20)
    parser.add_argument("--pool", type=int, default=40_000, help="tokens that the cache holds")
    parser.add_argument("--forward", type=float, default=0.01, help="seconds that count as a forward")
    options = parser.parse_args()
    receiver = Receiver()
    os.environ["REPRISE_CALLBACK_URL"] = receiver.url
    reprise_sglang.register()
    time_observations()
    steps = Steps(start_scheduler(options), options)
    for i in range(options.warm_up + options.steps):
        if i == options.warm_up:
            steps.cpu.clear()
            steps.observed.clear()
            Observed.calls = 0
            sender_began = sender_cpu()
        steps.refill()
        steps.take_step()
    report(steps, options, receiver, (sender_cpu() - sender_began) / options.steps)
    # ending the scheduler's threads is the server's job, and there is no server
    sys.stdout.flush()
    os._exit(0)


def start_scheduler(options: argparse.Namespace) -> Scheduler:
    arguments = ServerArgs(
        model_path=str(options.model),
        device="cpu",
        attention_backend="torch_native",
        sampling_backend="pytorch",
        page_size=PAGE,
        max_total_tokens=options.pool,
        max_running_requests=options.running,
        mem_fraction_static=0.3,
        disable_overlap_schedule=True,
        radix_cache_backend=reprise_sglang.BACKEND,
        skip_server_warmup=True,
    )
    runtime_context.publish(arguments, role="scheduler", ranks=runtime_context.SpawnRanks(world_rank=0, gpu_id=0))
    return Scheduler(arguments, PortArgs.init_new(arguments))


def sender_cpu() -> float:
    """CPU seconds used by the plugin's own thread."""
    (thread,) = (thread for thread in threading.enumerate() if thread.name == "reprise-callbacks")
    return time.clock_gettime(time.pthread_getcpuclockid(thread.ident))


def report(steps: Steps, options: argparse.Namespace, receiver: Receiver, sender: float) -> None:
    cpu, observed = statistics.fmean(steps.cpu), statistics.fmean(steps.observed)
    events = [event["type"] for event in receiver.events]
    figures = {
        "steps": len(steps.cpu),
        "scheduler_cpu_us": round(cpu * 1e6, 1),
        "observed_us": round(observed * 1e6, 1),
        "observations_a_step": round(Observed.calls / len(steps.cpu), 2),
        "sender_thread_us": round(sender * 1e6, 1),
        "observed_percent_of_scheduler": round(observed / cpu * 100, 2),
        "forward_ms": options.forward * 1e3,
        "observed_percent_of_step": round(observed / (cpu + options.forward) * 100, 2),
        "told": {kind: events.count(kind) for kind in ("stored", "evicted")},
    }
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
