"""Reuse in models of the families that people serve: exact where it says so, and keys turned right in every layer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from reuse_model import BLOCK, ReusingEngine, start_llm
from reuse_prompts import DOCUMENTS, FIRST, OTHER, SYSTEM, difference, said, tokens
from served_models import ALL, IN_FP8, make_served_model, options_of, start_quickly
from vllm import SamplingParams

from reprise_reuse.host_store import Rows
from reprise_reuse.pieces import Load, Piece, Save, as_blocks
from reprise_vllm.reuse.messages import ReuseStep

ANOTHER = len(DOCUMENTS[0])
AT_THEIR_PLACE = [*FIRST[:SYSTEM], *tokens(7, ANOTHER), *FIRST[SYSTEM + ANOTHER :]]
"""another document stands first, and the others stay where they were"""


@dataclass
class Served:
    engine: ReusingEngine
    stock: Any
    """what vLLM without the plugin answers to OTHER"""
    turn: Callable[..., torch.Tensor]
    loads: list[tuple[Load, Rows]]
    """and what is in their pages as soon as they are filled"""
    saves: list[tuple[Save, Rows]]
    """and what is in their pages as soon as they are computed"""

    def is_stock(self, answer: Any) -> bool:
        return said(answer) == said(self.stock) and difference(answer, self.stock) < 1e-3

    def rows(self, of: Load | Save, end: int) -> Rows:
        """Returns each layer's first rows of a request, from its pages."""
        pages, blocks = self.engine.worker.pages, as_blocks(of.blocks, torch.device("cpu"))
        return [tuple(one.clone() for one in pages.rows_of(layer, blocks, 0, end)) for layer in range(pages.layers)]

    def computed(self) -> Rows:
        """Returns each layer's rows of the one prompt that was computed; layers with windows hold them step by step."""
        (_, rows), *later = self.saves
        for save, more in later:
            rows = [
                tuple(
                    torch.cat((one[: save.computed_from], added[save.computed_from :]))
                    for one, added in zip(*both, strict=True)
                )
                for both in zip(rows, more, strict=True)
            ]
        return rows

    def came_from(self, piece: Piece) -> int:
        """Returns where a piece was computed."""
        positions = self.engine.worker.store.positions
        return piece.position if piece.slots is None else int(positions[piece.slots[0]])

    def held(self, load: Load, layer: int) -> torch.Tensor:
        """Returns which rows of a load a layer has blocks for; bool [end]."""
        blocks = torch.tensor(load.blocks[self.engine.worker.pages.sights[layer].group])
        return (blocks != 0).repeat_interleave(BLOCK)[: load.end]


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

    def begin_step(step: ReuseStep) -> None:
        begin(step)
        served.loads.extend((load, served.rows(load, load.end)) for load in step.loads)

    def save_step(step: ReuseStep) -> None:
        save(step)
        served.saves.extend((one, served.rows(one, len(one.tokens))) for one in step.saves)

    engine.worker.begin_step, engine.worker.save = begin_step, save_step
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
    computed = served.computed()
    served.engine.ask([AT_THEIR_PLACE], {"reuse": 0})
    ((load, filled),) = served.loads
    assert sum(piece.end - piece.start for piece in load.pieces) > 400 and load.budget == 0
    for layer, rows in enumerate(filled):
        held = served.held(load, layer)
        assert held[SYSTEM:].all()
        for ours, engines in zip(rows, computed[layer], strict=True):
            for one in load.pieces:
                of_piece = slice(one.start, one.end)
                assert torch.equal(ours[of_piece][held[of_piece]], engines[of_piece][held[of_piece]])


def test_moved_rows_are_turned_right_in_every_layer_and_those_of_a_fresh_prompt_in_the_first(served):
    computed = served.computed()
    served.engine.ask([OTHER], {"reuse": 0})
    ((load, moved),) = served.loads
    served.saves.clear()
    served.engine.ask([OTHER], {"reuse": "off"}, salt="fresh")
    held = served.held(load, 0)
    fresh = [[one[: load.end][held] for one in served.computed()[0]]]
    # fp8 is rounded before and after it is turned; a pair's turn mixes the errors of its two numbers
    rounding = served.engine.worker.layout.rounding
    for ours, engines in zip(moved[0], fresh[0], strict=True):
        ours = ours[held]
        assert float((ours - engines).abs().max() / engines.abs().max()) < 1e-4 + 3 * rounding
    distances = set()
    for piece in load.pieces:
        at, length = served.came_from(piece), piece.end - piece.start
        came_from, here = slice(at, at + length), slice(piece.start, piece.end)
        distance = torch.full((length,), piece.start - at)
        distances.add(piece.start - at)
        for layer, ((keys, values), (old_keys, old_values)) in enumerate(zip(moved, computed, strict=True)):
            held = served.held(load, layer)[here]
            assert torch.equal(values[here][held], old_values[came_from][held])
            expected = served.turn(layer, old_keys[came_from], distance)[held]
            torch.testing.assert_close(
                keys[here][held], expected, rtol=1e-4 + 1.1 * rounding, atol=1e-4 + rounding / 10
            )
    assert min(distances) < 0 < max(distances)
