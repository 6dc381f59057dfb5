"""Reuse in models of the families that people serve: exact where it says so, and keys turned right in every layer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from reuse_model import ReusingEngine, start_llm
from reuse_prompts import DOCUMENTS, FIRST, OTHER, SYSTEM, difference, said, tokens
from served_models import ALL, IN_FP8, make_served_model, options_of, start_quickly
from vllm import SamplingParams

from reprise_reuse.host_store import Rows
from reprise_reuse.pieces import Load, Save
from reprise_reuse.rows.cache_slots import as_blocks

ANOTHER = len(DOCUMENTS[0])
AT_THEIR_PLACE = [*FIRST[:SYSTEM], *tokens(7, ANOTHER), *FIRST[SYSTEM + ANOTHER :]]
"""another document stands first, and the others stay where they were"""


@dataclass
class Served:
    engine: ReusingEngine
    stock: Any
    """what vLLM without the plugin answers to OTHER"""
    turn: Callable[..., torch.Tensor]
    loads: list[Load]
    saves: list[Save]

    def is_stock(self, answer: Any) -> bool:
        return said(answer) == said(self.stock) and difference(answer, self.stock) < 1e-3

    def rows(self, of: Load | Save, end: int) -> Rows:
        """Returns each layer's first rows of a request, from its pages."""
        pages, blocks = self.engine.worker.pages, as_blocks(of.blocks, torch.device("cpu"))
        return [tuple(one.clone() for one in pages.rows_of(layer, blocks, 0, end)) for layer in range(pages.layers)]


def stock_answer(model: Path, options: dict[str, Any]) -> Any:
    llm = start_quickly(lambda: start_llm(model, None, **options))
    wish = SamplingParams(temperature=0, max_tokens=4, ignore_eos=True, detokenize=False, logprobs=5)
    (output,) = llm.generate({"prompt_token_ids": OTHER}, wish, use_tqdm=False)
    start_quickly(llm.llm_engine.engine_core.engine_core.shutdown)
    return output.outputs[0]


@pytest.fixture(scope="module", params=ALL)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    if request.param in IN_FP8 and not torch.cpu._is_avx512_supported():
        pytest.skip("without AVX-512, vLLM has no fp8 on a CPU")
    model = tmp_path_factory.mktemp("served")
    turn, options = make_served_model(model, *ALL[request.param]), options_of(request.param)
    stock = stock_answer(model, options)
    engine = start_quickly(lambda: ReusingEngine(model, {"host_bytes": 8 << 20}, **options))
    assert engine.reuse.is_ready, engine.reuse.refusal
    served = Served(engine, stock, turn, [], [])
    begin, save = engine.worker.begin_step, engine.worker.save
    engine.worker.begin_step = lambda step: (served.loads.extend(step.loads), begin(step))[1]
    engine.worker.save = lambda step: (served.saves.extend(step.saves), save(step))[1]
    yield served
    start_quickly(engine.core.shutdown)


@pytest.fixture(autouse=True)
def only_the_first_prompt_is_known(served: Served) -> None:
    served.engine.reset()
    served.loads.clear()
    served.saves.clear()
    served.engine.ask([FIRST])
    served.engine.tokens_by_kind()


def test_computing_everything_again_gives_the_stock_answer(served):
    answer = served.engine.ask([OTHER], {"reuse": 1.0})[0]
    assert served.engine.tokens_by_kind()["recomputed"] > 400
    assert served.is_stock(answer)
    assert served.engine.reuse.refusal is None and not served.engine.worker._faults._score


def test_after_an_approximate_request_an_exact_one_gets_the_stock_answer(served):
    approximate = served.engine.ask([OTHER], {"reuse": 0})[0]
    assert served.engine.tokens_by_kind()["reused"] > 400
    assert difference(approximate, served.stock) > 1e-2
    assert served.is_stock(served.engine.ask([OTHER], {"reuse": "off"})[0])


def test_rows_that_stay_at_their_place_come_back_bit_by_bit(served):
    (saved,) = served.saves
    computed = served.rows(saved, len(FIRST))
    served.engine.ask([AT_THEIR_PLACE], {"reuse": 0})
    (load,) = served.loads
    assert sum(piece.end - piece.start for piece in load.pieces) > 400 and load.budget == 0
    for layer, rows in enumerate(served.rows(load, load.end)):
        for ours, engines in zip(rows, computed[layer], strict=True):
            assert all(torch.equal(ours[one.start : one.end], engines[one.start : one.end]) for one in load.pieces)


def test_moved_rows_are_turned_right_in_every_layer_and_those_of_a_fresh_prompt_in_the_first(served):
    (saved,) = served.saves
    computed = served.rows(saved, len(FIRST))
    served.engine.ask([OTHER], {"reuse": 0})
    (load,) = served.loads
    moved = served.rows(load, load.end)
    served.saves.clear()
    served.engine.ask([OTHER], {"reuse": "off"}, salt="fresh")
    fresh = served.rows(served.saves[0], load.end)
    # fp8 is rounded before and after it is turned; a pair's turn mixes the errors of its two numbers
    rounding = served.engine.worker.layout.rounding
    for ours, engines in zip(moved[0], fresh[0], strict=True):
        assert float((ours - engines).abs().max() / engines.abs().max()) < 1e-4 + 3 * rounding
    distances = set()
    for piece in load.pieces:
        came_from, here = slice(piece.position, piece.position + piece.end - piece.start), slice(piece.start, piece.end)
        distance = torch.full((piece.end - piece.start,), piece.start - piece.position)
        distances.add(piece.start - piece.position)
        for (keys, values), (old_keys, old_values) in zip(moved, computed, strict=True):
            assert torch.equal(values[here], old_values[came_from])
            expected = served.turn(old_keys[came_from], distance)
            torch.testing.assert_close(keys[here], expected, rtol=1e-4 + 1.1 * rounding, atol=1e-4 + rounding / 10)
    assert min(distances) < 0 < max(distances)
