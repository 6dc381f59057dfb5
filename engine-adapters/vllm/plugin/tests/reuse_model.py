"""A real engine with a small model of random weights, in this process, so that tests can reach its parts."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import torch

from reprise_reuse.costs import EVEN

# set before vLLM's engine starts: run its core in this process, on one thread
os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
os.environ["VLLM_CPU_OMP_THREADS_BIND"] = "nobind"
os.environ["VLLM_CPU_KVCACHE_SPACE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
# float32 is multiplied as such on GPUs too, so that equal answers can be asked for
os.environ["TRITON_F32_DEFAULT"] = "ieee"

VOCABULARY = 512
BLOCK = 32
ON_A_GPU = {"gpu_memory_utilization": 0.02, "kv_cache_memory_bytes": 256 << 20} if torch.cuda.is_available() else {}
"""so that a GPU has room for the engines of several tests"""


def make_model(folder: Path, layers: int = 3) -> Path:
    """Makes a model with weights so large that a token's keys and values depend strongly on the tokens before it.

    With one layer they do not depend on them: reuse then differs from full attention only if rows are mixed up.
    """
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=128, intermediate_size=256, num_hidden_layers=layers, num_attention_heads=4,
        num_key_value_heads=2, head_dim=32, max_position_embeddings=4096, initializer_range=0.2,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def start_llm(model: Path, connector: dict[str, Any] | None, **options: Any) -> Any:
    """Starts vLLM with a connector, or without any."""
    from vllm import LLM

    defaults = {
        "enforce_eager": True,
        "dtype": "float32",
        "max_model_len": 2048,
        "num_gpu_blocks_override": 100,
        "max_num_batched_tokens": 256,
        "skip_tokenizer_init": True,
    }
    given = {**defaults, **ON_A_GPU, **options}
    llm = LLM(model=str(model), block_size=BLOCK, kv_transfer_config=connector, **given)
    # tests end it; ended again when it is collected, it would take the process groups of a later one along
    llm.llm_engine.engine_core._finalizer.detach()
    return llm


class ReusingEngine:
    """vLLM with the connector, answering token prompts."""

    measure: Any = None
    """what the plugin measures costs by"""

    def __init__(
        self, model: Path, reuse: dict[str, Any], *, behind: dict[str, Any] | None = None, measures: bool = False,
        **options: Any,
    ) -> None:  # fmt: skip
        """behind: a connector that stands before ours in a MultiConnector; measures: what the parts of loads take"""
        from reprise_reuse.start import measure_costs

        ReusingEngine.measure = ReusingEngine.measure or staticmethod(measure_costs.measure_costs)
        # so that nothing depends on how fast this machine is
        measure_costs.measure_costs = ReusingEngine.measure if measures else lambda *_: EVEN
        if not measures:
            reuse = {"when": "always", **reuse}
        connector = {
            "kv_connector": "RepriseConnector",
            "kv_connector_module_path": "reprise_vllm.connector",
            "kv_role": "kv_both",
            "kv_connector_extra_config": {"reuse": reuse},
        }
        if behind is not None:
            both = {"connectors": [behind, connector]}
            connector = {"kv_connector": "MultiConnector", "kv_role": "kv_both", "kv_connector_extra_config": both}
        self.llm = start_llm(model, connector, **options)
        self.core = self.llm.llm_engine.engine_core.engine_core
        connector = self.core.scheduler.connector
        self.side = (connector if behind is None else connector._connectors[-1])._on_scheduler
        self._counted: Counter[tuple[str, str]] = Counter()

    @property
    def reuse(self) -> Any:
        return self.side

    @property
    def worker(self) -> Any:
        from vllm.distributed.kv_transfer import get_kv_transfer_group

        return get_kv_transfer_group()._on_worker

    def ask(self, prompts: list[list[int]], wish: Any = None, salt: str = "t", tokens: int = 4) -> list[Any]:
        """Returns the answers in order. Prompts of one call run together."""
        outputs = self.llm.generate(
            [{"prompt_token_ids": prompt, "cache_salt": salt} for prompt in prompts],
            [self.sampling(wish, tokens)] * len(prompts),
            use_tqdm=False,
        )
        return [output.outputs[0] for output in outputs]

    def sampling(self, wish: Any = None, tokens: int = 4, **options: Any) -> Any:
        from vllm import SamplingParams

        extra = {} if wish is None else {"extra_args": {"kv_transfer_params": {"reprise": wish}}}
        return SamplingParams(
            temperature=0, max_tokens=tokens, ignore_eos=True, detokenize=False, logprobs=5, **extra, **options
        )

    def tokens_by_kind(self) -> Counter[str]:
        """Returns the prompt tokens counted since the last call."""
        return Counter({kind: count for (what, kind), count in self.counts().items() if what == "tokens"})

    def counts(self) -> Counter[tuple[str, str]]:
        """Returns everything counted since the last call."""
        fresh = self.reuse.counts - self._counted
        self._counted = self.reuse.counts.copy()
        return fresh

    def reset(self) -> None:
        """Empties the caches of vLLM and the plugin."""
        assert self.llm.reset_prefix_cache()
        self.reuse.reset()
        self.counts()
