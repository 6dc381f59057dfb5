"""`python -m quality.device.host_tier`: what copies to and from host memory cost those whose answers are under way.

Documents of random tokens leave the pages for host memory while others are computed, and come back while four answers
are written. Both are measured with copies beside the forwards, and with copies before them.
"""

import argparse
import random
import statistics
import time
from typing import Any

from quality.device.engine import SHAPES, add, connector, make_engine

_DOCUMENT, _QUESTION, _BLOCK = 512, 48, 16
_ANSWERS, _ANSWER = 4, 4096
_REUSED = {"kv_transfer_params": {"reprise": {"reuse": 0.15}}}
_OFF = {"kv_transfer_params": {"reprise": {"reuse": "off"}}}


def main() -> None:
    """Prints medians with their range, in milliseconds."""
    options = _read_options()
    # pages for the answers and three prompts
    blocks = 1 + (3 * options.context + _ANSWERS * _ANSWER) // _BLOCK
    llm = make_engine(
        options.shape, options.context + _ANSWER, num_gpu_blocks_override=blocks,
        kv_transfer_config=connector({"reuse": {"host_bytes": options.host_gib << 30, "when": "always"}}),
    )  # fmt: skip
    _run(llm, [list(range(5, 40))], _OFF)
    side = llm.llm_engine.engine_core.engine_core.scheduler.connector._on_scheduler
    if not side.is_ready:
        raise SystemExit(f"this engine does not reuse: {side.refusal}")
    for at, is_beside in enumerate((True, False, True, False)):
        side._limits = side._limits._replace(copies_beside=is_beside)
        side._pages._looks_ahead = side._limits.blocks_ahead
        _measure(llm, side, options, random.Random(at), "beside" if is_beside else "before")


def _measure(llm: Any, side: Any, options: argparse.Namespace, drawn: random.Random, way: str) -> None:
    vocabulary = SHAPES[options.shape]["vocabulary"]

    def draw(count: int) -> list[int]:
        return [drawn.randrange(3, vocabulary) for _ in range(count)]

    documents = [draw(_DOCUMENT) for _ in range((options.context - _QUESTION) // _DOCUMENT)]
    _run(llm, [_joined(documents, draw(_QUESTION))], _OFF)
    # pushes them out; from the fourth prompt on, each row computed makes another leave
    leaving = [_run(llm, [draw(options.context - 1)], _OFF) for _ in range(8)][4:]
    _say(f"cold prefills, rows copied {way}", leaving)
    for _ in range(_ANSWERS):
        add(llm, draw(_QUESTION), options.context // 16 + 200, "answers", _OFF)
    decodes = [_step(llm) for _ in range(24)][8:]
    _say("decode steps", decodes)
    before = side.counts.copy()
    add(llm, _joined(documents[::-1], draw(_QUESTION)), 1, None, _REUSED)
    began, taken = time.perf_counter(), []
    while side.counts["tokens", "reused"] == before["tokens", "reused"] or len(taken) < 2:
        taken.append(_step(llm))
    _say(f"steps with a load, rows copied {way}", taken)
    counted = side.counts - before
    print(f"  {1e3 * (time.perf_counter() - began):.1f} ms until it was counted: {dict(counted)}", flush=True)
    while llm.llm_engine.has_unfinished_requests():
        llm.llm_engine.step()


def _joined(documents: list[list[int]], question: list[int]) -> list[int]:
    return [token for one in documents for token in one] + question


def _run(llm: Any, prompts: list[list[int]], extra: dict[str, Any]) -> float:
    began = time.perf_counter()
    for prompt in prompts:
        add(llm, prompt, 1, None, extra)
    while llm.llm_engine.has_unfinished_requests():
        llm.llm_engine.step()
    return time.perf_counter() - began


def _step(llm: Any) -> float:
    began = time.perf_counter()
    llm.llm_engine.step()
    return time.perf_counter() - began


def _say(what: str, seconds: list[float]) -> None:
    low, middle, high = (1e3 * value for value in (min(seconds), statistics.median(seconds), max(seconds)))
    print(f"  {what}: {middle:.1f} ms [{low:.1f}, {high:.1f}]", flush=True)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quality.device.host_tier", description=main.__doc__)
    parser.add_argument("--shape", choices=SHAPES, default="8b")
    parser.add_argument("--context", type=int, default=16_384, help="tokens of a prompt")
    parser.add_argument("--host-gib", type=int, default=16, help="for stored rows")
    return parser.parse_args()


if __name__ == "__main__":
    main()
