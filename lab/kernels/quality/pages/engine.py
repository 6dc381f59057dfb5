"""vLLM with page selection in this process, so that each answer token's distribution can be read and forced."""

# sets the engine's environment before vLLM is imported
from quality.in_engine.engine import LONGEST  # isort: skip

from dataclasses import replace
from typing import Any

import torch

from quality.in_engine.forced_answers import ForcedAnswers
from quality.pages.oracle import TrueMass
from quality.pages.selectors import SELECTORS

PROCESSOR = "reprise_vllm.select_pages.processor:PageProcessor"


class Engine:
    """An engine that answers one prompt at a time, with any selector."""

    def __init__(self, model: str, least_tokens: int = 1, requests: int = 1, **options: Any) -> None:
        """least_tokens: shorter contexts stay dense; requests: how many may be sparse at once."""
        from vllm import LLM

        import reprise_vllm
        from reprise_vllm.engine import model_parts

        reprise_vllm.register()
        model_parts.remember_runner()
        connector = {
            "kv_connector": "RepriseConnector",
            "kv_connector_module_path": "reprise_vllm.connector",
            "kv_role": "kv_both",
            "kv_connector_extra_config": {
                "pages": {"min_ratio": 0, "requests": requests, "least_tokens": least_tokens, "least_saving": 0}
            },
        }
        self.llm = LLM(
            model=model, dtype="float32", max_model_len=LONGEST, enforce_eager=True, block_size=32,
            max_num_batched_tokens=LONGEST, max_num_seqs=max(4, requests), kv_transfer_config=connector,
            logits_processors=[PROCESSOR], **options,
        )  # fmt: skip
        self.tokenizer = self.llm.get_tokenizer()
        core = self.llm.llm_engine.engine_core.engine_core
        from reprise_vllm.select_pages.page_worker import page_worker

        self.worker = page_worker(core.vllm_config)
        self.selection = self.worker.selection
        if self.selection is None:
            raise RuntimeError(f"this engine selects no pages: {self.worker.refusal}")
        self._answers = ForcedAnswers()
        self._answers.watch(model_parts._runner.get_model())
        # the self-test
        self.answer(list(range(5, 5 + max(least_tokens, 300))), 3, ratio=0.5)
        if not self.selection.is_proven:
            raise RuntimeError(f"this engine selects no pages: {self.selection.refusal}")

    def choose_by(self, selector: str, every: int) -> None:
        """Uses this selector from now on, choosing again every `every` steps (0: whenever a page has filled)."""
        # the runner reports that a request is gone with its next batch
        self.answer([5, 6, 7], 2)
        kinds = {**SELECTORS, "oracle": TrueMass}
        made = kinds[selector](self._rotation()) if selector == "chess-unrotated" else kinds[selector]()
        self.selection.choose_by(made, replace(self.selection.settings, every=every))

    def answer(
        self, prompt: list[int], tokens: int, ratio: float | None = None, forced: list[int] | None = None
    ) -> tuple[list[int], torch.Tensor]:
        """Returns the answer's tokens, greedy or as forced, and each token's log-probabilities [tokens, vocabulary]."""
        from vllm import SamplingParams

        self._answers.begin(forced)
        extra = {} if ratio is None else {"extra_args": {"reprise_pages": ratio}}
        sampling = SamplingParams(temperature=0, max_tokens=tokens, ignore_eos=True, **extra)
        output = self.llm.generate({"prompt_token_ids": prompt}, sampling, use_tqdm=False)[0]
        if self.selection.refusal is not None:
            raise RuntimeError(f"selection has ended: {self.selection.refusal}")
        return list(output.outputs[0].token_ids), self._answers.log_probabilities()

    def begin_free(self) -> None:
        """Lets the model choose the next answers itself, for any number of prompts."""
        self._answers.begin(None)

    def take_share(self) -> float:
        """Returns listed pages as a share of all pages, since the last call."""
        counts = self.worker.rows.counts
        listed, all_pages = counts.pop(("pages_read", "listed"), 0), counts.pop(("pages_read", "all"), 0)
        return listed / all_pages if all_pages else 1.0

    def _rotation(self) -> Any:
        from reprise_reuse.rotation import KeyRotation
        from reprise_vllm.engine.model_parts import _rotary_of, _runner, _turning_in

        rotary = _rotary_of(_turning_in(_runner.get_model()), _runner.model_config.max_model_len)
        return KeyRotation(rotary.cos_sin, is_neox=rotary.is_neox)
