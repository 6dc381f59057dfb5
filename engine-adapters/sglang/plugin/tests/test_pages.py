"""Page selection with SGLang's own attention and pools: all pages equal stock, fewer pages equal masked attention."""

from dataclasses import MISSING, fields, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scheduled_cache import ScheduledCache, build_context
from sglang.srt.layers.attention.torch_native_backend import TorchNativeAttnBackend
from sglang.srt.layers.radix_attention import AttentionType
from sglang.srt.mem_cache.memory_pool import MHATokenToKVPool, ReqToTokenPool
from sglang.srt.mem_cache.registry import create_unified_radix_cache
from sglang.srt.mem_cache.unified_radix_cache import UnifiedRadixCache
from sglang.srt.model_executor.forward_batch_info import ForwardBatch, ForwardMode
from sglang.srt.plugins.hook_registry import HookRegistry
from sglang.srt.speculative.spec_info import SpeculativeAlgorithm

from reprise_pages.affinity import coarse_to_fine
from reprise_settings.page_settings import PageSettingError
from reprise_sglang.pages import hooks
from reprise_sglang.pages.backend import PagedTorchNativeBackend
from reprise_sglang.pages.hooks import NamedRequests, prompt_alone, ratio_of, register_hooks, with_ratios
from reprise_sglang.pages.selection import NONE, HeldRequests
from reprise_sglang.pages.settings import PageSettings

HEADS, GROUP, DIM, LAYERS, PAGE = 2, 3, 16, 2, 8
POOL, LONGEST = 2000, 400


@pytest.fixture(scope="module", autouse=True)
def hooked() -> None:
    register_hooks()
    HookRegistry.apply_hooks()


