"""A prompt assembled from chunks encoded elsewhere, the rows to recompute, and the evidence for choosing them."""

from functools import cached_property
from typing import NamedTuple

import torch
from torch.nn import functional

from quality.chains.model import Cache, ChainModel
from quality.chains.tasks import NAMES, Layout
from quality.references import METHODS, REFERENCES, part_moved
from reprise_reuse.methods import Evidence, choose

KINDS = ("alone", "averaged", "similar")
"""
alone      each chunk after BOS
averaged   mean over CONTEXTS random contexts, each BOS and PREDECESSORS chunks of other texts; keys at one position
similar    after the rows of the NEIGHBOURS chunks of this prompt that share most names with it (FusionRAG, 3.1)
"""
CONTEXTS, PREDECESSORS, NEIGHBOURS = 4, 2, 2
ASKED = 2
"""tokens per question"""


class Stored(NamedTuple):
    """What is stored before a question arrives: slot 0 is BOS, then the context, then empty slots for the question."""

    cache: Cache
    spread: torch.Tensor
    """float32 [batch, context]: see Evidence"""


class Prompts(NamedTuple):
    """A batch of contexts with one question each."""

    tokens: torch.Tensor
    """int64 [batch, 1 + context]: BOS and the context"""
    questions: torch.Tensor
    """int64 [batch, ASKED]"""


class Strangers(NamedTuple):
    """Contexts from other texts, after which chunks are encoded."""

    tokens: torch.Tensor
    """int64 [m, 1 + PREDECESSORS * chunk tokens], BOS first"""
    picked: torch.Tensor
    """int64 [CONTEXTS, batch * chunks]: which of them precedes each chunk"""


class Answered(NamedTuple):
    """The answers to the questions, and their attention."""

    answers: torch.Tensor
    """int64 [batch]"""
    attention: torch.Tensor
    """float32 [layers, batch, context]: the question's attention to each token of the context"""


def full(model: ChainModel, prompts: Prompts) -> Cache:
    """Returns the rows of full attention."""
    return _with_room(model(prompts.tokens, torch.arange(prompts.tokens.shape[1])).cache, ASKED)


def stored(model: ChainModel, kind: str, tokens: torch.Tensor, layout: Layout, strangers: Strangers) -> Stored:
    """
    Returns the rows of every chunk, encoded as `kind` says and turned to the chunk's position.

    The first chunk is where it would be on its own, so all kinds keep its exact rows.

    tokens   int64 [batch, 1 + context]
    """
    batch, size = len(tokens), layout.tokens
    chunks = tokens[:, 1:].reshape(-1, size)
    start = model(tokens[:1, :1], torch.zeros(1, dtype=torch.int64)).cache
    alone = _behind(model, _picked(start, torch.zeros(len(chunks), dtype=torch.int64)), chunks)
    rows, spread = alone, torch.zeros(chunks.shape)
    if kind == "averaged":
        rows, spread = _averaged(model, chunks, strangers)
    if kind == "similar":
        rows = _behind(model, _neighbours_rows(model, start, alone, chunks, layout), chunks)
    is_first = (torch.arange(len(chunks)) % layout.chunks == 0)[:, None]
    rows = Cache(*(torch.where(is_first[..., None, None], *pair) for pair in zip(alone, rows, strict=True)))
    distances = torch.arange(layout.chunks).repeat_interleave(size) * size
    rows = _turned(model, Cache(*(one.reshape(len(one), batch, -1, *one.shape[3:]) for one in rows)), distances)
    cache = Cache(
        *(torch.cat((one.expand(-1, batch, -1, -1, -1), two), 2) for one, two in zip(start, rows, strict=True))
    )
    return Stored(_with_room(cache, ASKED), spread.masked_fill(is_first, 0).view(batch, -1))


def recompute(model: ChainModel, cache: Cache, tokens: torch.Tensor, chosen: torch.Tensor, slices: int = 1) -> Cache:
    """
    Recomputes the chosen tokens of the context at their true positions, over the stored rows of the others.

    Rows are computed in ascending order, so each sees the new rows before it. One pass and slices give the same result.

    chosen   bool [batch, context], the same number in each prompt of the batch
    """
    positions, cache = _positions(chosen), Cache(cache.keys.clone(), cache.values.clone())
    for part in positions.tensor_split(slices, 1) if positions.shape[1] else ():
        cache = model(tokens.gather(1, part), part, cache=cache).cache
    return cache


