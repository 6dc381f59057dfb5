"""Replays a trace in SGLang's own prefix cache, evicting by hotness with several ages, and promoting in several orders.

    python lab/plugins/sglang_hotness.py TRACE --tokenizer MODEL [--requests 1500] [--pool 9607] [--answer 158]

TRACE is a folder of few-shot prompts (`queries.jsonl.gz` beside `blocks.jsonl.gz`), or a file of Mooncake's hashed
blocks, of 512 tokens each. Prints shares of the prompts' tokens that the cache holds: first on the GPU alone, as SGLang
evicts and by HotPrefix with each `max_age`; then with a host tier twice as large, promoting by what HotPrefix's figure
16 compares. Scheduler, pools, allocator, tree and HiCache's controller are SGLang's; only its copies are stand-ins.
"""

import argparse
import gzip
import json
import logging
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

_PLUGIN = Path(__file__).parents[2] / "engine-adapters/sglang/plugin"
_SHARED = _PLUGIN.parents[1] / "python"
sys.path[:0] = [str(folder) for folder in (_PLUGIN, _PLUGIN / "tests", _SHARED)]

from copied_host import HostedCache, hosted_caches
from reprise_hotness.heat_order import HeatOrder
from scheduled_cache import ScheduledCache, build_context
from sglang.srt import runtime_context
from sglang.srt.server_args import ServerArgs

from reprise_sglang.create_cache import create_cache

PAGE = 1
HASHED = 512
"""tokens that one of Mooncake's hashes stands for"""
AGES = (0, 4, 8, 16, 32, 64, 255)
ORDERS = {"frequency x clock (equation 6)": "frequency * clock", "recency": "clock + clock", "frequency": "freq + freq"}

Prompt = tuple[list[int], int]
"""its tokens, and how many its answer has"""


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


def read_prompts(trace: Path, tokenizer: str | None, answer: int) -> Iterator[Prompt]:
    if trace.is_file():
        for row in read_lines(trace):
            yield [HASHED * name + i for name in row["hash_ids"] for i in range(HASHED)], answer
        return
    from transformers import AutoTokenizer

    encode: Callable[[str], list[int]] = AutoTokenizer.from_pretrained(tokenizer).encode
    blocks = {row["id"]: encode(row["text"]) for row in read_lines(trace / "blocks.jsonl.gz")}
    for row in read_lines(trace / "queries.jsonl.gz"):
        yield [token for block in row["blocks"] for token in blocks[block]] + encode(row["query"]), answer


def serve(cache: ScheduledCache, prompts: list[Prompt]) -> float:
    """Returns the share of the prompts' tokens that were found."""
    found = total = 0
    for i, (tokens, answer) in enumerate(prompts):
        running = cache.start(f"r-{i}", tokens)
        found, total = found + running.req.prefix_len, total + len(tokens)
        for k in range(answer):
            token = (1 << 40) + (i << 12) + k
            cache.decode(running, token) if k else cache.first_token(running, token)
        cache.finish(running)
        if isinstance(cache, HostedCache):
            cache.step()
            cache.link.finish()
            cache.step()
    return found / total


def promote_by_depth(cache: Any) -> None:
    """The longest way from the root comes first."""

    def depth_of(node: Any) -> int:
        depth = 0
        while node.parent is not None:
            depth, node = depth + len(node.key), node.parent
        return depth

    component = cache.hot_component
    component.hotness_of = depth_of
    component.host = HeatOrder(lambda node: -depth_of(node), component._is_on_host_alone)


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("trace", type=Path)
    arguments.add_argument("--tokenizer")
    arguments.add_argument("--requests", type=int, default=1_500)
    arguments.add_argument("--pool", type=int, default=9_607)
    arguments.add_argument("--answer", type=int, default=158)
    options = arguments.parse_args()
    logging.disable(logging.WARNING)
    server = ServerArgs(model_path="none", device="cpu", radix_cache_backend="reprise")
    server._mamba_cache_chunk_size = 64
    runtime_context.publish(server, role="scheduler", ranks=runtime_context.SpawnRanks(world_rank=0))
    prompts = list(islice(read_prompts(options.trace, options.tokenizer, options.answer), options.requests))
    tokens = sum(len(own) for own, _ in prompts)
    print(f"{len(prompts)} requests, {tokens / len(prompts):.0f} tokens each, {options.pool} on the GPU", flush=True)

    def on_gpu(**environment: str) -> float:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            return serve(ScheduledCache(create_cache(build_context("rust", options.pool, PAGE))), prompts)

    def with_host(by_depth: bool = False, **environment: str) -> str:
        with pytest.MonkeyPatch.context() as patch, hosted_caches(patch) as build:
            cache = build(options.pool, REPRISE_EVICTION="hotprefix", **environment)
            if by_depth:
                promote_by_depth(cache.cache)
            share = serve(cache, prompts)
            return f"{share:.4f}, {sum(cache.link.submitted)} tokens copied up"

    print(f"lru: {on_gpu():.4f}", flush=True)
    for age in AGES:
        print(f"max_age {age}: {on_gpu(REPRISE_EVICTION='hotprefix', REPRISE_MAX_AGE=str(age)):.4f}", flush=True)
    print(f"host, no promotion: {with_host()}", flush=True)
    for name, formula in ORDERS.items():
        promoted = with_host(REPRISE_PROMOTION_TOKENS="4096", REPRISE_HOTNESS=formula)
        print(f"host, promotion by {name}: {promoted}", flush=True)
    print(f"host, promotion by depth: {with_host(by_depth=True, REPRISE_PROMOTION_TOKENS='4096')}", flush=True)


if __name__ == "__main__":
    main()
