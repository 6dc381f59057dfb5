"""A batch that decodes through our builder and layers over torch doubles, and a tape in place of a CUDA graph."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from reprise_kernels.choose_pages import naive_choose_pages
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils._python_dispatch import TorchDispatchMode
from vllm.v1.attention.backend import CommonAttentionMetadata

from reprise_pages.selectors import AttentionMass
from reprise_vllm.select_pages import backends
from reprise_vllm.select_pages.check_engine import Shape
from reprise_vllm.select_pages.selection import PageSelection
from reprise_vllm.select_pages.settings import PageSettings
from reprise_vllm.select_pages.sparse_rows import SparseRows

PAGE, HEADS, GROUP, DIM, LAYERS, ROWS, SLOTS, PAGES = 16, 2, 2, 16, 2, 8, 4, 40
SHAPE = Shape(PAGE, HEADS, DIM, GROUP, DIM**-0.5, PAGES, ROWS)
SETTINGS = PageSettings(least_tokens=64, requests=SLOTS, every=2)


@torch.library.custom_op("reprise_test::attend", mutates_args=("output",))
def attend(
    query: torch.Tensor, cache: torch.Tensor, table: torch.Tensor, lengths: torch.Tensor, output: torch.Tensor
) -> None:
    """What an attention kernel does for decoding rows: it reads as many tokens of a row's pages as its length says."""
    for row, length in enumerate(lengths.tolist()):
        if length:
            rows = cache[table[row, : -(-length // PAGE)].long()].transpose(1, 2).flatten(0, 1)[:length]
            keys, values = rows.double().permute(1, 0, 2).split(DIM, -1)
            mine = query[row].double().view(HEADS, GROUP, DIM) * SHAPE.scale
            output[row] = ((mine @ keys.mT).softmax(-1) @ values).view(output.shape[1:])


@torch.library.custom_op("reprise_test::choose", mutates_args=("chosen", "table"))
def choose(
    query: torch.Tensor, moments: torch.Tensor, where: torch.Tensor, source: torch.Tensor, count: torch.Tensor,
    chosen: torch.Tensor, table: torch.Tensor,
) -> None:  # fmt: skip
    """What the kernels of `choose_pages` do, in the order in which torch lists pages."""
    due = int(count)
    pages = naive_choose_pages(query, moments, where[:due], PAGE, SHAPE.scale, SETTINGS.sinks, SETTINGS.recent)
    for request, (_, slot, _, listed, row) in enumerate(where.tolist()):
        if request < due:
            chosen[slot, :listed] = source[request, pages[request]]
        table[row, :listed] = chosen[slot, :listed]


def choose_double(query: Any, moments: Any, due: Any, *rest: Any, only_list: bool = False) -> None:
    """Stands in for `choose_pages`, which needs a GPU."""
    choose(query, moments, due.where, due.source, due.count, *rest[-2:])


class BuilderDouble:
    def __init__(self, *given: Any) -> None: ...

    def build(self, common_prefix_len: int, common: Any, fast_build: bool = False) -> Any:
        return SimpleNamespace(block_table=common.block_table_tensor, seq_lens=common.seq_lens)

    def build_for_cudagraph_capture(self, common: Any) -> Any:
        return self.build(0, common)


class ImplDouble:
    logits_soft_cap = None

    def forward(
        self, layer: Any, query: Any, key: Any, value: Any, kv_cache: Any, metadata: Any, output: Any
    ) -> torch.Tensor:
        attend(query, kv_cache, metadata.block_table, metadata.seq_lens, output)
        return output

    def do_kv_cache_update(self, layer: Any, keys: Any, values: Any, cache: Any, at: torch.Tensor) -> None:
        cache.transpose(1, 2)[at // PAGE, at % PAGE] = torch.cat((keys, values), -1)


class Tape(TorchDispatchMode):
    """Records operations, and repeats them on the same tensors: all that a CUDA graph does."""

    def __init__(self) -> None:
        super().__init__()
        self._recorded: list[tuple[Callable, Any, dict[str, Any], Any]] = []
        self.launched: list[str] = []

    def __torch_dispatch__(self, function: Any, types: Any, given: Any = (), named: Any = None) -> Any:
        made = function(*given, **(named or {}))
        if not function.is_view:
            self._recorded.append((function, given, named or {}, made))
            self.launched.append(function.overloadpacket.__name__)
        return made

    def replay(self) -> None:
        for function, given, named, before in self._recorded:
            made = function(*given, **named)
            if isinstance(before, torch.Tensor) and made.data_ptr() != before.data_ptr():
                before.copy_(made)


class Decoding:
    """Requests that decode in one batch. The same seed gives the same contexts and queries, whichever way they go."""

    def __init__(self, monkeypatch: Any, layers: int = LAYERS, *, in_graphs: bool, device: str = "cpu") -> None:
        self.device, self.in_graphs = torch.device(device), in_graphs
        self.rows = SparseRows(SLOTS, ROWS)
        impl = backends._impl(ImplDouble)
        self.layers = [
            SimpleNamespace(
                impl=impl(), num_kv_heads=HEADS, num_heads=HEADS * GROUP, head_size=DIM,
                kv_cache=torch.zeros(1 + ROWS * PAGES, HEADS, PAGE, 2 * DIM, device=device),
            )
            for _ in range(layers)
        ]  # fmt: skip
        self.selection = PageSelection(
            SETTINGS, AttentionMass(), SHAPE, self.layers, self.rows, None, self.device, SimpleNamespace(
                error=fail, warning=fail), in_graphs=in_graphs,
        )  # fmt: skip
        for index, layer in enumerate(self.layers):
            layer.impl.reprise_pages = (self.selection, index)
        if in_graphs:
            monkeypatch.setattr("reprise_kernels.choose_pages.choose_pages", choose_double)
            self.selection.chooser.goes_by_kernels = True
        monkeypatch.setattr(backends, "begin_selection", lambda *given: self.selection)
        self.builder = backends._builder(BuilderDouble)(None, [], None, None)
        self._random = torch.Generator().manual_seed(0)
        # what the engine keeps: of each place in its table of requests the blocks, and the batch's own buffers
        order = torch.randperm(ROWS * PAGES, generator=self._random) + 1
        self.blocks = order.view(ROWS, PAGES).int().to(device)
        self.lengths = np.zeros(ROWS, dtype=np.int64)
        self.query = torch.zeros(layers, ROWS, HEADS * GROUP, DIM, device=device)
        self.output = torch.zeros_like(self.query)

    def start(self, holder: int, length: int, ratio: float | None) -> None:
        """Puts a request with a context of random rows at a place."""
        self.lengths[holder] = length
        self.rows.add(holder, ratio)
        self._append(np.full(length, holder), np.arange(length))

    def step(self, holders: list[int], run: Callable[[Any], None] | None = None, bucket: int | None = None) -> Any:
        """
        Decodes a token of each of these requests, in rows in this order. Returns the metadata.

        run    in place of the layers
        bucket  the batch is padded to so many rows
        """
        at = self.lengths[holders]
        self._append(np.array(holders), at)
        self.lengths[holders] += 1
        self.query[:, : len(holders)] = torch.randn(
            len(self.layers), len(holders), HEADS * GROUP, DIM, generator=self._random
        ).to(self.device)
        metadata = self.builder.build(0, self.common(holders, bucket or len(holders)))
        self.output.zero_()
        (run or self.forward)(metadata)
        return metadata

    def common(self, holders: list[int], padded: int) -> CommonAttentionMetadata:
        count = len(holders)
        lengths = np.zeros(padded, dtype=np.int32)
        lengths[:count] = self.lengths[holders]
        # with fake tensors, too, the host sees its own
        with unset_fake_temporarily():
            starts = torch.arange(padded + 1, dtype=torch.int32).clamp_max(count)
            on_host, is_prefilling = torch.from_numpy(lengths), torch.zeros(count, dtype=torch.bool)
        table = torch.zeros(padded, PAGES, dtype=torch.int32, device=self.device)
        table[:count] = self.blocks[torch.tensor(holders, device=self.device)]
        return CommonAttentionMetadata(
            query_start_loc=starts.to(self.device), query_start_loc_cpu=starts,
            seq_lens=on_host.to(self.device, copy=True), seq_lens_cpu_upper_bound=on_host,
            num_reqs=padded, num_actual_tokens=padded, max_query_len=1, max_seq_len=int(lengths.max()),
            block_table_tensor=table, slot_mapping=torch.zeros(padded, dtype=torch.int64, device=self.device),
            is_prefilling=is_prefilling, req_idx=np.array(holders),
        )  # fmt: skip

    def forward(self, metadata: Any) -> None:
        for index, layer in enumerate(self.layers):
            query, output = self.query[index], self.output[index]
            layer.impl.forward(layer, query, None, None, layer.kv_cache, metadata, output)

    def capture(self, padded: int) -> tuple[Any, Tape]:
        """Returns the metadata and the tape of a batch of this size."""
        common = self.common(list(range(padded)), padded)
        metadata = self.builder.build_for_cudagraph_capture(common.replace(max_seq_len=PAGE * PAGES))
        with Tape() as tape:
            self.forward(metadata)
        return metadata, tape

    def _append(self, holders: np.ndarray, positions: np.ndarray) -> None:
        blocks = self.blocks[torch.from_numpy(holders), torch.from_numpy(positions // PAGE)].long()
        slots = blocks * PAGE + torch.from_numpy(positions % PAGE).to(self.device)
        for layer in self.layers:
            keys, values = torch.randn(2, len(holders), HEADS, DIM, generator=self._random).to(self.device)
            layer.impl.do_kv_cache_update(layer, keys, values, layer.kv_cache, slots)


# the requests in the rows of each step
STEPS = [
    *[[0, 1]] * 3,
    *[[2, 0, 3]] * 9,
    *[[3, 2]] * 3,
    *[[1]] * 2,
    *[[0, 1, 2, 3, 4]] * 9,
    *[[4]] * 3,
    *[[2, 4, 3, 0]] * 5,
]


def start(decoding: Decoding) -> Decoding:
    """Places 0 and 1 are dense, the others sparse, one of them too short at first."""
    for holder, (length, ratio) in enumerate([(100, None), (70, 1.0), (300, 0.2), (410, 0.5), (60, 0.3)]):
        decoding.start(holder, length, ratio if ratio != 1.0 else None)
    return decoding


def fail(message: str, *given: Any, **named: Any) -> None:
    raise AssertionError(message % given)
