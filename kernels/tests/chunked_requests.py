"""Requests built from shared chunks, with some tokens recomputed, in both cache layouts."""

from dataclasses import dataclass

import torch
from cases import DEVICE, generator, indices, normal
from comparison import poisoned


@dataclass
class Shape:
    """The randomly drawn properties of a batch."""

    seed: int
    page_size: int
    kv_heads: int
    group: int
    head_dim: int
    requests: int
    recompute: float
    question: int


@dataclass
class Requests:
    """A batch in both layouts."""

    q: torch.Tensor
    q_pos: torch.Tensor
    cu_q: torch.Tensor
    k: torch.Tensor
    v: torch.Tensor
    slot_table: torch.Tensor
    kv_len: torch.Tensor
    shared_table: torch.Tensor
    shared_len: torch.Tensor
    own_table: torch.Tensor
    own_pos: torch.Tensor

    def cpu(self, *names: str) -> list[torch.Tensor]:
        """Returns these tensors on the CPU, where the specifications want them."""
        return [getattr(self, name).cpu() for name in names]


def _draw(low: int, high: int, random: torch.Generator) -> int:
    return int(torch.randint(low, high + 1, (1,), generator=random))


def draw_requests(shape: Shape, dtype: torch.dtype) -> Requests:
    """Draws a batch with chunks in permuted pages, shared between requests, some of them twice in one request.

    Whatever no request may read is NaN: stale originals that nothing else reads, the tails of pages, unused pages.
    """
    random = generator(shape.seed)
    size = shape.page_size
    # small, because under the interpreter a program takes tens of milliseconds
    chunk_pages = [_draw(1, 2 if size == 16 else 1, random) for _ in range(3)]
    free = torch.randperm(60, generator=random).tolist()
    chunks = [[free.pop() for _ in range(count)] for count in chunk_pages]
    slots, shared, own, own_places, queries = [], [], [], [], []
    for _ in range(shape.requests):
        # a chunk may appear twice, and a request may have no context at all
        order = [chunks[_draw(0, 2, random)] for _ in range(_draw(0, 3 if size < 64 else 1, random))]
        pages = [page for chunk in order for page in chunk]
        context = max(len(pages) * size - _draw(0, size - 1, random), 0)
        chosen = torch.rand(context, generator=random) < shape.recompute
        mine = torch.cat([chosen.nonzero()[:, 0], context + torch.arange(shape.question)])
        mine_shuffled = mine[torch.randperm(len(mine), generator=random)]
        own_pages = [free.pop() for _ in range(-(-len(mine) // size))]
        table = torch.tensor([page * size + j for page in pages for j in range(size)][:context], dtype=torch.long)
        table = torch.cat([table, torch.zeros(shape.question, dtype=torch.long)])
        for place, position in enumerate(mine_shuffled.tolist()):
            table[position] = own_pages[place // size] * size + place % size
        slots.append(table)
        shared.append(pages)
        own.append(own_pages)
        own_places.append(mine_shuffled)
        queries.append(mine)
    tensors = _caches(shape, slots, dtype, random)
    tokens = sum(len(mine) for mine in queries)
    return Requests(
        q=normal((tokens, shape.kv_heads * shape.group, shape.head_dim), dtype, random),
        q_pos=indices(torch.cat(queries)),
        cu_q=indices([0, *torch.tensor([len(mine) for mine in queries]).cumsum(0).tolist()]),
        k=tensors[0],
        v=tensors[1],
        slot_table=_rows(slots, 0),
        kv_len=indices([len(table) for table in slots]),
        shared_table=_rows([torch.tensor(pages, dtype=torch.long) for pages in shared], -1),
        shared_len=indices([len(t) - shape.question for t in slots]),
        own_table=_rows([torch.tensor(pages, dtype=torch.long) for pages in own], -1),
        own_pos=_rows(own_places, -1, max(1, *(len(pages) for pages in own)) * size),
    )


def _caches(shape: Shape, slots: list[torch.Tensor], dtype: torch.dtype, random: torch.Generator) -> list[torch.Tensor]:
    """Returns keys and values as halves of one tensor; NaN wherever no request reads."""
    whole = poisoned((2, 60, shape.page_size, shape.kv_heads, shape.head_dim), dtype, DEVICE)
    read = torch.cat(slots).unique().to(DEVICE)
    for half in whole:
        half.flatten(0, 1)[read] = normal((len(read), shape.kv_heads, shape.head_dim), dtype, random)
    return list(whole)


def _rows(rows: list[torch.Tensor], padding: int, width: int = 1) -> torch.Tensor:
    """Returns the rows as one int32 table."""
    table = torch.full((len(rows), max(width, *(len(row) for row in rows))), padding)
    for b, row in enumerate(rows):
        table[b, : len(row)] = row
    return indices(table)
