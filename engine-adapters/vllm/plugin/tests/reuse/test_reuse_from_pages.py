"""Segments that stay in the engine's own pages until these are handed out, and then go to host memory."""

import random
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from reuse_model import BLOCK, ReusingEngine, make_model
from reuse_prompts import FIRST, OTHER, difference, full_attention, prompt, said, some_prompts, tokens

from reprise_reuse.device import to_device
from reprise_reuse.host_store import Rows
from reprise_reuse.pieces import Load, Move, Piece, Save
from reprise_vllm.reuse.messages import ReuseStep

PAGES = 100 * BLOCK
ROW = 2 * 2 * 32 * 4 + 20
"""bytes of one token of one layer in host memory"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReusingEngine]:
    """An engine with less host memory than pages. Its model has one layer, so that wrong rows show in every answer."""
    model = make_model(tmp_path_factory.mktemp("one-layer"), layers=1)
    engine = ReusingEngine(model, {"host_bytes": 2000 * ROW, "rows_per_step": 96}, num_gpu_blocks_override=100)
    yield engine
    engine.core.shutdown()


@pytest.fixture(autouse=True)
def nothing_is_cached(engine: ReusingEngine) -> None:
    engine.reset()


def host_tokens(engine: ReusingEngine) -> int:
    return engine.reuse._catalogue.host_tokens


def flood(engine: ReusingEngine, seed: int, count: int) -> None:
    """Has about `count` tokens computed that no prompt repeats."""
    for number in range(count // 400):
        engine.ask([tokens(seed + number, 400)], salt=f"flood {seed}", tokens=1)


def test_nothing_is_copied_while_the_pages_hold_it(engine):
    engine.ask([FIRST])
    engine.tokens_by_kind()
    answer = engine.ask([OTHER], {"reuse": 0})[0]
    # rows in a block that is not full would be copied, and are too few to be found alone
    assert len(FIRST) % BLOCK >= 8 and host_tokens(engine) == 0
    assert engine.tokens_by_kind()["reused"] > 400
    expected = full_attention(engine, OTHER)
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3


def test_what_leaves_the_pages_is_found_in_host_memory(engine):
    engine.ask([FIRST])
    flood(engine, 10_000, PAGES)
    assert host_tokens(engine) > 0
    assert all(one.pages is None for one in engine.reuse._catalogue._segments.values() if one.slots is not None)
    engine.tokens_by_kind()
    answer = engine.ask([OTHER], {"reuse": 0})[0]
    assert engine.tokens_by_kind()["reused"] > 400
    expected = full_attention(engine, OTHER)
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3


@pytest.mark.parametrize("method", ["vacate", "vacate_all"])
def test_a_fault_in_following_the_pages_ends_reuse_and_nothing_else(engine, monkeypatch, method):
    engine.ask([FIRST])
    monkeypatch.setattr(engine.reuse._catalogue, method, lambda *block: 1 / 0)
    flood(engine, 50_000, PAGES)
    assert engine.llm.reset_prefix_cache()
    assert engine.reuse.refusal == "a fault in following the pages"
    engine.reuse.refusal = None


def test_what_has_no_room_in_host_memory_is_forgotten(engine):
    engine.ask([FIRST])
    for seed in (20_000, 30_000, 40_000):
        flood(engine, seed, PAGES)
    engine.tokens_by_kind()
    engine.ask([OTHER], {"reuse": 0})
    assert engine.tokens_by_kind()["reused"] == 0 and host_tokens(engine) <= 2000


@pytest.mark.parametrize("is_repeated", [True, False])
def test_small_host_memory_gets_only_what_a_prompt_has_repeated(engine, monkeypatch, is_repeated):
    monkeypatch.setattr(engine.reuse._pages, "_takes_all", False)
    engine.ask([FIRST])
    if is_repeated:
        engine.ask([OTHER], {"reuse": 0})
    flood(engine, 10_000, PAGES)
    assert (host_tokens(engine) > 400) == is_repeated
    engine.tokens_by_kind()
    engine.ask([prompt([2, 0, 1, 5, 4, 3], question=7)], {"reuse": 0})
    assert (engine.tokens_by_kind()["reused"] > 400) == is_repeated


def test_a_reset_of_the_prefix_cache_forgets_what_lies_in_the_pages(engine):
    engine.ask([FIRST])
    assert engine.core.scheduler.kv_cache_manager.reset_prefix_cache()
    engine.tokens_by_kind()
    engine.ask([OTHER], {"reuse": 0})
    assert engine.tokens_by_kind() == {"cold": len(OTHER)}


@pytest.mark.parametrize("rows_per_step", [4096, 96], ids=["in one step", "in slices"])
def test_pages_that_hold_something_else_are_not_used(engine, monkeypatch, rows_per_step):
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(rows_per_step=rows_per_step))
    engine.ask([FIRST])
    expected = full_attention(engine, OTHER)
    engine.worker.stored._stored_keys += 1
    engine.tokens_by_kind()
    answer = engine.ask([OTHER], {"reuse": 0.4})[0]
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3
    engine.ask([[1, 2, 3]])
    counts = engine.counts()
    assert counts["tokens", "reused"] == 0 and counts["segments", "lost"] > 0


def test_a_mean_over_contexts_lies_in_host_memory(engine):
    engine.ask([prompt([0, 1, 2])], {"reuse": "off"})
    assert host_tokens(engine) < BLOCK
    engine.ask([prompt([2, 1, 3])], {"reuse": "off"})
    means = [one for one in engine.reuse._catalogue._segments.values() if len(one.prefixes) > 1]
    assert means and all(one.slots is not None and one.pages is None for one in means)
    answer = engine.ask([OTHER], {"reuse": 0})[0]
    expected = full_attention(engine, OTHER)
    assert said(answer) == said(expected) and difference(answer, expected) < 1e-3


@pytest.mark.parametrize("seed", range(2))
def test_no_answer_ever_has_rows_of_another_text(engine, seed):
    """Prompts of a few documents run together, are preempted, and evict each other from pages and host memory."""
    chance = random.Random(seed)
    documents = [tokens(700 + number, chance.randint(40, 260)) for number in range(14)]
    for batch in range(10):
        asked = some_prompts(chance, documents, seed + 9 * batch)
        expected = [full_attention(engine, one) for one in asked]
        answers = engine.ask(asked, {"reuse": chance.choice([0, 0, 0.3])}, tokens=chance.choice([4, 60]))
        for answer, right in zip(answers, expected, strict=True):
            assert said(answer)[:4] == said(right)
    assert engine.reuse.refusal is None
    assert engine.counts()["segments", "lost"] == 0


class KernelDouble:
    """Fills rows of all layers at once, without turning keys."""

    reads_host_memory = True

    def __init__(self, engine: ReusingEngine) -> None:
        self._worker = engine.worker

    def copy_pages(self, pages: np.ndarray, to: np.ndarray, distances: np.ndarray) -> None:
        slots = to_device(pages, self._worker.device)
        self._write([self._worker.layout.read_slots(cache, slots) for cache in self._worker.stored._caches], to)

    def copy_from_host(self, slots: np.ndarray, to: np.ndarray, distances: np.ndarray, *, is_beside: bool) -> None:
        store, device = self._worker.store, self._worker.device
        self._write([store.get(layer, torch.from_numpy(slots), device) for layer in range(store.shape.layers)], to)

    def _write(self, rows: Rows, to: np.ndarray) -> None:
        stored, at = self._worker.stored, to_device(to, self._worker.device)
        for layer, cache, (keys, values) in zip(stored._layers, stored._caches, rows, strict=True):
            layer.impl.do_kv_cache_update(layer, keys, values, cache, at)


@pytest.mark.parametrize("with_kernel", [True, False])
def test_what_a_load_takes_over_is_read_before_rows_of_host_memory_are_written_there(engine, monkeypatch, with_kernel):
    worker = engine.worker
    pages, slots = np.arange(5 * BLOCK, 6 * BLOCK), np.arange(BLOCK)
    worker.stored.move([Move(slots.astype(np.int32), np.arange(9 * BLOCK, 10 * BLOCK), slots, 0, 504)])
    (cache,) = worker.stored._caches
    wanted = worker.layout.read_slots(cache, to_device(pages, worker.device))
    monkeypatch.setattr(worker.stored, "kernel", KernelDouble(engine) if with_kernel else None)
    # the first of its blocks is the one in which its second piece lies
    pieces = [Piece(0, BLOCK, slots, 504), Piece(BLOCK, 2 * BLOCK, None, 505, pages=pages, position=BLOCK)]
    ids = np.zeros(3 * BLOCK, np.int32)
    worker.stored.fill(Load("a", ids, [[5, 6, 7]], 0, 2 * BLOCK, pieces, [], 0, "none", is_asynchronous=False))
    found = worker.layout.read_slots(cache, to_device(pages + BLOCK, worker.device))
    assert all(torch.equal(one, other) for one, other in zip(found, wanted, strict=True))
    worker.store.forget(torch.from_numpy(slots))


@pytest.mark.parametrize("at_once", [True, False])
def test_of_two_segments_that_go_to_one_slot_in_a_step_the_later_one_is_held(engine, at_once):
    """If host memory is short, a segment that just left the pages is evicted for the next one that leaves them."""
    stored, store = engine.worker.stored, engine.worker.store
    earlier = Move(np.array([1, 2], np.int32), np.array([10, 11]), np.array([7, 8]), 0, 501)
    later = Move(np.array([3, 4], np.int32), np.array([40, 41]), np.array([8, 9]), 5, 502)
    rows = stored.read([earlier, later])
    if at_once:
        stored.move([earlier, later])
    else:
        stored.put([earlier, later], rows)
    assert store.owners[7:10].tolist() == [501, 502, 502] and store.tokens[7:10].tolist() == [1, 3, 4]
    kept = torch.tensor([0, 2, 3])
    for layer, (keys, values) in enumerate(rows):
        held_keys, held_values = store.get(layer, torch.tensor([7, 8, 9]))
        assert torch.equal(held_keys, keys[kept]) and torch.equal(held_values, values[kept])
    store.forget(torch.tensor([7, 8, 9]))


@pytest.mark.parametrize("read_slot, owner", [(8, -1), (9, 503)])
def test_what_a_load_of_the_step_reads_is_not_written_before_it(engine, read_slot, owner):
    worker = engine.worker
    pages, slots, ids = np.array([10, 11]), np.array([7, 8]), np.array([1, 2], np.int32)
    worker.stored.save(Save(ids, [], [Piece(0, 2, None, 503, pages=pages)]))
    read = Piece(0, 1, np.array([read_slot]), 504)
    load = Load("a", ids, [], 0, 1, [read], [], 0, "none", is_asynchronous=False)
    worker.prepare(ReuseStep(moves=[Move(ids, pages, slots, 0, 503)], loads=[load]))
    assert worker.store.owners[slots].tolist() == [owner, owner]
    worker.begin_step(ReuseStep())
    assert worker.store.owners[slots].tolist() == [503, 503]
    worker.store.forget(torch.from_numpy(slots))
