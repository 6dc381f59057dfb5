"""The evidence by which methods choose rows, read from the engine's model and pages."""

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch

from reprise_reuse.device import to_device
from reprise_reuse.pieces import Load
from reprise_reuse.question_attention import QuestionAttention, SplitQuestionAttention
from reprise_reuse.rows.engine_parts import Attend, Forward, InPlace, Layout

if TYPE_CHECKING:
    from reprise_reuse.rows.captured_passes import CapturedPasses
    from reprise_reuse.rows.row_choice import OpenLoad


class Sight(NamedTuple):
    """What a layer attends to."""

    group: int = 0
    """whose blocks hold its keys and values"""
    window: int | None = None
    """how many tokens each one sees, itself included; None: all before it"""
    sinks: torch.Tensor | None = None
    """[query heads]: logits beside those of the keys, to which weights go without values"""

    @property
    def is_everything(self) -> bool:
        """Whether it is all that stands before a token, in a model with one kind of layers, and nothing else."""
        return self.group == 0 and self.window is None and self.sinks is None

    def sees(self, queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """Returns which keys are seen from where; bool [n, m], for positions int64 [n] and [m]."""
        distance = queries[:, None] - keys
        return distance >= 0 if self.window is None else (distance >= 0) & (distance < self.window)


class PromptPages:
    """The engine's model and its pages: what choosing rows reads."""

    def __init__(
        self, forward: Forward, layout: Layout, caches: Sequence[torch.Tensor], scale: float,
        positions: int, ranks: int, sights: Sequence[Sight] = (),
    ) -> None:  # fmt: skip
        """caches, sights: of each layer, by default all see everything; scale: of attention's logits"""
        self.forward = forward
        self.scale = scale
        self.positions = positions
        """how many positions the model has"""
        self._layout = layout
        self._caches = caches
        self.sights = sights or [Sight()] * len(caches)
        self.ranks = ranks
        """tensor-parallel ranks"""
        self.reads_in_place = False
        """whether the attention of questions and rows is computed by kernels that read the pages where they are"""
        self.captured: CapturedPasses | None = None
        """what replays passes as graphs, where they are short enough; with `reads_in_place` only"""

    @property
    def layers(self) -> int:
        """The number of attention layers."""
        return len(self._caches)

    @property
    def groups(self) -> int:
        """The number of groups of layers, each of which has blocks of its own."""
        return 1 + max(sight.group for sight in self.sights)

    @property
    def have_windows(self) -> bool:
        """Whether layers differ in their blocks, or see a window only: then blocks may not hold all of a request."""
        return self.groups > 1 or any(sight.window is not None for sight in self.sights)

    def rows_of(self, layer: int, blocks: torch.Tensor, begin: int, end: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Reads keys and values [end - begin, heads, head size] of a request's rows, given its blocks [groups, m].

        Of rows behind which the layer sees no more, anything is returned.
        """
        return self._layout.read(self._caches[layer], blocks[self.sights[layer].group], begin, end)

    def in_place(self, layer: int) -> InPlace:
        """Returns all rows of a layer's pages where they are, for kernels to read."""
        return self._every_in_place[layer]

    def places(self, slots: np.ndarray) -> np.ndarray:
        """Returns where slots of the engine's cache (int64 [n]) are in what `in_place` returns for any layer; int64.

        Raises ValueError if the layers' pages are not laid out alike.
        """
        return self._layout.places(slots, self._every_in_place[0].span)

    @cached_property
    def _every_in_place(self) -> list[InPlace]:
        if len({(cache.shape, cache.stride()) for cache in self._caches}) != 1:
            raise ValueError("the pages of the layers are not laid out alike")
        return [self._layout.in_place(cache) for cache in self._caches]

    def sum_over_ranks(self, scores: torch.Tensor) -> torch.Tensor:
        """Sums scores over tensor-parallel ranks: each sees only its own heads, but all must choose the same rows."""
        return scores if self.ranks == 1 else self.forward.add_up(scores)


def attention_of_questions(prompt: PromptPages, opened: "Sequence[OpenLoad]") -> list[torch.Tensor]:
    """Returns each question's attention to its context tokens (ProphetKV, stage I); float32 [layers, end] each.

    Only rows whose pages are filled are seen. All questions are asked in one forward pass. Raises on a rank where a
    layer's attention failed, but only after it has taken part in what the ranks add up, so that none waits.
    """
    if not opened:
        return []
    device = opened[0].device
    known = [np.flatnonzero(one.known) for one in opened]
    if prompt.captured is not None and len(opened) == 1 and prompt.captured.question.takes(opened[0].load):
        return [_spread_out(prompt.captured.question.ask(opened[0]), known[0], opened[0])]
    scores = torch.zeros(prompt.layers, len(opened), max(map(len, known)), device=device)
    attend = (attend_in_place if prompt.reads_in_place else attend_to_copies)(prompt, opened, scores)
    faults: list[Exception] = []

    def attend_or_note(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, output: torch.Tensor) -> None:
        try:
            if not faults:
                attend(layer, q, k, v, output)
        except Exception as fault:
            faults.append(fault)

    tokens = np.concatenate([one.load.tokens[one.load.question] for one in opened])
    positions = np.concatenate([asked_at(one.load, prompt.positions) for one in opened])
    prompt.forward.ask(to_device(tokens, device), to_device(positions, device), attend_or_note)
    scores = prompt.sum_over_ranks(scores)
    if faults:
        raise faults[0]
    return [
        _spread_out(scores[:, at, : len(rows)], rows, one)
        for at, (one, rows) in enumerate(zip(opened, known, strict=True))
    ]


def _spread_out(scores: torch.Tensor, known: np.ndarray, one: "OpenLoad") -> torch.Tensor:
    if len(known) == one.load.end:
        return scores
    every = torch.zeros(len(scores), one.load.end, device=scores.device)
    return every.index_copy_(1, to_device(known, scores.device), scores)


def attend_to_copies(prompt: PromptPages, opened: "Sequence[OpenLoad]", scores: torch.Tensor) -> Attend:
    """Returns the attention of questions to known rows, in torch; adds mean weights to scores [layers, n, m]."""
    counts = [len(one.load.question) for one in opened]
    at = [to_device(np.flatnonzero(one.known), scores.device) for one in opened]

    @cache
    def sees(window: int | None, number: int) -> torch.Tensor:
        one, count = opened[number], counts[number]
        own = torch.ones(count, count, dtype=torch.bool, device=scores.device).tril()
        seen = to_device(one.known, scores.device).expand(count, -1)
        if window is None:
            return own if one.known.all() else torch.cat((seen, own), 1)
        asked = to_device(asked_at(one.load, prompt.positions), scores.device)
        places, of_window = torch.arange(one.load.end, device=scores.device), Sight(window=window)
        return torch.cat((seen & of_window.sees(asked, places), own & of_window.sees(asked, asked)), 1)

    def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, output: torch.Tensor) -> None:
        parts = zip(*(one.split(counts) for one in (q, k, v, output)), strict=True)
        for number, (*given, out) in enumerate(parts):
            out.copy_(attend_one(layer, number, *given).view(out.shape))

    def attend_one(layer: int, number: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        one, end, count = opened[number], opened[number].load.end, counts[number]
        keys, values = prompt.rows_of(layer, one.blocks, 0, end)
        sight = prompt.sights[layer]
        own_keys, own_values, queries = as_rows(k, keys), as_rows(v, values), q.view(count, keys.shape[1], -1)
        outputs, total = [], torch.zeros(end, device=scores.device)
        # one head after the other: an engine's accounting leaves no room for the weights of all
        for head in range(keys.shape[1]):
            weights, output = attend_over(
                queries[:, head],
                torch.cat((keys[:, head], own_keys[:, head])).T[None],
                torch.cat((values[:, head], own_values[:, head]))[None],
                scale=prompt.scale, sees=sees(sight.window, number), sinks=of_head(sight.sinks, head, keys.shape[1]),
            )  # fmt: skip
            total += weights[..., :end].sum((0, 1))
            outputs.append(output)
        every = torch.cat(outputs, 1)
        scores[layer, number, : len(at[number])] += total[at[number]] / (count * every.shape[1])
        return every

    return attend


def attend_in_place(prompt: PromptPages, opened: "Sequence[OpenLoad]", scores: torch.Tensor) -> Attend:
    """Returns the same as `attend_to_copies`, by kernels that read the pages where they are."""
    counts = [len(one.load.question) for one in opened]
    places = [prompt.places(one.slots[one.known]).astype(np.int32) for one in opened]
    return attend_by(prompt, QuestionAttention(counts, places, prompt.scale, scores.device), scores)


def attend_by(
    prompt: PromptPages, question: QuestionAttention | SplitQuestionAttention, scores: torch.Tensor
) -> Attend:
    """Returns a question's attention, by kernels, in each layer; adds mean weights to scores [layers, n, m]."""

    def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, output: torch.Tensor) -> None:
        keys, values, _ = prompt.in_place(layer)
        q, output = (one.view(len(q), -1, keys.shape[3]) for one in (q, output))
        question.attend(q, as_rows(k, keys[0]), as_rows(v, keys[0]), keys, values, scores[layer], output)

    return attend


def asked_at(load: Load, positions: int) -> np.ndarray:
    """Returns the question's positions: its own, or positions after the context if it starts before the context's end.

    positions  the model's limit; near it, the question is placed among the context's last tokens
    """
    if load.question[0] >= load.end:
        return np.array(load.question, dtype=np.int64)
    first = min(load.end, positions - len(load.question))
    return np.arange(first, first + len(load.question))


def attend_over(
    q: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, *, scale: float, sees: torch.Tensor,
    sinks: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """Computes attention of queries over keys [heads, size, m] and values [heads, m, size].

    sees  bool [n, c]: which of the last c keys each of the n queries sees; every query sees all earlier keys
    sinks  [query heads]: logits beside those of the keys

    Returns the weights [heads, group x n, m], and the output [n, query heads, size].
    """
    n, (heads, size, m) = len(sees), keys.shape
    queries = (q.float() * scale).view(n, heads, -1, size).permute(1, 2, 0, 3).flatten(1, 2)
    logits = multiply(queries, keys.float()).view(heads, -1, n, m)
    logits[..., m - sees.shape[1] :].masked_fill_(~sees, -torch.inf)
    if sinks is not None:
        logits = torch.cat((logits, sinks.to(logits).view(heads, -1, 1, 1).expand(-1, -1, n, 1)), -1)
    weights = logits.softmax(-1)[..., :m].reshape(heads, -1, m)
    output = multiply(weights, values.float())
    return weights, output.view(heads, -1, n, size).permute(2, 0, 1, 3).flatten(1, 2).to(q.dtype)


def attend_to_rows(
    prompt: PromptPages, layer: int, q: torch.Tensor, rows: tuple[torch.Tensor, torch.Tensor], sees: torch.Tensor,
    output: torch.Tensor,
) -> None:  # fmt: skip
    """Computes a layer's attention over a request's keys and values [m, heads, size], of queries that `sees` [n, m]."""
    keys, values = rows
    attended = attend_over(
        q, keys.permute(1, 2, 0), values.transpose(0, 1), scale=prompt.scale, sees=sees,
        sinks=prompt.sights[layer].sinks,
    )  # fmt: skip
    output.copy_(attended[1].view(output.shape))


def of_head(sinks: torch.Tensor | None, head: int, heads: int) -> torch.Tensor | None:
    """Returns the sinks of the queries that read one of `heads` heads of keys and values."""
    return None if sinks is None else sinks.view(heads, -1)[head]


def as_rows(flat: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Reshapes keys or values of a layer's forward to rows [n, heads, head size]."""
    return flat.reshape(-1, *like.shape[1:])


def multiply(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Returns a @ b; float32 [heads, m, k] and [heads, k, n].

    On a CPU, torch computes float32 products with MKL, and uses oneDNN only in linear layers. On one core of an AMD
    EPYC, MKL reaches 75 GFLOP/s and oneDNN 190.
    """
    linear = _linear() if a.device.type == "cpu" else None
    if linear is None:
        return a @ b
    # tensors that are not contiguous would be computed by reference code, a thousand times slower
    pairs = zip(a.contiguous(), b.contiguous(), strict=True)
    return torch.stack([linear(x, y.T, None, "none", [], "") for x, y in pairs])


@cache
def _linear() -> Callable[..., torch.Tensor] | None:
    """Returns the operation used by torch's compiled linear layers (input, weight, bias, fused op); None without it."""
    has_it = torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")
    return torch.ops.mkldnn._linear_pointwise if has_it else None
