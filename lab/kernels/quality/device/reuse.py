"""`python -m quality.device.reuse`: seconds to the first token, cold, as an exact hit, and under reuse.

Documents of random tokens, seen before in the reverse order. The model has random weights, so this says nothing of
answers.
"""

import argparse
import json
import random
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from quality.device.engine import SHAPES, add, connector, make_engine, steps

_DOCUMENT = 512
_SYSTEM, _QUESTION = 64, 48


def main() -> None:
    """Measures prompts of each length. Prints medians with their range, in milliseconds and as a part of cold."""
    options = _read_options()
    plugin = (
        {}
        if options.stock
        else {
            "kv_transfer_config": connector({"reuse": {"host_bytes": options.host_gib << 30, "when": options.when}}),
        }
    )
    # everything else as vLLM and the plugin have it by default
    llm = make_engine(
        options.shape, max(options.contexts) + 64, enforce_eager=options.eager, **plugin, **options.engine
    )
    vocabulary = SHAPES[options.shape]["vocabulary"]
    _first_token(llm, list(range(5, 40)), "nobody", "off")
    side = None
    if not options.stock:
        side = llm.llm_engine.engine_core.engine_core.scheduler.connector._on_scheduler
        if not side.is_ready:
            raise SystemExit(f"this engine does not reuse: {side.refusal}")
    for context in options.contexts:
        parts: dict[str, list[float]] = defaultdict(list)
        phases: dict[tuple[float, str, str], list[float]] = defaultdict(list)
        for at in range(options.prompts):
            drawn = random.Random(1000 * context + at)
            draw = lambda count, drawn=drawn: [drawn.randrange(3, vocabulary) for _ in range(count)]  # noqa: E731
            system = draw(_SYSTEM)
            documents = [draw(_DOCUMENT) for _ in range((context - _SYSTEM - _QUESTION) // _DOCUMENT)]

            def prompt(documents=documents, system=system, draw=draw) -> list[int]:
                return system + [token for one in documents for token in one] + draw(_QUESTION)

            seen, unseen = f"seen {context} {at}", f"unseen {context} {at}"
            _first_token(llm, prompt(documents[::-1]), seen, "off")
            # compiles what this length needs, outside the figures
            if at == 0:
                _first_token(llm, prompt(), f"warm {context}", "off")
                for ratio in () if side is None else options.ratios:
                    _first_token(llm, prompt(), seen, ratio)
            parts["cold"].append(_first_token(llm, prompt(), unseen, "off"))
            parts["exact hit"].append(_first_token(llm, prompt(), unseen, "off"))
            for ratio in () if side is None else options.ratios:
                before = side.counts.copy()
                parts[f"reuse {ratio:g}"].append(_first_token(llm, prompt(), seen, ratio))
                # what the device took is reported with a later step
                _first_token(llm, list(range(5, 40)), "nobody", "off")
                counted = side.counts - before
                told = {kind: count for (what, kind), count in counted.items() if what == "tokens"}
                for what in ("predicted", "seconds"):
                    for kind, taken in _of(counted, what).items():
                        phases[ratio, what, kind].append(taken)
            if at == 0 and side is not None:
                print(f"context {context}: tokens of the last prompt {told}", flush=True)
            if at == options.prompts - 1 and options.profile and context in options.profiled:
                for ratio in () if side is None else options.ratios:
                    _profile(llm, prompt(), seen, ratio, Path(options.profile) / f"{context}-{ratio}.json.gz")
                _profile(llm, prompt(), f"profiled {context}", "off", Path(options.profile) / f"{context}-off.json.gz")
        cold = statistics.median(parts["cold"])
        for name, values in parts.items():
            middle = statistics.median(values)
            print(
                f"  {name:12} {1e3 * middle:8.1f} ms [{1e3 * min(values):.1f}, {1e3 * max(values):.1f}], "
                f"{middle / cold:.3f} of cold",
                flush=True,
            )
        for (ratio, what, kind), values in sorted(phases.items()):
            print(f"    reuse {ratio:g} {what} {kind}: {1e3 * statistics.median(values):.2f} ms", flush=True)


def _of(counts: Mapping[tuple[str, str], float], wanted: str) -> dict[str, float]:
    return {kind: count for (what, kind), count in counts.items() if what == wanted}


def _profile(llm, prompt: list[int], salt: str, wish: object, file: Path) -> None:
    """Writes a trace of a request, and prints how much the processor asks of the device in it."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    on_gpu = torch.cuda.is_available()
    with profile(activities=[ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if on_gpu else [])]) as taken:
        seconds = _first_token(llm, prompt, salt, wish)
        if on_gpu:
            torch.cuda.synchronize()
    file.parent.mkdir(parents=True, exist_ok=True)
    taken.export_chrome_trace(str(file))
    names = Counter(event.name for event in taken.events())
    launches = sum(count for name, count in names.items() if "LaunchKernel" in name)
    waits = sum(count for name, count in names.items() if name.endswith("Synchronize"))
    busy = sum(event.self_device_time_total for event in taken.key_averages() if event.device_type.name == "CUDA")
    print(
        f"  profile {wish}: {1e3 * seconds:.1f} ms with the profiler, {launches} launches, "
        f"{names['cudaGraphLaunch']} graphs, {waits} waits, device busy {busy / 1e3:.1f} ms",
        flush=True,
    )


def _first_token(llm, prompt: list[int], salt: str, wish: object) -> float:
    add(llm, prompt, 1, salt, {"kv_transfer_params": {"reprise": {"reuse": wish}}})
    return sum(steps(llm))


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quality.device.reuse", description=main.__doc__)
    parser.add_argument("--shape", choices=SHAPES, default="8b")
    parser.add_argument("--contexts", nargs="+", type=int, default=[4096, 16384, 32768], help="tokens of a prompt")
    parser.add_argument("--prompts", type=int, default=10)
    parser.add_argument("--ratios", nargs="+", type=float, default=[0.0, 0.15, 0.3])
    parser.add_argument("--when", choices=("always", "faster"), default="always", help="the plugin's setting")
    parser.add_argument("--profile", help="folder for a trace of a request of each kind")
    parser.add_argument("--profiled", nargs="+", type=int, default=[4096], help="contexts of which one is traced")
    parser.add_argument("--host-gib", type=int, default=8, help="for stored rows")
    parser.add_argument("--stock", action="store_true", help="without the plugin: cold and exact hits alone")
    parser.add_argument("--eager", action="store_true", help="neither compile nor capture graphs")
    parser.add_argument("--engine", type=json.loads, default={}, help="more of vLLM's options, as a JSON object")
    return parser.parse_args()


if __name__ == "__main__":
    main()