class Decoding:
    """A batch with contexts scattered over the pool, and the runner that decodes it, with arbitrary keys."""

    def __init__(self, lengths: list[int], ratios: list[float | None], seed: int = 0, **options: Any) -> None:
        self.random = torch.Generator().manual_seed(seed)
        pool = {"device": "cpu", "enable_memory_saver": False}
        kv = MHATokenToKVPool(
            size=POOL, page_size=1, dtype=torch.float32, head_num=HEADS, head_dim=DIM, layer_num=LAYERS, **pool
        )
        requests = ReqToTokenPool(size=16, max_context_len=LONGEST, **pool)
        self.free = (torch.randperm(POOL, generator=self.random) + 1).tolist()
        self.runner = SimpleNamespace(
            device="cpu", req_to_token_pool=requests, token_to_kv_pool=kv, is_draft_worker=False,
            model_config=SimpleNamespace(num_hidden_layers=LAYERS), spec_algorithm=SpeculativeAlgorithm.NONE,
        )  # fmt: skip
        self.is_checked = True
        self.stock = TorchNativeAttnBackend(self.runner)
        given_ = {"page": PAGE, "least_tokens": 20, "min_ratio": 0.0, "requests": 4, **options}
        self.paged = PagedTorchNativeBackend(self.runner, PageSettings(**given_))
        self.names = [f"r-{row}" for row in range(len(lengths))]
        self.lengths, self.ratios = list(lengths), list(ratios)
        self.rows = torch.tensor([3 + 2 * row for row in range(len(lengths))])
        for row, length in enumerate(lengths):
            self._write(row, range(length))

    def _write(self, row: int, positions: Any) -> torch.Tensor:
        slots = torch.tensor([self.free.pop() for _ in positions])
        self.runner.req_to_token_pool.req_to_token[self.rows[row], list(positions)] = slots.int()
        for layer in range(LAYERS):
            for buffer in (self.runner.token_to_kv_pool.get_key_buffer, self.runner.token_to_kv_pool.get_value_buffer):
                buffer(layer)[slots] = torch.randn(len(slots), HEADS, DIM, generator=self.random)
        return slots

    def step(self) -> list[tuple[torch.Tensor, torch.Tensor, list[set[int]]]]:
        """Decodes one token per request. Returns per layer stock's output, ours, and the tokens ours read per row."""
        self.lengths = [length + 1 for length in self.lengths]
        places = torch.cat([self._write(row, [length - 1]) for row, length in enumerate(self.lengths)])
        lengths = torch.tensor(self.lengths)
        batch = SimpleNamespace(
            forward_mode=ForwardMode.DECODE, rids=NamedRequests(self.names, self.ratios), seq_lens=lengths,
            seq_lens_cpu=lengths, req_pool_indices=self.rows, out_cache_loc=places, encoder_lens=None,
        )  # fmt: skip
        self.paged.init_forward_metadata(batch)
        return [self._layer(index, batch) for index in range(LAYERS)]

    def _layer(self, index: int, batch: Any) -> Any:
        layer = SimpleNamespace(
            layer_id=index, qk_head_dim=DIM, v_head_dim=DIM, tp_q_head_num=HEADS * GROUP, tp_k_head_num=HEADS,
            tp_v_head_num=HEADS, is_cross_attention=False, attn_type=AttentionType.DECODER, scaling=DIM**-0.5,
            sliding_window_size=-1,
        )  # fmt: skip
        query = torch.randn(len(self.rows), HEADS * GROUP * DIM, generator=self.random) * 3
        stock = self.stock.forward_decode(query, None, None, layer, batch, False)
        read: list[set[int]] = []
        attend = TorchNativeAttnBackend._run_sdpa_forward_decode

        def watch(backend: Any, *given_: Any, **named: Any) -> Any:
            table, rows, lengths = given_[4:7]
            read[:] = [set(table[row, :length].tolist()) for row, length in zip(rows, lengths, strict=True)]
            assert [len(one) for one in read] == lengths.tolist() or not self.is_checked
            return attend(backend, *given_, **named)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TorchNativeAttnBackend, "_run_sdpa_forward_decode", watch)
            ours = self.paged.forward_decode(query, None, None, layer, batch, False)
        if self.is_checked:
            self._expect_masked(index, query, ours, read)
        return stock, ours, read

    def _expect_masked(self, index: int, query: torch.Tensor, ours: torch.Tensor, read: list[set[int]]) -> None:
        """The output equals dense float64 attention over the tokens that were read, in any order."""
        for row, slots in enumerate(read):
            at = torch.tensor(sorted(slots))
            keys = self.runner.token_to_kv_pool.get_key_buffer(index)[at].double()
            values = self.runner.token_to_kv_pool.get_value_buffer(index)[at].double()
            mine = query[row].double().view(HEADS, GROUP, DIM) * DIM**-0.5
            weights = torch.einsum("hgd,thd->hgt", mine, keys).softmax(-1)
            expected = torch.einsum("hgt,thd->hgd", weights, values).flatten()
            assert torch.allclose(ours[row].double(), expected, atol=1e-5)

    def tokens(self, row: int, first: int, end: int) -> set[int]:
        return set(self.runner.req_to_token_pool.req_to_token[self.rows[row], first:end].tolist())


def test_chess_has_one_list_for_all_layers_from_the_keys_of_all():
    decoding = Decoding([200], [0.3], selector="chess", every=1)
    decoding.step()
    for _ in range(6):
        reads = [read[0] for *_, read in decoding.step()]
        assert all(one == reads[0] for one in reads)
        full, listed = (decoding.lengths[0] - 1) // PAGE, round(0.3 * ((decoding.lengths[0] - 1) // PAGE))
        pages = torch.tensor([sorted(decoding.tokens(0, page * PAGE, (page + 1) * PAGE)) for page in range(full)])
        means = torch.stack([
            decoding.runner.token_to_kv_pool.get_key_buffer(layer)[pages].mean(1) for layer in range(LAYERS)
        ]).transpose(0, 1).flatten(1)  # fmt: skip
        # the paper's equations 1 to 3, coarse to fine
        scores = coarse_to_fine((means @ means[-2:].sum(0))[None], torch.arange(full)[None] < full - 2)[0]
        scores[[0, -2, -1]] = torch.inf
        chosen = scores.topk(listed).indices.tolist()
        expected = set().union(*(decoding.tokens(0, page * PAGE, (page + 1) * PAGE) for page in chosen))
        assert reads[0] == expected | decoding.tokens(0, full * PAGE, decoding.lengths[0])


