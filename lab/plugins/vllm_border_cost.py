"""
The time that borders cost a cold prompt in a real vLLM, with small models of random weights: windows, and states.

    python lab/plugins/vllm_border_cost.py windows|states [prompts]
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ADAPTERS = Path(__file__).resolve().parents[2] / "engine-adapters"
PLUGIN = ADAPTERS / "vllm" / "plugin"
sys.path[:0] = [str(PLUGIN / "tests" / "checkpoints"), str(PLUGIN / "tests"), str(ADAPTERS / "python" / "tests")]
sys.path += [str(PLUGIN), str(ADAPTERS / "python"), str(ADAPTERS.parent / "kernels")]

TOKENS = 3840


def main() -> None:
    import test_borders_in_engine as borders
    from checkpoint_models import make_checkpoint_model
    from receiver import Receiver
    from vllm import SamplingParams

    kind, dtype = {"windows": ("gemma3", "float32"), "states": ("qwen3_5", "bfloat16")}[sys.argv[1]]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    receiver = Receiver()
    os.environ["REPRISE_CALLBACK_URL"] = receiver.url
    with tempfile.TemporaryDirectory() as folder:
        engine = borders.CheckpointEngine(str(make_checkpoint_model(folder, kind)), dtype)
    facts = engine.connector._borders.facts
    seconds: dict[int, list[float]] = {0: [], 1: [], 4: []}
    for at in range(count + 2):
        for told, own in seconds.items():
            ends = [TOKENS * (n + 1) // (told + 1) // facts["unit"] * facts["unit"] for n in range(told)]
            wish = {"kv_transfer_params": {"reprise": {"borders": ends, "key": facts["key"]}}} if ends else None
            tokens = borders.text(f"{at} {told}", TOKENS)
            sampling = SamplingParams(temperature=0, max_tokens=1, extra_args=wish)
            began = time.perf_counter()
            engine.llm.generate([{"prompt_token_ids": tokens}], sampling, use_tqdm=False)
            own.append(time.perf_counter() - began)
        engine.reset()
    engine.core.shutdown()
    receiver.stop()
    # the first two of each warm up
    medians = ", ".join(f"{told} borders {1000 * median(own[2:]):.0f} ms" for told, own in seconds.items())
    print(f"{sys.argv[1]}, {TOKENS} tokens, {count} prompts each, medians: {medians}", flush=True)


if __name__ == "__main__":
    main()