def ask(model: ChainModel, cache: Cache, prompts: Prompts) -> Answered:
    """Computes the question's tokens over the stored rows."""
    context = prompts.tokens.shape[1]
    done = model(prompts.questions, context + torch.arange(ASKED), cache=cache, with_attention=True)
    return Answered(model.head(done.hidden[:, -1]).argmax(-1), done.attention[:, :, 1:context])


def repair_and_ask(model: ChainModel, cache: Cache, prompts: Prompts, chosen: torch.Tensor) -> torch.Tensor:
    """`recompute` and `ask` in one forward, as in an engine. Returns answers [batch]; the cache stays unchanged."""
    batch, context = prompts.tokens.shape
    again, last = _positions(chosen), (context + torch.arange(ASKED)).expand(batch, -1)
    tokens = torch.cat((prompts.tokens.gather(1, again), prompts.questions), 1)
    where = (slice(None), torch.arange(batch)[:, None], again)
    before = [held[where] for held in cache]
    hidden = model(tokens, torch.cat((again, last), 1), cache=cache).hidden
    for held, kept in zip(cache, before, strict=True):
        held[where] = kept
    return model.head(hidden[:, -1]).argmax(-1)


class Case:
    """A batch of prompts over one kind of stored rows: the answers without recomputation, and those after it."""

    def __init__(
        self,
        model: ChainModel,
        prompts: Prompts,
        layout: Layout,
        kind: str,
        strangers: Strangers,
        first_seed: int = 0,
        *,
        together: int = 1,
    ) -> None:
        """together: how many neighbours in the batch share what is computed again"""
        self.model, self.prompts = model, prompts
        self.held = stored(model, kind, prompts.tokens, layout, strangers)
        self.exact = full(model, prompts)
        self._together = together
        self.naive, self.whole = (self._asked(cache) for cache in (self.held.cache, self.exact))
        context = prompts.tokens.shape[1]
        self._key_deviation, self.deviation = (
            (held - exact)[:, :, 1:context].flatten(3).norm(dim=-1)
            for held, exact in zip(self.held.cache, self.exact, strict=True)
        )
        self.size = self.exact.values[:, :, 1:context].flatten(3).norm(dim=-1)
        self._offset = (torch.arange(layout.context) % layout.tokens).float()
        # the first chunk's rows are exact, so no method spends budget on them
        self.first = layout.tokens
        self._candidates = torch.arange(self.first, layout.context)
        self._first_seed = first_seed

    def _asked(self, cache: Cache) -> Answered:
        done = ask(self.model, cache, self.prompts)
        return done._replace(attention=self._shared(done.attention))

    def _shared(self, attention: torch.Tensor) -> torch.Tensor:
        """The mean over questions that are asked together, for each of them; [layers, batch, n]"""
        mean = attention.unflatten(1, (-1, self._together)).mean(2)
        return mean.repeat_interleave(self._together, 1)

    @cached_property
    def _context_attention(self) -> torch.Tensor:
        everything = torch.cat((self.prompts.tokens, self.prompts.questions), 1)
        paid = self.model(everything, torch.arange(everything.shape[1]), with_attention=True).attention
        return self._shared(paid[:, :, 1 : self.prompts.tokens.shape[1]])

    @cached_property
    def _output_deviation(self) -> torch.Tensor:
        context = self.prompts.tokens.shape[1]
        exact, held = (cache.values[:, :, 1:context].flatten(0, 2) for cache in (self.exact, self.held.cache))
        paid, stale = self.whole.attention, self.naive.attention
        return part_moved(paid.flatten(), exact, stale.flatten(), held).view_as(paid)

    def evidence(self, index: int, *, is_reference: bool) -> Evidence:
        """The evidence for one prompt of the batch; includes a full prefill only if it is for reference."""
        return Evidence(
            attention=self.naive.attention[:, index],
            spread=self.held.spread[index],
            offset=self._offset,
            more=self._prefill(index) if is_reference else {},
            seed=self._first_seed + index,
        )

    def _prefill(self, index: int) -> dict[str, torch.Tensor]:
        return {
            "deviation": self.deviation[:, index],
            "key_deviation": self._key_deviation[:, index],
            "context_attention": self._context_attention[:, index],
            "full_attention": self.whole.attention[:, index],
            "output_deviation": self._output_deviation[:, index],
        }

    def scores(self, method: str) -> torch.Tensor:
        """float32 [batch, context]"""
        chosen, batch = METHODS[method], range(len(self.prompts.tokens))
        return torch.stack([chosen.score(self.evidence(i, is_reference=method in REFERENCES)) for i in batch])

    def repaired(self, scores: torch.Tensor, ratio: float) -> torch.Tensor:
        """Returns the answers [batch] after recomputing the `ratio` of context tokens with the highest scores."""
        budget = round(ratio * scores.shape[1])
        chosen = torch.zeros_like(scores, dtype=torch.bool)
        chosen.scatter_(1, torch.stack([choose(score, self._candidates, budget) for score in scores]), True)
        return repair_and_ask(self.model, self.held.cache, self.prompts, chosen)

    def count(self, found: torch.Tensor, answers: torch.Tensor) -> int:
        """How many questions are answered right, or, of those asked together, how many times all are."""
        return int((found == answers).view(-1, self._together).all(1).sum())


