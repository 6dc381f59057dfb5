"""SGLang's scheduler and model with the plugin in this process, driven as the plugin's tests drive it."""

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from quality.in_engine.engine import HOST, LONGEST
from quality.in_engine.forced_answers import ForcedAnswers

_TESTS = Path(__file__).parents[4] / "engine-adapters" / "sglang" / "plugin" / "tests"
# SGLang has no build for CPUs without AMX; the shim replaces one import of its generic code path
sys.path[:0] = [str(_TESTS / "reuse"), str(_TESTS / "engine" / "cpu_shim")]


class SglangEngine:
    """An engine that answers one prompt at a time (`quality.in_engine.engine.Engine`)."""

    def __init__(self, model: str, host_dtype: str) -> None:
        from reusing_scheduler import ReusingScheduler

        self._engine = ReusingScheduler(
            Path(model), json.dumps({**HOST, "host_dtype": host_dtype}),
            max_total_tokens=5 * LONGEST, chunked_prefill_size=LONGEST, max_prefill_tokens=LONGEST,
        )  # fmt: skip
        self._reuser = self._engine.reuser
        if self._reuser is None:
            raise RuntimeError("this engine does not reuse: its log says why")
        self.tokenizer = self._engine.scheduler.tokenizer
        self._counted: Counter[tuple[str, str]] = Counter()
        self._answers = ForcedAnswers()
        runner = self._engine.scheduler.tp_worker.model_runner
        sample = runner.sample

        def sample_forced(output: Any, *arguments: Any) -> torch.Tensor:
            output.next_token_logits = self._answers.take(output.next_token_logits)
            return sample(output, *arguments)

        runner.sample = sample_forced

    def answer(
        self, prompt: list[int], salt: str, wish: dict[str, Any], tokens: int = 1, forced: list[int] | None = None
    ) -> tuple[list[int], torch.Tensor]:
        """Returns the answer's tokens, greedy or as forced, and each token's log-probabilities [tokens, vocabulary]."""
        self._answers.begin(forced)
        request = self._engine.ask(prompt, wish, tokens, salt=salt)
        return list(request.output_ids), self._answers.log_probabilities()

    def choose_by(self, method: str) -> None:
        """Uses this method to choose rows from now on."""
        self._reuser._settings = replace(self._reuser._settings, method=method)

    def take_counts(self) -> dict[str, int]:
        """Returns prompt tokens by kind since the last call."""
        fresh, self._counted = self._reuser.counts - self._counted, self._reuser.counts.copy()
        return {kind: count for (what, kind), count in fresh.items() if what == "tokens"}

    def forget(self) -> None:
        """Discards everything stored, and SGLang's own cache."""
        self._engine.flush()
