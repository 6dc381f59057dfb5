"""`python -m quality.device.pages`: the time of a decode step with fewer pages, beside stock steps.

The model has random weights, so this says nothing of answers.
"""

import argparse
import json
import random
import statistics
from itertools import product

from quality.device.engine import PROCESSOR, SHAPES, add, connector, make_engine, steps

# the prefill's steps and the step that summarises all pages are left out by taking the last ones
_STEPS = 24


def main() -> None:
    """Measures each mode at each context length and batch. Prints medians in milliseconds."""
    options = _read_options()
    longest, most = max(options.contexts) + 256, max(options.batches)
    settings = {
        "min_ratio": 0, "requests": most, "least_tokens": 1, "least_saving": 0, "selector": options.selector,
        "every": options.every,
    }  # fmt: skip
    plugin = {} if options.stock else {
        "kv_transfer_config": connector({"pages": settings}), "logits_processors": [PROCESSOR],
    }  # fmt: skip
    if not options.stock:
        import reprise_vllm

        reprise_vllm.register()
    llm = make_engine(
        options.shape, longest, max_num_seqs=max(most, 2), max_num_batched_tokens=8192, **plugin, **options.engine
    )
    vocabulary = SHAPES[options.shape]["vocabulary"]
    if not options.stock:
        _prove(llm)
    for context, batch in product(options.contexts, options.batches):
        if context * batch > options.most_tokens:
            continue
        drawn = random.Random(context)
        prompts = [[drawn.randrange(3, vocabulary) for _ in range(context)] for _ in range(batch)]
        # prefill now: later runs find it in the cache
        for prompt in prompts:
            add(llm, prompt, 1)
        steps(llm)
        told = []
        for ratio in [None] if options.stock else [None, *options.ratios]:
            taken = []
            for _ in range(options.rounds):
                for prompt in prompts:
                    add(llm, prompt, _STEPS + 6, None, None if ratio is None else {"reprise_pages": ratio})
                taken += steps(llm)[-_STEPS - 1 : -1]
            told.append(f"{'dense' if ratio is None else f'{ratio:g}'} {1e3 * statistics.median(taken):.2f} ms")
        print(f"context {context}, batch {batch}: {', '.join(told)}", flush=True)


def _prove(llm) -> None:
    from reprise_vllm.select_pages.page_worker import page_worker

    worker = page_worker(llm.llm_engine.engine_core.engine_core.vllm_config)
    add(llm, list(range(5, 400)), 6, None, {"reprise_pages": 0.5})
    steps(llm)
    selection = worker.selection
    if selection is None or not selection.is_proven:
        raise SystemExit(f"this engine selects no pages: {worker.refusal or (selection and selection.refusal)}")


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quality.device.pages", description=main.__doc__)
    parser.add_argument("--shape", choices=SHAPES, default="8b")
    parser.add_argument("--stock", action="store_true", help="vLLM without the plugin")
    parser.add_argument("--contexts", nargs="+", type=int, default=[2048, 8192, 32768], help="tokens of a prompt")
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 4, 16], help="requests that decode together")
    parser.add_argument("--most-tokens", type=int, default=330_000, help="skip contexts times batches beyond this")
    parser.add_argument("--ratios", nargs="+", type=float, default=[0.1, 0.25])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--selector", default="attention-mass")
    parser.add_argument("--every", type=int, default=2, help="steps between choices")
    parser.add_argument("--engine", type=json.loads, default={}, help="more of vLLM's options, as a JSON object")
    return parser.parse_args()


if __name__ == "__main__":
    main()
