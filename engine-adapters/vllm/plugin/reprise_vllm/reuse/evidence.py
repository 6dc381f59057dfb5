"""What methods look at when they choose rows, read from the engine's model and pages."""

from typing import Protocol

import torch

from reprise_vllm.reuse.messages import Load
from reprise_vllm.reuse.nested_forward import NestedForward


class Prompt(Protocol):
    """Access to a prompt's pages, and to the model."""

    forward: NestedForward

    @property
    def layers(self) -> int: ...

    @property
    def scale(self) -> float: ...

    @property
    def positions(self) -> int: ...

    def rows_of(self, layer: int, blocks: torch.Tensor, begin: int, end: int) -> tuple[torch.Tensor, torch.Tensor]: ...

    def sum_over_ranks(self, scores: torch.Tensor) -> torch.Tensor: ...


def attention_of_question(
    prompt: Prompt, tokens: torch.Tensor, blocks: torch.Tensor, load: Load, known: torch.Tensor
) -> torch.Tensor:
    """What the question pays each token of the context (ProphetKV, stage I); float32 [layers, end].

    known  bool [end]: rows whose pages are filled; the others are not looked at
    """
    question = torch.tensor(load.question, dtype=torch.int64, device=tokens.device)
    scores = torch.zeros(prompt.layers, load.end, device=tokens.device)
    hidden = None if bool(known.all()) else ~known

    def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        context = prompt.rows_of(layer, blocks, 0, load.end)
        scores[layer], output = _attend_twice(
            q, *context, _rows(k, context[0]), _rows(v, context[1]), hidden, prompt.scale
        )
        return output

    prompt.forward.ask(tokens[question], _asked_at(load, prompt.positions, tokens.device), attend)
    return prompt.sum_over_ranks(scores)


def evidence_of_prefill(
    prompt: Prompt, tokens: torch.Tensor, blocks: torch.Tensor, load: Load
) -> dict[str, torch.Tensor]:
    """What only a whole prefill tells: deviation, context_attention, full_attention of `Evidence`; for references."""
    names = ("deviation", "context_attention", "full_attention")
    found = {name: torch.zeros(prompt.layers, load.end, device=tokens.device) for name in names}
    question = torch.tensor(load.question, dtype=torch.int64, device=tokens.device)
    causal = torch.ones(len(tokens), len(tokens), dtype=torch.bool, device=tokens.device).tril()

    def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        _, stored = prompt.rows_of(layer, blocks, 0, load.end)
        fresh = _rows(v, stored)
        weights, output = _attend(q, _rows(k, stored), fresh, scale=prompt.scale, sees=causal)
        found["deviation"][layer] = (fresh[: load.end] - stored).float().square().sum((1, 2)).sqrt()
        of_token = weights.view(len(weights), -1, len(tokens), len(tokens))
        found["context_attention"][layer] = of_token[..., : load.end].sum((0, 1, 2))
        found["full_attention"][layer] = of_token[:, :, question, : load.end].sum((0, 1, 2))
        return output

    prompt.forward.ask(tokens, torch.arange(len(tokens), device=tokens.device), attend)
    return {name: prompt.sum_over_ranks(scores) for name, scores in found.items()}


def _asked_at(load: Load, positions: int, device: torch.device) -> torch.Tensor:
    """Where the question's tokens stand: where they do, or, where some stand before the context, behind it.

    positions  how many the model has: near its longest prompt the question stands among the context's last tokens
    """
    if load.question[0] >= load.end:
        return torch.tensor(load.question, dtype=torch.int64, device=device)
    first = min(load.end, positions - len(load.question))
    return torch.arange(first, first + len(load.question), device=device)


def _attend_twice(
    q: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    own_keys: torch.Tensor,
    own_values: torch.Tensor,
    hidden: torch.Tensor | None,
    scale: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention over a context, of which rows may be hidden, and causally over the tokens' own keys.

    Returns the weights that the context's rows get, summed over heads and tokens [m], and the output [n, heads, size].
    Both parts share one softmax; nothing is concatenated, since copies are most of the cost for a few tokens.
    """
    n, (_, heads, size) = len(own_keys), keys.shape
    queries = (q.float() * scale).view(n, heads, -1, size).permute(1, 2, 0, 3).flatten(1, 2)
    later = torch.ones(n, n, dtype=torch.bool, device=q.device).triu(1).repeat(queries.shape[1] // n, 1)
    far = queries @ keys.permute(1, 2, 0).float()
    if hidden is not None:
        far.masked_fill_(hidden, -torch.inf)
    near = (queries @ own_keys.permute(1, 2, 0).float()).masked_fill_(later, -torch.inf)
    highest = torch.maximum(far.amax(-1, keepdim=True), near.amax(-1, keepdim=True))
    far, near = far.sub_(highest).exp_(), near.sub_(highest).exp_()
    share = 1 / (far.sum(-1, keepdim=True) + near.sum(-1, keepdim=True))
    output = (far @ values.transpose(0, 1).float() + near @ own_values.transpose(0, 1).float()) * share
    scores = (share.transpose(1, 2) @ far).sum((0, 1))
    return scores, output.view(heads, -1, n, size).permute(2, 0, 1, 3).flatten(1, 2).to(q.dtype)


def _attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, scale: float, sees: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Attention weights [heads, group x n, m] and output [n, query heads, size]; sees is bool [n, m]."""
    n, (m, heads, size) = len(sees), k.shape
    queries = q.view(n, heads, -1, size).permute(1, 2, 0, 3).flatten(1, 2).float()
    logits = queries @ k.permute(1, 2, 0).float() * scale
    logits = logits.view(heads, -1, n, m).masked_fill(~sees, -torch.inf)
    weights = logits.softmax(-1).view(heads, -1, m)
    output = weights @ v.transpose(0, 1).float()
    return weights, output.view(heads, -1, n, size).permute(2, 0, 1, 3).flatten(1, 2).to(q.dtype)


def _rows(flat: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return flat.reshape(-1, *like.shape[1:])
