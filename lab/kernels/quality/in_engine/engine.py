"""vLLM with the plugin in this process, so that each answer token's distribution can be read and forced."""

import os
from collections import Counter
from dataclasses import replace
from typing import Any

import torch

from quality.in_engine.forced_answers import ForcedAnswers

# set before vLLM is imported: one process, so that the model and the connector can be reached
os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "2")
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
# torch may have been imported before the variable was set
torch.set_num_threads(1)


LONGEST = 8192
"""tokens of a prompt plus its answer"""
HOST = {"host_bytes": 3 << 30, "when": "always"}
"""settings of reuse: room for what is compared, and nothing served as stock because that were faster"""


def open_engine(name: str, model: str, host_dtype: str) -> "Engine":
    """Starts an engine by its name, `vllm` or `sglang`; both are used alike."""
    if name == "vllm":
        return Engine(model, host_dtype=host_dtype)
    from quality.in_engine.sglang_engine import SglangEngine

    return SglangEngine(model, host_dtype)


class Engine:
    """An engine that answers one prompt at a time."""

    def __init__(
        self,
        model: str,
        contexts: int = 4,
        host_dtype: str = "model",
        rows_per_step: int | None = 1 << 20,
        batched_tokens: int = 8192,
        **settings: Any,
    ) -> None:
        """settings: others of reuse"""
        from vllm import LLM

        reuse = {**HOST, "host_dtype": host_dtype, "rows_per_step": rows_per_step, "contexts": contexts, **settings}
        connector = {
            "kv_connector": "RepriseConnector",
            "kv_connector_module_path": "reprise_vllm.connector",
            "kv_role": "kv_both",
            "kv_connector_extra_config": {"reuse": reuse},
        }
        self.llm = LLM(
            model=model, dtype="float32", max_model_len=LONGEST, enforce_eager=True, block_size=32,
            max_num_batched_tokens=batched_tokens, kv_transfer_config=connector,
        )  # fmt: skip
        self.tokenizer = self.llm.get_tokenizer()
        scheduler = self.llm.llm_engine.engine_core.engine_core.scheduler
        self._scheduler = scheduler
        self._reuse = scheduler.connector._on_scheduler
        self._counted: Counter[tuple[str, str]] = Counter()
        from reprise_vllm.engine import model_parts

        self._answers = ForcedAnswers()
        self._answers.watch(model_parts._runner.get_model())
        self.answer([1, 2, 3], "nobody", {"reuse": "off"})
        if not self._reuse.is_ready:
            raise RuntimeError(f"this engine does not reuse: {self._reuse.refusal}")

    def answer(
        self, prompt: list[int], salt: str, wish: dict[str, Any], tokens: int = 1, forced: list[int] | None = None,
        *, goes_on: bool = False,
    ) -> tuple[list[int], torch.Tensor]:  # fmt: skip
        """Returns the answer's tokens, greedy or as forced, and each token's log-probabilities [tokens, vocabulary].

        goes_on  the prompt may continue from the approximate rows of the one before, like a conversation's next turn
        """
        from vllm import SamplingParams

        if not goes_on:
            self.begin_anew()
        self._answers.begin(forced)
        sampling = SamplingParams(
            temperature=0, max_tokens=tokens, ignore_eos=True,
            extra_args={"kv_transfer_params": {"reprise": wish}},
        )  # fmt: skip
        given = {"prompt_token_ids": prompt, "cache_salt": salt}
        output = self.llm.generate(given, sampling, use_tqdm=False)[0]
        return list(output.outputs[0].token_ids), self._answers.log_probabilities()

    def begin_anew(self) -> None:
        """From now on, no prompt continues from the approximate rows of one before."""
        self._reuse._continuations.clear()
        self._answers.begin(None)

    def choose_by(self, method: str) -> None:
        """Uses this method to choose rows from now on."""
        self._reuse._settings = replace(self._reuse._settings, method=method)

    def take_counts(self) -> dict[str, int]:
        """Returns prompt tokens by kind since the last call."""
        fresh, self._counted = self._reuse.counts - self._counted, self._reuse.counts.copy()
        return {kind: count for (what, kind), count in fresh.items() if what == "tokens"}

    def idle(self, steps: int) -> None:
        """Lets the engine work for itself, as its loop does while no request is there, for at most so many steps."""
        core = self.llm.llm_engine.engine_core.engine_core
        while steps > 0 and self._scheduler.has_requests():
            core.step()
            steps -= 1

    def segments(self) -> str:
        """Returns how many segments are held, by their number of contexts."""
        held = Counter(len(one.prefixes) for one in self._reuse._catalogue._segments.values())
        return ", ".join(f"{count} of {contexts}" for contexts, count in sorted(held.items()))

    def forget(self) -> None:
        """Discards everything stored."""
        self._reuse.reset()
