"""A real engine that selects pages, in this process, with a small model of random weights."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import reuse_model
import torch

BLOCK = 32
PROCESSOR = "reprise_vllm.select_pages.processor:PageProcessor"


class PagesEngine:
    """vLLM with the plugin, answering token prompts."""

    def __init__(
        self, model: Path, pages: dict[str, Any] | None, extra: dict[str, Any] | None = None, **options: Any
    ) -> None:
        """
        pages: the operator's settings; None: the plugin is installed, but pages are not configured.

        extra: other settings of the connector.
        """
        from vllm import LLM
        from vllm.v1.attention import selector

        import reprise_vllm

        reprise_vllm.register()
        # an earlier engine in this process may have cached the backend before ours was registered
        selector._cached_get_attn_backend.cache_clear()
        connector = {
            "kv_connector": "RepriseConnector",
            "kv_connector_module_path": "reprise_vllm.connector",
            "kv_role": "kv_both",
            "kv_connector_extra_config": {
                **({} if pages is None else {"pages": {"least_tokens": 64, "least_saving": 0, **pages}}),
                **(extra or {}),
            },
        }
        defaults = {
            "max_model_len": 2048, "num_gpu_blocks_override": 200, "max_num_batched_tokens": 256,
            **reuse_model.ON_A_GPU,
        }  # fmt: skip
        self.llm = LLM(
            model=str(model), skip_tokenizer_init=True, dtype="float32", block_size=BLOCK, enforce_eager=True,
            kv_transfer_config=connector, logits_processors=[PROCESSOR], **{**defaults, **options},
        )  # fmt: skip
        # as in reuse_model: tests end it
        self.llm.llm_engine.engine_core._finalizer.detach()
        self.core = self.llm.llm_engine.engine_core.engine_core
        self._counted: Counter[tuple[str, str]] = Counter()

    @property
    def worker(self) -> Any:
        from reprise_vllm.select_pages.page_worker import page_worker

        return page_worker(self.core.vllm_config)

    @property
    def selection(self) -> Any:
        return self.worker.selection

    def ask(self, prompts: list[list[int]], ratios: Any = None, tokens: int = 40, **options: Any) -> list[Any]:
        """Returns the answers in order. Prompts of one call run together. ratios: one for all, or one each."""
        each = ratios if isinstance(ratios, list) else [ratios] * len(prompts)
        outputs = self.llm.generate(
            [{"prompt_token_ids": prompt} for prompt in prompts],
            [self.sampling(ratio, tokens, **options) for ratio in each],
            use_tqdm=False,
        )
        return [output.outputs[0] for output in outputs]

    def sampling(self, ratio: Any = None, tokens: int = 40, **options: Any) -> Any:
        from vllm import SamplingParams

        extra = {} if ratio is None else {"extra_args": {"reprise_pages": ratio}}
        return SamplingParams(
            temperature=0, max_tokens=tokens, ignore_eos=True, detokenize=False, logprobs=5, **extra, **options
        )

    def counts(self) -> Counter[tuple[str, str]]:
        """Returns what was counted since the last call."""
        fresh = self.worker.rows.counts - self._counted
        self._counted = self.worker.rows.counts.copy()
        return fresh

    def forget(self) -> None:
        """Empties vLLM's prefix cache."""
        assert self.llm.reset_prefix_cache()

    def close(self) -> None:
        self.core.shutdown()


def prompt(seed: int, count: int) -> list[int]:
    """Returns random tokens, the same for the same seed."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(3, reuse_model.VOCABULARY, (count,), generator=generator).tolist()


def said(answer: Any) -> list[int]:
    """Returns the tokens of an answer."""
    return list(answer.token_ids)


def first_logprobs(answer: Any, place: int) -> dict[int, float]:
    """Returns the top tokens' log probabilities at one place of an answer."""
    return {token: one.logprob for token, one in answer.logprobs[place].items()}


os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")
