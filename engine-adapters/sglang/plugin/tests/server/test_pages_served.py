"""Page selection in a real SGLang server: all pages equal stock, fewer pages leave nothing behind."""

import json
import random
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from processes import find_free_port, install_plugin, running_sglang

pytestmark = pytest.mark.server

PROMPT = random.Random(1).choices(range(10, 4000), k=900)
TOKENS = 60


class Server:
    def __init__(self, url: str, log: Path) -> None:
        self.url, self.log = url, log

    def ask(self, prompt: list[int], pages: float | None = None) -> tuple[list[int], int]:
        """Returns the answer's tokens, greedy, and how many tokens of the prompt were cached."""
        answer = self._generate(prompt, pages)
        return answer["output_ids"], answer["meta_info"]["cached_tokens"]

    def logprobs(self, prompt: list[int], pages: float | None = None) -> list[float]:
        """Returns the log-probabilities of the answer's tokens."""
        return [logprob for logprob, *_ in self._generate(prompt, pages)["meta_info"]["output_token_logprobs"]]

    def _generate(self, prompt: list[int], pages: float | None) -> dict[str, Any]:
        params: dict[str, Any] = {"temperature": 0, "max_new_tokens": TOKENS, "ignore_eos": True}
        if pages is not None:
            params["custom_params"] = {"reprise_pages": pages}
        body = json.dumps({"input_ids": prompt, "sampling_params": params, "return_logprob": True}).encode()
        request = urllib.request.Request(f"{self.url}/generate", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as response:
            return json.load(response)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("pages")
    install_plugin(folder)
    flags = ["--decode-attention-backend", "reprise_torch_native", "--page-size", "16", "--max-total-tokens", "12000"]
    log = folder / "sglang.log"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPRISE_PAGES", json.dumps({"least_tokens": 256, "min_ratio": 0.05}))
        with running_sglang(log, folder, "http://127.0.0.1:9/v1/replicas/none", find_free_port(), flags) as url:
            yield Server(url, log)


def test_fewer_pages_are_read_and_leave_nothing_behind(server: Server) -> None:
    # a later request finds more in the cache, and batches the rest differently
    server.ask(PROMPT)
    stock = server.logprobs(PROMPT)
    assert server.logprobs(PROMPT, 1) == pytest.approx(stock, abs=1e-5)
    # the first sparse step is the self-test
    server.ask(PROMPT, 0.05)
    sparse = server.logprobs(PROMPT, 0.05)
    assert sparse == pytest.approx(server.logprobs(PROMPT, 0.05), abs=1e-5)
    # the first token comes from the prefill
    assert sparse[0] == pytest.approx(stock[0], abs=1e-5)
    again = server.logprobs(PROMPT)
    assert again == pytest.approx(stock, abs=1e-5)
    # a model with random weights attends to everything equally, so reading less makes little difference
    assert apart(sparse, stock) > 10 * apart(again, stock)
    log = server.log.read_text()
    assert "reprise: selecting pages by attention-mass" in log and "the self-test has passed" in log
    assert "no pages are selected" not in log


def apart(one: list[float], other: list[float]) -> float:
    return max(abs(a - b) for a, b in zip(one, other, strict=True))


def test_a_later_turn_finds_the_prompt_and_no_approximate_token(server: Server) -> None:
    for pages, is_kept in ((0.05, False), (None, True)):
        prompt = [(7 if pages else 9), *PROMPT]
        answer, _ = server.ask(prompt, pages)
        _, cached = server.ask([*prompt, *answer, 5, 6, 7])
        assert len(prompt) - 16 <= cached
        assert (cached > len(prompt)) == is_kept
