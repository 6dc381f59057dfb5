"""The evidence by which methods choose rows, read from the engine's model and pages."""

from collections.abc import Sequence

import torch

from reprise_reuse.question_attention import QuestionAttention
from reprise_vllm.engine.nested_forward import Attend, NestedForward
from reprise_vllm.engine.page_layout import InPlace, PageLayout
from reprise_vllm.reuse.messages import Load
from reprise_vllm.reuse.worker.multiply import multiply


class PromptPages:
    """The engine's model and its pages: what choosing rows reads."""

    def __init__(
        self, forward: NestedForward, layout: PageLayout, caches: Sequence[torch.Tensor], scale: float,
        positions: int, ranks: int,
    ) -> None:  # fmt: skip
        """caches: the pages of each layer; scale: of attention's logits"""
        self.forward = forward
        self.scale = scale
        self.positions = positions
        """how many positions the model has"""
        self._layout = layout
        self._caches = caches
        self.ranks = ranks
        """tensor-parallel ranks"""
        self.reads_in_place = False
        """whether the question's attention is computed by kernels that read the pages where they are"""

    @property
    def layers(self) -> int:
        """The number of attention layers."""
        return len(self._caches)

    def rows_of(self, layer: int, blocks: torch.Tensor, begin: int, end: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Reads keys and values [end - begin, heads, head size] of a request's rows from the pages of its blocks."""
        return self._layout.read(self._caches[layer], blocks, begin, end)

    def in_place(self, layer: int) -> InPlace:
        """Returns all rows of a layer's pages where they are, for kernels to read."""
        return self._layout.in_place(self._caches[layer])

    def slots_in_place(self, blocks: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        """Returns where a request's rows (int64 [n]) are in what `in_place` returns for any layer; int32 [n].

        Raises ValueError if the layers' pages are not laid out alike.
        """
        if len({(cache.shape, cache.stride()) for cache in self._caches}) != 1:
            raise ValueError("the pages of the layers are not laid out alike")
        return self.in_place(0).slots_of(blocks, rows, self._layout.block_size)

    def sum_over_ranks(self, scores: torch.Tensor) -> torch.Tensor:
        """Sums scores over tensor-parallel ranks: each sees only its own heads, but all must choose the same rows."""
        if self.ranks == 1:
            return scores
        from vllm.distributed import tensor_model_parallel_all_reduce

        return tensor_model_parallel_all_reduce(scores)


def attention_of_question(
    prompt: PromptPages, tokens: torch.Tensor, blocks: torch.Tensor, load: Load, known: torch.Tensor
) -> torch.Tensor:
    """Returns the question's attention to each context token (ProphetKV, stage I); float32 [layers, end].

    known  bool [end]: rows whose pages are filled; the others are masked

    Raises on all ranks if a layer's attention failed on one: until then each takes part in what the model adds up.
    """
    question = torch.tensor(load.question, dtype=torch.int64, device=tokens.device)
    scores = torch.zeros(prompt.layers, load.end, device=tokens.device)
    way = attend_in_place if prompt.reads_in_place else attend_to_copies
    attend = way(prompt, blocks, known, len(question), scores)
    faults: list[Exception] = []

    def attend_or_note(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        try:
            return torch.zeros_like(q) if faults else attend(layer, q, k, v)
        except Exception as fault:
            faults.append(fault)
            return torch.zeros_like(q)

    prompt.forward.ask(tokens[question], _asked_at(load, prompt.positions, tokens.device), attend_or_note)
    failed = torch.full((prompt.layers, 1), float(bool(faults)), device=scores.device)
    scores = prompt.sum_over_ranks(torch.cat((scores, failed), 1))
    if faults:
        raise faults[0]
    if prompt.ranks > 1 and bool(scores[0, -1]):
        raise RuntimeError("the question's attention failed on another rank")
    return scores[:, :-1]


def attend_to_copies(
    prompt: PromptPages, blocks: torch.Tensor, known: torch.Tensor, count: int, scores: torch.Tensor
) -> Attend:
    """Returns the attention of `count` tokens to the known rows, in torch; writes scores [layers, end]."""
    end = len(known)
    sees = torch.ones(count, count, dtype=torch.bool, device=known.device).tril()
    if not bool(known.all()):
        sees = torch.cat((known.expand(count, -1), sees), 1)

    def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        keys, values = prompt.rows_of(layer, blocks, 0, end)
        own_keys, own_values, queries = as_rows(k, keys), as_rows(v, values), q.view(count, keys.shape[1], -1)
        outputs = []
        # one head after the other: vLLM's accounting leaves no room for the weights of all
        for head in range(keys.shape[1]):
            weights, output = attend_over(
                queries[:, head],
                torch.cat((keys[:, head], own_keys[:, head])).T[None],
                torch.cat((values[:, head], own_values[:, head]))[None],
                scale=prompt.scale, sees=sees,
            )  # fmt: skip
            scores[layer] += weights[..., :end].sum((0, 1))
            outputs.append(output)
        return torch.cat(outputs, 1)

    return attend


def attend_in_place(
    prompt: PromptPages, blocks: torch.Tensor, known: torch.Tensor, count: int, scores: torch.Tensor
) -> Attend:
    """Returns the same as `attend_to_copies`, by kernels that read the pages where they are."""
    rows = known.nonzero()[:, 0]
    question = QuestionAttention(count, prompt.slots_in_place(blocks, rows), prompt.scale)
    of_known = scores if len(rows) == len(known) else torch.zeros(len(scores), len(rows), device=scores.device)

    def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        keys, values, _ = prompt.in_place(layer)
        q = q.view(count, -1, keys.shape[3])
        output = question.attend(q, as_rows(k, keys[0]), as_rows(v, keys[0]), keys, values, of_known[layer])
        if of_known is not scores:
            scores[layer, rows] = of_known[layer]
        return output

    return attend


def evidence_of_prefill(
    prompt: PromptPages, tokens: torch.Tensor, blocks: torch.Tensor, load: Load
) -> dict[str, torch.Tensor]:
    """Returns the parts of `Evidence` that need a full prefill: deviation, context_attention, full_attention.

    Only reference methods use them.
    """
    names = ("deviation", "context_attention", "full_attention")
    found = {name: torch.zeros(prompt.layers, load.end, device=tokens.device) for name in names}
    question = torch.tensor(load.question, dtype=torch.int64, device=tokens.device)
    causal = torch.ones(len(tokens), len(tokens), dtype=torch.bool, device=tokens.device).tril()

    def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        _, stored = prompt.rows_of(layer, blocks, 0, load.end)
        fresh = as_rows(v, stored)
        keys, values = as_rows(k, stored).permute(1, 2, 0), fresh.transpose(0, 1)
        weights, output = attend_over(q, keys, values, scale=prompt.scale, sees=causal)
        found["deviation"][layer] = (fresh[: load.end] - stored).float().square().sum((1, 2)).sqrt()
        of_token = weights.view(len(weights), -1, len(tokens), len(tokens))
        found["context_attention"][layer] = of_token[..., : load.end].sum((0, 1, 2))
        found["full_attention"][layer] = of_token[:, :, question, : load.end].sum((0, 1, 2))
        return output

    prompt.forward.ask(tokens, torch.arange(len(tokens), device=tokens.device), attend)
    return {name: prompt.sum_over_ranks(scores) for name, scores in found.items()}


def _asked_at(load: Load, positions: int, device: torch.device) -> torch.Tensor:
    """Returns the question's positions: its own, or positions after the context if it starts before the context's end.

    positions  the model's limit; near it, the question is placed among the context's last tokens
    """
    if load.question[0] >= load.end:
        return torch.tensor(load.question, dtype=torch.int64, device=device)
    first = min(load.end, positions - len(load.question))
    return torch.arange(first, first + len(load.question), device=device)


def attend_over(
    q: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, *, scale: float, sees: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Computes attention of queries over keys [heads, size, m] and values [heads, m, size].

    sees  bool [n, c]: which of the last c keys each of the n queries sees; every query sees all earlier keys

    Returns the weights [heads, group x n, m], and the output [n, query heads, size].
    """
    n, (heads, size, m) = len(sees), keys.shape
    queries = (q.float() * scale).view(n, heads, -1, size).permute(1, 2, 0, 3).flatten(1, 2)
    logits = multiply(queries, keys.float()).view(heads, -1, n, m)
    logits[..., m - sees.shape[1] :].masked_fill_(~sees, -torch.inf)
    weights = logits.view(heads, -1, m).softmax(-1)
    output = multiply(weights, values.float())
    return weights, output.view(heads, -1, n, size).permute(2, 0, 1, 3).flatten(1, 2).to(q.dtype)


def as_rows(flat: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Reshapes keys or values of a layer's forward to rows [n, heads, head size]."""
    return flat.reshape(-1, *like.shape[1:])
