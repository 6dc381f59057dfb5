"""`python -m reprise_vllm.calibrate`: has a model answer prompts with full attention, and finds the thresholds above
which its output counts as uncertain."""

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from reprise_vllm.calibrate.prompts import read_prompts
from reprise_vllm.select_pages.thresholds import FILE, CalibrationError, Recorded, thresholds_of

PROCESSOR = "reprise_vllm.calibrate.recorder:EntropyRecorder"
EXTENSION = "reprise_vllm.calibrate.recorder.PageEntropies"


def main(arguments: list[str] | None = None) -> int:
    """Runs the command. Returns its exit code: 0 if it succeeded, 1 if it failed."""
    options = _read_options(arguments)
    try:
        # read before the engine starts, which takes long
        prompts = list(islice(read_prompts(options.prompts), options.limit))
        recorded = _record(prompts, options)
        found = thresholds_of(recorded.pages, options.percentile)
    except CalibrationError as error:
        print(f"reprise_vllm.calibrate: {error}", file=sys.stderr)
        return 1
    path = options.out / FILE
    path.write_text(json.dumps({**found, "prompts": recorded.prompts, "model": options.model}, indent=2) + "\n")
    print(
        f"{recorded.prompts} prompts, {found['recorded_pages']} pages: max_entropy {found['max_entropy']:.4g}, "
        f"max_varentropy {found['max_varentropy']:.4g}; {found['pages_above_both']:.2%} of pages exceed both\n"
        f'serve with "pages": {json.dumps({"every": 0, "thresholds": str(path.absolute())})}'
    )
    return 0


def _record(prompts: list[Any], options: argparse.Namespace) -> Recorded:
    # only model runner V1 exposes which rows have begun to answer
    os.environ["VLLM_USE_V2_MODEL_RUNNER"] = "0"
    from vllm import LLM

    llm = LLM(
        model=options.model, logits_processors=[PROCESSOR], worker_extension_cls=EXTENSION, **options.engine,
    )  # fmt: skip
    page = _take(llm)[0]
    of = {"model": options.model, "page": page, "tokens": options.tokens, "temperature": options.temperature}
    recorded = Recorded(options.out / "recorded.jsonl", of)
    room = llm.llm_engine.vllm_config.model_config.max_model_len - options.tokens
    wanted = list(_wanted(prompts, llm, recorded, room))
    for first in range(0, len(wanted), options.batch):
        batch = wanted[first : first + options.batch]
        _answer(llm, dict(batch), recorded, options)
        print(f"calibrating: {first + len(batch)} of {len(wanted)} prompts", file=sys.stderr)
    return recorded


def _wanted(prompts: list[Any], llm: Any, recorded: Recorded, room: int) -> Iterator[tuple[str, list[int]]]:
    """Yields name and tokens of each prompt that fits and is not recorded yet, without duplicates."""
    seen, long = set(), 0
    for prompt in prompts:
        tokens = _tokens_of(prompt, llm)
        name = hashlib.sha256(json.dumps(tokens).encode()).hexdigest()[:16]
        long += len(tokens) > room
        if len(tokens) <= room and name not in seen and not recorded.has(name):
            seen.add(name)
            yield name, tokens
    if long:
        print(f"calibrating: {long} prompts are left out: they leave no room for an answer", file=sys.stderr)


def _tokens_of(prompt: Any, llm: Any) -> list[int]:
    if isinstance(prompt, str):
        return llm.get_tokenizer().encode(prompt)
    if all(isinstance(one, int) for one in prompt):
        return prompt
    return llm.get_tokenizer().apply_chat_template(prompt, add_generation_prompt=True, tokenize=True, return_dict=False)


def _answer(llm: Any, prompts: dict[str, list[int]], recorded: Recorded, options: argparse.Namespace) -> None:
    from vllm import SamplingParams

    from reprise_vllm.calibrate.recorder import NAMED

    sampling = [
        SamplingParams(
            temperature=options.temperature, max_tokens=options.tokens, seed=0, detokenize=False,
            extra_args={NAMED: name},
        )
        for name in prompts
    ]  # fmt: skip
    llm.generate([{"prompt_token_ids": tokens} for tokens in prompts.values()], sampling, use_tqdm=False)
    _, pages = _take(llm)
    for name in prompts:
        recorded.add(name, pages.get(name, []))


def _take(llm: Any) -> tuple[int, dict[str, Any]]:
    # all ranks return the same
    return llm.collective_rpc("take_reprise_page_entropies")[0]


def _read_options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="reprise_vllm.calibrate", description=__doc__)
    parser.add_argument("prompts", nargs="+", type=Path, help="JSONL of request bodies, or folders of traces")
    parser.add_argument("--model", required=True, help="as `vllm serve` is given it")
    parser.add_argument("--out", type=Path, required=True, help="folder for what is recorded, and the thresholds")
    parser.add_argument("--percentile", type=float, default=99, help="of the pages' figures")
    parser.add_argument("--tokens", type=int, default=512, help="of an answer, at most")
    parser.add_argument("--limit", type=int, help="prompts, at most")
    parser.add_argument("--batch", type=int, default=16, help="prompts that are answered, and kept, together")
    parser.add_argument("--temperature", type=float, default=0.0, help="at which answers are sampled")
    parser.add_argument(
        "--engine", type=json.loads, default={},
        help='arguments of vllm.LLM as JSON, {"block_size": 32, "tensor_parallel_size": 2}; pages are the blocks',
    )  # fmt: skip
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
