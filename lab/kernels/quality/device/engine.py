"""vLLM with the plugin and a model of a given shape with random weights: its answers mean nothing, its times do."""

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")

SHAPES = {
    # Llama-3.1-8B
    "8b": {"layers": 32, "hidden": 4096, "inner": 14336, "heads": 32, "kv_heads": 8, "vocabulary": 128256},
    # Llama-3.2-1B, with its head size doubled to 128
    "1b": {"layers": 16, "hidden": 2048, "inner": 8192, "heads": 16, "kv_heads": 4, "vocabulary": 128256},
    # to try the program on a CPU
    "tiny": {"layers": 2, "hidden": 128, "inner": 256, "heads": 4, "kv_heads": 2, "vocabulary": 512},
}  # fmt: skip
PROCESSOR = "reprise_vllm.select_pages.processor:PageProcessor"


def connector(extra: dict[str, Any]) -> dict[str, Any]:
    """Returns the `kv_transfer_config` of an engine with the plugin."""
    return {
        "kv_connector": "RepriseConnector",
        "kv_connector_module_path": "reprise_vllm.connector",
        "kv_role": "kv_both",
        "kv_connector_extra_config": extra,
    }


def make_engine(shape: str, longest: int, **options: Any) -> Any:
    """Returns a `vllm.LLM` for prompts and answers of up to `longest` tokens."""
    from vllm import LLM

    folder = Path(tempfile.mkdtemp(prefix="shape-"))
    (folder / "config.json").write_text(json.dumps(_config(shape, longest)))
    # a shape to try on a CPU is the only one whose weights are not bfloat16
    dtype = "float32" if shape == "tiny" else "bfloat16"
    return LLM(
        model=str(folder), skip_tokenizer_init=True, load_format="dummy", dtype=dtype, max_model_len=longest,
        **options,
    )  # fmt: skip


def add(llm: Any, prompt: list[int], tokens: int, salt: str | None = None, extra: dict[str, Any] | None = None) -> None:
    """Adds a request that generates exactly this many tokens."""
    from vllm import SamplingParams

    sampling = SamplingParams(
        temperature=0, max_tokens=tokens, ignore_eos=True, detokenize=False, **({"extra_args": extra} if extra else {})
    )
    given: dict[str, Any] = {"prompt_token_ids": prompt} | ({"cache_salt": salt} if salt else {})
    llm.llm_engine.add_request(f"timed-{time.monotonic_ns()}", given, sampling)


def steps(llm: Any) -> list[float]:
    """Runs all requests to their end. Returns the seconds of each step."""
    taken = []
    while llm.llm_engine.has_unfinished_requests():
        began = time.perf_counter()
        llm.llm_engine.step()
        taken.append(time.perf_counter() - began)
    return taken


def _config(shape: str, longest: int) -> dict[str, Any]:
    sizes = SHAPES[shape]
    return {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "rms_norm_eps": 1e-5,
        "hidden_size": sizes["hidden"], "intermediate_size": sizes["inner"], "num_hidden_layers": sizes["layers"],
        "num_attention_heads": sizes["heads"], "num_key_value_heads": sizes["kv_heads"],
        "head_dim": sizes["hidden"] // sizes["heads"], "vocab_size": sizes["vocabulary"],
        "max_position_embeddings": longest, "rope_theta": 500000.0, "initializer_range": 0.02,
        "bos_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
    }  # fmt: skip