@pytest.mark.parametrize("selector", ["attention-mass", "quest", "chess"])
def test_sparse_rows_are_masked_attention_beside_dense_ones(selector):
    decoding = Decoding([150, 300, 90, 64], [0.25, None, 0.5, 0.1], selector=selector)
    proving = decoding.step()
    assert decoding.paged.is_proven and decoding.paged.refusal is None
    assert all(torch.equal(stock, ours) for stock, ours, _ in proving)
    for _ in range(20):
        for stock, ours, read in decoding.step():
            # dense rows equal stock exactly
            assert torch.equal(stock[1], ours[1]) and len(read[1]) == decoding.lengths[1]
            for row, ratio in ((0, 0.25), (2, 0.5), (3, 0.1)):
                length = decoding.lengths[row]
                full = (length - 1) // PAGE
                listed = max(3, round(ratio * full))
                # two steps share a choice, and a page may fill between them
                assert listed * PAGE <= len(read[row]) <= (listed + 2) * PAGE
                assert decoding.tokens(row, 0, PAGE) <= read[row]
                assert decoding.tokens(row, (full - 2) * PAGE, length) <= read[row]


def test_the_pages_that_matter_are_read():
    """The queries match the keys of one page: it is listed, although recency would have left it out."""
    decoding = Decoding([300], [0.1])
    decoding.step()
    hidden = sorted(decoding.tokens(0, 10 * PAGE, 11 * PAGE))
    for layer in range(LAYERS):
        # far larger than random keys, in any direction
        decoding.runner.token_to_kv_pool.get_key_buffer(layer)[hidden] *= 20
    decoding.paged.selection.held.summed[:] = 0
    assert all(set(hidden) <= read[0] for _, _, read in decoding.step())


def test_short_contexts_and_requests_beyond_the_slots_are_dense():
    decoding = Decoding([100] * 5 + [18], [0.2] * 6)
    decoding.step()
    _, _, read = decoding.step()[0]
    assert [len(one) for one in read[4:]] == [102, 20] and all(len(one) < 60 for one in read[:4])


def test_a_request_that_comes_back_is_summarised_anew():
    decoding = Decoding([100, 100], [0.2, 0.2])
    decoding.step()
    decoding.step()
    names = decoding.names
    decoding.names = [names[0], "other"]
    decoding.step()
    decoding.names = names
    decoding.step()
    held = decoding.paged.selection.held
    assert held.summed[held._slot_of["r-0"]] == held.summed[held._slot_of["r-1"]] == 103 // PAGE


@pytest.mark.parametrize("where", ["begin_step", "tokens_of"])
def test_a_fault_ends_selection_for_good_and_the_step_is_stock(monkeypatch, where):
    decoding = Decoding([100, 100], [0.2, None])
    decoding.step()
    with monkeypatch.context() as patch:
        patch.setattr(decoding.paged.selection, where, lambda *_, **__: 1 / 0)
        assert all(torch.equal(stock, ours) for stock, ours, _ in decoding.step())
    assert "ZeroDivisionError" in decoding.paged.refusal
    assert all(torch.equal(stock, ours) for stock, ours, _ in decoding.step())


def test_the_self_test_finds_a_wrong_table_and_no_answer_is_touched(monkeypatch):
    decoding = Decoding([100], [0.2])
    tokens_of = decoding.paged.selection.tokens_of

    def wrong(*given_: Any) -> torch.Tensor:
        table = tokens_of(*given_)
        table[:, :PAGE] = table[:, PAGE : 2 * PAGE]
        return table

    monkeypatch.setattr(decoding.paged.selection, "tokens_of", wrong)
    decoding.is_checked = False
    assert all(torch.equal(stock, ours) for stock, ours, _ in decoding.step())
    assert "off by" in decoding.paged.refusal and not decoding.paged.is_proven


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), max_size=5, unique=True), max_size=20))
def test_slots_are_held_by_those_that_run_without_a_break(batches):
    """A name asks for selection unless it is a multiple of three; there are four slots."""
    held, before, length = HeldRequests(4), {}, dict.fromkeys(range(7), 50)
    for batch in batches:
        lengths = []
        for one in batch:
            length[one] += 1
            lengths.append(length[one])
        ratios = [None if one % 3 == 0 else one / 10 for one in batch]
        slots = held.begin_step([str(one) for one in batch], ratios, np.array(lengths, dtype=np.int64))
        now = {one: int(slot) for one, slot in zip(batch, slots, strict=True) if slot != NONE}
        assert len(set(now.values())) == len(now) and set(now) == {one for one in batch if one % 3}
        for one, slot in now.items():
            assert held.ratio[slot] == one / 10
            # its state is kept if it was in the previous step; otherwise it starts over
            assert held.listed[slot] == (one + 1 if before.get(one) == slot else 0)
            held.listed[slot] = one + 1
        before = now


