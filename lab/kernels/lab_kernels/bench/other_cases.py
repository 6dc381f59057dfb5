"""The other kernels against plain copies and torch's operations."""

from collections.abc import Iterator

import torch
from comparison import assert_close

from lab_kernels.bench.attention_cases import paged
from lab_kernels.bench.case import Case, Run, Shape
from lab_kernels.hierarchical_select import Hierarchy, hierarchical_select, naive_hierarchical_select
from lab_kernels.rope_shift import naive_rope_shift, rope_shift
from lab_kernels.rope_shift.rotary import llama3_rotary
from lab_kernels.select_tokens import naive_select_tokens, select_tokens
from reprise_kernels.kv_copy import rows_to_device, rows_to_host
from reprise_kernels.kv_fill import RowsOfLayers, Turns, kv_fill, naive_kv_fill
from reprise_kernels.question_scores import question_scores
from reprise_kernels.sparse_prefill_attention import sparse_prefill_attention

CHUNK = 512
RATIO = 0.15
HOST_ROWS = 16 * 64
FILLED_LAYERS = 4


def rope_cases(shape: Shape) -> Iterator[Case]:
    """Moves all keys of a layer in place, chunk by chunk."""
    keys, _, pages = paged(shape, 1)
    slots = shape.indices((pages[0, :, None] * shape.page_size + torch.arange(shape.page_size)).flatten())
    move = shape.indices(torch.arange(len(slots)) // CHUNK)
    distances = torch.arange(int(move[-1]) + 1, device=shape.device) * 100
    rotary = llama3_rotary(shape.head_dim)
    # once per step, not once per layer, as an engine does it
    turns = rotary.turns(distances)

    def check() -> None:
        some = slots[: 2 * shape.page_size].contiguous()
        expected = naive_rope_shift(keys.cpu(), some.cpu(), move.cpu(), distances.cpu(), rotary, keys.cpu(), some.cpu())
        assert_close("keys", rope_shift(keys.clone(), some, move[: len(some)], turns, rotary), expected)

    size = 2.0 * keys.numel() * keys.element_size()
    run = lambda: rope_shift(keys, slots, move, turns, rotary)  # noqa: E731
    yield Case("rope_shift in place", run, check, 3.0 * keys.numel(), size, "memory", {"clone": lambda: keys.clone})


def score_cases(shape: Shape) -> Iterator[Case]:
    """The question's scores for one layer."""
    k, v, pages = paged(shape, 1)
    slots = (pages[:, :, None] * shape.page_size + torch.arange(shape.page_size)).flatten(1)
    q = shape.randn(shape.question, shape.q_heads, shape.head_dim)
    q_pos = torch.arange(shape.context - shape.question, shape.context)
    where = {
        "q": q, "q_pos": shape.indices(q_pos), "cu_q": shape.indices(torch.tensor([0, shape.question])), "k": k,
        "slot_table": shape.indices(slots), "kv_len": shape.indices(torch.tensor([shape.context])),
    }  # fmt: skip
    _, lse = sparse_prefill_attention(**where, v=v)
    group = shape.q_heads // shape.kv_heads
    contiguous = k.flatten(0, 1)[slots[0].to(shape.device)].transpose(0, 1).contiguous()  # [Hkv, N, D]
    rows = q.transpose(0, 1).reshape(shape.kv_heads, group * shape.question, shape.head_dim)
    hidden = torch.arange(shape.context, device=shape.device) > where["q_pos"].repeat(group)[:, None]

    def materialised() -> torch.Tensor:
        logits = (rows @ contiguous.transpose(1, 2)).float() * shape.head_dim**-0.5
        return logits.masked_fill(hidden, -torch.inf).softmax(-1).mean((0, 1))

    def check() -> None:
        logits = rows.double() @ contiguous.double().transpose(1, 2) * shape.head_dim**-0.5
        exact = logits.masked_fill(hidden, -torch.inf).softmax(-1).mean((0, 1))
        assert_close("scores", question_scores(**where, lse=lse)[0], exact, shape.dtype)

    flops = 2.0 * shape.question * shape.q_heads * shape.context * shape.head_dim
    size = float(k.numel() * k.element_size())
    yield Case(
        "question_scores, one layer", lambda: question_scores(**where, lse=lse), check, flops, size, "read",
        {"softmax, materialised": lambda: materialised},
    )  # fmt: skip


def select_cases(shape: Shape) -> Iterator[Case]:
    """Selects the best share of one context's tokens."""
    scores = torch.rand(1, shape.context, device=shape.device)
    length, wanted = shape.indices(torch.tensor([shape.context])), -(-int(RATIO * 100) * shape.context // 100)

    def check() -> None:
        positions, _ = select_tokens(scores, length, RATIO)
        if not torch.equal(positions.cpu(), naive_select_tokens(scores.cpu(), length.cpu(), RATIO)[0]):
            raise AssertionError("the selected positions are not the specified ones")

    def torch_topk() -> torch.Tensor:
        return scores.topk(wanted, sorted=False).indices.sort().values

    yield Case(
        f"select_tokens, {RATIO:.0%}", lambda: select_tokens(scores, length, RATIO), check, 0.0,
        4.0 * scores.numel(), None, {"topk and sort": lambda: torch_topk}, graph=True,
    )  # fmt: skip


def page_cases(shape: Shape) -> Iterator[Case]:
    """Selects pages by one layer's summaries."""
    for requests in (shape.batches[0], shape.batches[-1]):
        count = shape.context // shape.page_size
        columns = shape.kv_heads * shape.head_dim
        summaries, anchor = shape.randn(requests * count, columns), shape.randn(requests, columns, dtype=torch.float32)
        table = shape.indices(torch.randperm(requests * count).view(requests, count))
        counts = shape.indices(torch.full((requests,), count))
        arguments = (anchor, summaries, table, counts, Hierarchy())

        def matmul(anchor: torch.Tensor = anchor, summaries: torch.Tensor = summaries, n: int = requests) -> Run:
            gathered = summaries.view(n, -1, summaries.shape[1])
            return lambda: gathered @ anchor.to(gathered.dtype)[:, :, None]

        yield Case(
            f"hierarchical_select, batch {requests}", lambda arguments=arguments: hierarchical_select(*arguments),
            _check_selection(arguments), 2.0 * summaries.numel(), float(summaries.numel() * summaries.element_size()),
            "read", {"matmul of the scores alone": matmul}, graph=True,
        )  # fmt: skip


def _check_selection(arguments: tuple) -> Run:
    """Checks sinks, window and order only, since near-equal scores may end up on either side; a small case exactly."""

    def check() -> None:
        anchor, _, table, counts, hierarchy = arguments
        _check_small_selection(anchor.shape[1], hierarchy, anchor.device)
        chosen, kept = hierarchical_select(*arguments)
        for b in range(len(anchor)):
            listed = chosen[b, : int(kept[b])].tolist()
            always = {*range(hierarchy.sinks), *range(int(counts[b]) - hierarchy.recent, int(counts[b]))}
            if listed != sorted(set(listed)) or not always <= set(listed) or len(listed) > table.shape[1]:
                raise AssertionError(f"request {b}: pages are missing, come twice, or are out of order")

    return check


def _check_small_selection(columns: int, hierarchy: Hierarchy, device: torch.device) -> None:
    # integers, and chunks and grids that are full or a power of 2: nothing is rounded
    random = torch.Generator().manual_seed(columns)
    pages = 2 * hierarchy.chunks * hierarchy.pages + hierarchy.recent
    anchor = torch.randint(-3, 4, (1, columns), generator=random).float()
    summaries = torch.randint(-3, 4, (pages, columns), generator=random).float()
    table = torch.randperm(pages, generator=random)[None].to(torch.int32)
    given = (anchor, summaries, table, torch.tensor([pages], dtype=torch.int32))
    chosen, _ = hierarchical_select(*(each.to(device) for each in given), hierarchy)
    if not torch.equal(chosen.cpu(), naive_hierarchical_select(*given, hierarchy)[0]):
        raise AssertionError("the selected pages are not the specified ones")


def copy_cases(shape: Shape) -> Iterator[Case]:
    """Copies rows of one layer to pinned host memory and back."""
    host = torch.empty((HOST_ROWS, shape.kv_heads, shape.head_dim), dtype=shape.dtype)
    host = host.pin_memory() if shape.device == "cuda" else host
    rows, slots = shape.randn(*host.shape), shape.indices(torch.randperm(HOST_ROWS))

    def check() -> None:
        rows_to_host(rows, host, slots)
        if not torch.equal(rows_to_device(host, slots), rows):
            raise AssertionError("rows do not come back as they went")

    amount = float(host.numel() * host.element_size())

    def store() -> None:
        rows_to_host(rows, host, slots)

    def load() -> None:
        rows_to_device(host, slots)

    for name, bound, copy, rival in (
        ("to the host", "to_host", store, lambda: host.copy_(rows, non_blocking=True)),
        ("to the device", "to_device", load, lambda: rows.copy_(host, non_blocking=True)),
    ):
        yield Case(
            f"kv_copy {name}", copy, check, 0.0, amount, bound,
            {"one pinned copy of the same bytes": lambda rival=rival: rival},
        )  # fmt: skip


def fill_cases(shape: Shape) -> Iterator[Case]:
    """Fills rows of a few layers from others of the same pages, with keys 100 positions on."""
    count, device = shape.context, torch.device(shape.device)
    pages = [shape.randn(2 * count, shape.kv_heads, 2 * shape.head_dim) for _ in range(FILLED_LAYERS)]
    layers = [one.split(shape.head_dim, -1) for one in pages]
    rows = RowsOfLayers.of(layers, device)
    places = torch.randperm(2 * count)
    source, target = (shape.indices(one) for one in places.split(count))
    distances = shape.indices(torch.full((count,), 100))
    turns = llama3_rotary(shape.head_dim).turns(torch.arange(101, device=device))

    def run() -> None:
        kv_fill(rows, source, rows, target, distances, turns, interleaved=False)

    def check() -> None:
        some = slice(0, 64)
        given = [one[some].contiguous() for one in (source, target, distances)]
        cpu = [tuple(half.cpu() for half in one) for one in layers]
        angles = Turns(turns.cos.cpu(), turns.sin.cpu())
        one, other, far = (each.cpu() for each in given)
        expected = naive_kv_fill(cpu, one, cpu, other, far, angles, interleaved=False)
        kv_fill(rows, given[0], rows, given[1], given[2], turns, interleaved=False)
        for (keys, values), (wanted_keys, wanted_values) in zip(layers, expected, strict=True):
            assert_close("keys", keys[given[1].long()], wanted_keys[other.long()])
            assert_close("values", values[given[1].long()], wanted_values[other.long()])

    amount = 2.0 * FILLED_LAYERS * count * shape.kv_heads * 2 * shape.head_dim * pages[0].element_size()
    half = [one[:count] for one in pages]
    yield Case(
        "kv_fill in pages", run, check, 3.0 * FILLED_LAYERS * count * shape.kv_heads * shape.head_dim, amount, "memory",
        {"clone": lambda: lambda: [one.clone() for one in half]},
    )  # fmt: skip
