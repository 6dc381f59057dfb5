"""Passes that a GPU replays compute what passes launched kernel by kernel compute."""

import os
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import torch

from reprise_reuse.pieces import Load
from reprise_reuse.rows import captured_passes
from reprise_reuse.rows.captured_passes import CapturedPasses, as_graphs
from reprise_reuse.rows.evidence import PromptPages, attention_of_questions
from reprise_reuse.rows.row_choice import OpenLoad
from reprise_reuse.rows.row_pass import compute_rows
from reprise_vllm.engine.page_layout import PageLayout

BLOCKS, SIZE, HEADS, GROUP, DIM, LAYERS, WORDS = 40, 16, 2, 3, 32, 2, 50
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def test_replayed_passes_compute_what_launches_one_by_one_compute():
    """In a process of its own, since Triton decides when it is imported whether its interpreter runs kernels."""
    interpreted = {"TRITON_INTERPRET": "1"} if DEVICE.type == "cpu" else {}
    env = {**os.environ, **interpreted, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, __file__], env=env, check=True)


def graph_double(run: Callable[[], None]) -> Callable[[], None]:
    """Stands in for a CUDA graph, which needs a GPU: does the same again with what lies in the same tensors."""
    run()
    return run


def update(_layer: object, keys: torch.Tensor, values: torch.Tensor, cache: torch.Tensor, at: torch.Tensor) -> None:
    """Writes rows as the engine's operation does: of negative slots nothing."""
    real = at >= 0
    cache.transpose(1, 2)[at[real] // SIZE, at[real] % SIZE] = torch.cat((keys, values), -1)[real]


class ModelDouble:
    """Two layers of nothing but attention, of which the second sees what the first has seen."""

    most_rows = 8192

    def __init__(self, caches: list[torch.Tensor], layer: object) -> None:
        random = torch.Generator(DEVICE).manual_seed(1)
        self._words = torch.randn(WORDS, HEADS * GROUP * DIM, generator=random, device=DEVICE)
        self._caches, self._layer = caches, layer

    def ask(self, tokens: torch.Tensor, positions: torch.Tensor, attend: Callable) -> None:
        self._run(tokens, positions, None, attend)

    def write(self, tokens: torch.Tensor, positions: torch.Tensor, slots: torch.Tensor, attend: Callable) -> None:
        self._run(tokens, positions, slots, attend)

    def _run(self, tokens: torch.Tensor, positions: torch.Tensor, slots: torch.Tensor | None, attend: Callable) -> None:
        hidden = self._words[tokens.long()] * (1 + positions[:, None] / 100)
        for layer, cache in enumerate(self._caches):
            keys, values = hidden[:, : 2 * HEADS * DIM].view(-1, 2 * HEADS, DIM).split(HEADS, 1)
            if slots is not None:
                update(self._layer, keys, values, cache, slots)
            output = torch.full_like(hidden, torch.nan)
            attend(layer, hidden, keys, values, output)
            hidden = hidden + output


def prompt_pages() -> PromptPages:
    impl = SimpleNamespace(do_kv_cache_update=update)
    layer = SimpleNamespace(num_kv_heads=HEADS, num_heads=HEADS * GROUP, head_size=DIM, impl=impl)
    random = torch.Generator(DEVICE).manual_seed(2)
    caches = [
        torch.randn(BLOCKS, HEADS, SIZE, 2 * DIM, generator=random, device=DEVICE) for _ in range(LAYERS)
    ]  # fmt: skip
    layout = PageLayout(layer, caches[0], BLOCKS, SIZE)
    prompt = PromptPages(ModelDouble(caches, layer), layout, caches, DIM**-0.5, 5000, 1)
    prompt.reads_in_place = True
    return prompt


def load_of(begin: int, end: int, known: int, question: int, seed: int) -> OpenLoad:
    """A prompt of which the first `known` tokens are in pages."""
    random = np.random.default_rng(seed)
    tokens = random.integers(0, WORDS, end + question).astype(np.int32)
    blocks = (1 + random.permutation(BLOCKS - 1)[: -(-end // SIZE)]).tolist()
    load = Load(
        "r", tokens, [blocks], known, end, [], list(range(begin, begin + question)), 0, "", is_asynchronous=False
    )
    return OpenLoad.of(load, SIZE, DEVICE)


def compare() -> None:
    captured_passes.MOST_ROWS = 128
    prompt = prompt_pages()
    replayed = CapturedPasses(prompt, DEVICE, 400, as_graphs(DEVICE) if DEVICE.type == "cuda" else graph_double)
    before = [cache.clone() for cache in prompt._caches]

    def both_ways(do: Callable[[], object]) -> tuple[list, list]:
        results = []
        for chosen in (None, replayed):
            for cache, first in zip(prompt._caches, before, strict=True):
                cache.copy_(first)
            prompt.captured = chosen
            done = do()
            results.append([*(done or ()), *(cache.clone() for cache in prompt._caches)])
        return results[0], results[1]

    # a short one behind a long one, so that nothing that the longer one has left is read
    for seed, (end, question) in enumerate([(399, 64), (17, 1)]):
        for known in (end, end // 2):
            opened = load_of(end, end, known, question, seed)
            assert replayed.question.takes(opened.load)
            plain, again = both_ways(lambda opened=opened: attention_of_questions(prompt, [opened]))
            assert float(plain[0].abs().max()) > 1e-3
            for a, b in zip(plain, again, strict=True):
                torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)
    for seed, (end, count) in enumerate([(399, 128), (200, 65), (50, 1)]):
        opened = load_of(end, end, end, 1, seed)
        rows = torch.from_numpy(np.sort(np.random.default_rng(seed).permutation(end)[:count])).to(DEVICE)
        assert replayed.rows.takes(opened, rows)
        plain, again = both_ways(lambda opened=opened, rows=rows: compute_rows(prompt, [(opened, rows)]))
        assert not torch.equal(plain[1], before[1])
        for a, b in zip(plain, again, strict=True):
            torch.testing.assert_close(a, b, atol=1e-4, rtol=1e-4)
    # what is too long for a graph is launched kernel by kernel
    long = load_of(401, 401, 401, 65, 0)
    assert not replayed.question.takes(long.load)
    assert not replayed.rows.takes(long, torch.arange(9, device=DEVICE))
    assert not replayed.rows.takes(opened, torch.arange(129, device=DEVICE))
    assert not replayed.rows.takes(opened, torch.arange(0, device=DEVICE))


if __name__ == "__main__":
    compare()