def batch_of(cls: type, _: Any, names: list[str]) -> ForwardBatch:
    required = [field.name for field in fields(cls) if field.default is MISSING and field.default_factory is MISSING]
    return cls(**{**dict.fromkeys(required), "rids": names})


def test_hooks_read_wishes_and_keep_answers_out_of_the_cache(monkeypatch):
    monkeypatch.setattr(hooks, "is_selecting", True)

    def request(params: Any, session: Any = None) -> Any:
        return SimpleNamespace(
            sampling_params=SimpleNamespace(custom_params=params), session=session, origin_input_ids=[1] * 10
        )

    asking, silent, turn = request({"reprise_pages": 0.25}), request(None), request({"reprise_pages": 0.25}, "s")
    batch = SimpleNamespace(reqs=[asking, silent, turn])
    made = with_ratios(batch_of, ForwardBatch, batch, ["a", "b", "c"])
    # SGLang's runners do this before they call a backend
    made = replace(made)
    assert made.rids == ["a", "b", "c"] and made.rids.ratios == [0.25, None, None]
    kept = [prompt_alone(lambda cache, req, up_to: up_to, None, one, up_to=30) for one in (asking, silent, turn)]
    assert kept == [10, 30, 30] and prompt_alone(lambda cache, req, up_to: up_to, None, asking, up_to=4) == 4


@pytest.mark.parametrize(
    ("params", "is_selecting", "kept"),
    [
        (None, True, 20), ({"reprise_pages": 1}, True, 20), ({"reprise_pages": 0.25}, True, 12),
        ({"reprise_pages": 0.25}, False, 20),
    ],
)  # fmt: skip
def test_of_a_sparse_answer_the_cache_keeps_the_prompt(core, monkeypatch, params, is_selecting, kept):
    monkeypatch.setattr(hooks, "is_selecting", is_selecting)
    scheduled = ScheduledCache(create_unified_radix_cache(build_context(core), cache_class=UnifiedRadixCache))
    free, prompt, answer = scheduled.free_tokens, list(range(12)), list(range(100, 109))
    running = scheduled.start("r-1", prompt)
    running.req.sampling_params.custom_params = params
    running.req.session = None
    scheduled.first_token(running, answer[0])
    for token in answer[1:]:
        scheduled.decode(running, token)
    scheduled.finish(running)
    # the last token is not written, and pages have four tokens
    assert scheduled.cached_length(prompt + answer) == kept
    # what is not kept is free again
    assert scheduled.free_tokens == free


@pytest.mark.parametrize(
    ("params", "ratio"),
    [
        (None, None), ({}, None), ({"reprise_pages": 1}, None), ({"reprise_pages": "0.5"}, 0.5),
        ({"reprise_pages": 0}, 0),
        ({"reprise_pages": True}, None), ({"reprise_pages": "x"}, None), ({"reprise_pages": -1}, None),
        ({"reprise_pages": [0.5]}, None), ({"reprise_pages": float("nan")}, None), ("x", None),
    ],
)  # fmt: skip
def test_what_a_request_asks_for(params, ratio):
    request = SimpleNamespace(session=None, sampling_params=SimpleNamespace(custom_params=params))
    assert ratio_of(request) == ratio


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no JSON"), ("3", "must be an object"), ("null", "PAGES is null"),
        ('{"min_rato": 1}', "PAGES: min_rato is no setting; did you mean"),
        ('{"min_ratio": 2}', "from 0 to 1"), ('{"page": 0}', "a whole number from 1"),
        ('{"selector": "best"}', "must be one of"),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_used_is_named(text, says):
    with pytest.raises(PageSettingError, match=says):
        PageSettings.read({"REPRISE_PAGES": text})
    assert PageSettings.read({}) == PageSettings()