def _positions(chosen: torch.Tensor) -> torch.Tensor:
    """Positions, counting BOS, of the context's chosen tokens [batch, context]; int64 [batch, chosen], ascending."""
    return chosen.nonzero()[:, 1].view(len(chosen), -1) + 1


def _with_room(cache: Cache, slots: int) -> Cache:
    """Appends empty slots to a cache."""
    return Cache(*(functional.pad(rows, (0, 0, 0, 0, 0, slots)) for rows in cache))


def _picked(cache: Cache, which: torch.Tensor) -> Cache:
    return Cache(cache.keys[:, which], cache.values[:, which])


def _turned(model: ChainModel, rows: Cache, distances: torch.Tensor) -> Cache:
    rotation = model.rotation()
    return Cache(rotation.turn(rows.keys, rotation.tables(distances)), rows.values)


def _behind(model: ChainModel, before: Cache, chunks: torch.Tensor) -> Cache:
    """Rows of chunks [n, tokens], each encoded after its own entry of `before`, turned to its position on its own."""
    begin, size = before.keys.shape[2], chunks.shape[1]
    cache = model(chunks, begin + torch.arange(size), cache=_with_room(before, size)).cache
    own = Cache(cache.keys[:, :, begin:], cache.values[:, :, begin:])
    return _turned(model, own, torch.full((size,), 1 - begin))


def _averaged(model: ChainModel, chunks: torch.Tensor, strangers: Strangers) -> tuple[Cache, torch.Tensor]:
    """Returns the mean over contexts, and the root of the summed variance of each token's values."""
    before = model(strangers.tokens, torch.arange(strangers.tokens.shape[1])).cache
    contexts = [_behind(model, _picked(before, which), chunks) for which in strangers.picked]
    keys, values = (torch.stack(of_all) for of_all in zip(*contexts, strict=True))
    return Cache(keys.mean(0), values.mean(0)), values.var(0, correction=0).sum((0, 3, 4)).sqrt()


def _neighbours_rows(model: ChainModel, start: Cache, alone: Cache, chunks: torch.Tensor, layout: Layout) -> Cache:
    """Returns BOS and the stored rows of each chunk's neighbours, most similar first."""
    nearest = neighbours(chunks.view(-1, layout.chunks, layout.tokens))
    count, size = len(chunks), layout.tokens
    picked = nearest + torch.arange(0, count, layout.chunks)[:, None, None]
    rows = Cache(*(one.flatten(2, 3) for one in _picked(alone, picked.view(count, -1))))
    rows = _turned(model, rows, torch.arange(NEIGHBOURS).repeat_interleave(size) * size)
    return Cache(
        *(torch.cat((one.expand(-1, count, -1, -1, -1), two), 2) for one, two in zip(start, rows, strict=True))
    )


def neighbours(chunks: torch.Tensor) -> torch.Tensor:
    """The chunks of the same prompt [batch, chunks, tokens] that share most names; [batch, chunks, NEIGHBOURS]."""
    names = torch.stack([(chunks == name).any(-1) for name in NAMES], -1).float()
    shared = names @ names.transpose(1, 2)
    shared.diagonal(dim1=1, dim2=2).fill_(-1)
    return shared.sort(dim=-1, descending=True, stable=True).indices[..., :NEIGHBOURS]
