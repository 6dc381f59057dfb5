"""Which reused tokens are computed again: the papers' choices, their rivals', and ours, as scores of tokens."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch

_REACH = 3
"""over so many rows a high score raises others"""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a choice may look at; n is the number of context tokens, all tensors are float32 and on one device."""

    attention: torch.Tensor | None
    """[layers, n]: what the question's tokens pay each token, softmax weights summed over heads and question tokens"""
    spread: torch.Tensor
    """[n]: root of the summed variance of a token's values over the contexts it was computed in; 0 where it had one"""
    offset: torch.Tensor
    """[n]: how many tokens of its own segment stand before each token"""
    deviation: torch.Tensor | None = None
    """[layers, n]: distance of each token's stored values from those of full attention; costs a whole prefill"""
    context_attention: torch.Tensor | None = None
    """[layers, n]: what all tokens of the prompt pay each token under full attention; costs a whole prefill"""
    full_attention: torch.Tensor | None = None
    """[layers, n]: `attention` as full attention has it; costs a whole prefill"""
    seed: int = 0


class Method(NamedTuple):
    """A choice by score: the tokens with the highest are computed again."""

    score: Callable[[Evidence], torch.Tensor]
    """float32 [n]"""
    reads_question: bool
    """needs `attention`: one forward of the question's tokens"""
    is_reference: bool = False
    """needs a whole prefill before it can choose: for measuring, of no use in serving"""


def dependence(evidence: Evidence) -> torch.Tensor:
    """How much tokens depend on what stands before their segment; float32 [n].

    That is their spread, whose few contexts tell too little of a segment's first tokens, so these count more. Tokens of
    one context have what tokens so near to their segment's start have on average.
    """
    prior = 1 + 2 * torch.exp(-evidence.offset / 8)
    known = evidence.spread > 0
    if not known.any():
        return prior
    weighed = evidence.spread * (evidence.offset + 1) ** -0.25
    scale = weighed[known].mean() / prior[known].mean()
    return torch.where(known, weighed, prior * scale)


def favour_runs(score: torch.Tensor) -> torch.Tensor:
    """Raises scores (float32 [n], none negative) to those of better neighbours, each to twice its own at most.

    An engine's attention takes each run of neighbours as a request of its own, whose cost hardly depends on its length
    while that is small: so two rows beside one another cost less than two apart.
    """
    raised = score
    for _ in range(_REACH):
        beside = torch.zeros_like(score)
        beside[1:] = raised[:-1]
        beside[:-1] = torch.maximum(beside[:-1], raised[1:])
        raised = torch.maximum(score, torch.minimum(2 * score, beside))
    return raised


def _attention_spread(evidence: Evidence) -> torch.Tensor:
    return favour_runs(evidence.attention.sum(0) * dependence(evidence))


def _prophetkv(evidence: Evidence) -> torch.Tensor:
    return evidence.attention.sum(0)


def _fusionrag(evidence: Evidence) -> torch.Tensor:
    return evidence.attention[-1]


def _epic(evidence: Evidence) -> torch.Tensor:
    return -evidence.offset


def _random(evidence: Evidence) -> torch.Tensor:
    generator = torch.Generator().manual_seed(evidence.seed)
    return torch.rand(len(evidence.spread), generator=generator).to(evidence.spread.device)


def _cacheblend(evidence: Evidence) -> torch.Tensor:
    return evidence.deviation[min(1, len(evidence.deviation) - 1)]


def _kvshare(evidence: Evidence) -> torch.Tensor:
    layer = min(1, len(evidence.deviation) - 1)
    return evidence.context_attention[layer] * evidence.deviation[layer]


def _oracle(evidence: Evidence) -> torch.Tensor:
    return (evidence.full_attention * evidence.deviation).sum(0)


METHODS: dict[str, Method] = {
    "attention-spread": Method(_attention_spread, reads_question=True),
    "prophetkv": Method(_prophetkv, reads_question=True),
    "fusionrag": Method(_fusionrag, reads_question=True),
    "epic": Method(_epic, reads_question=False),
    "random": Method(_random, reads_question=False),
    "cacheblend": Method(_cacheblend, reads_question=False, is_reference=True),
    "kvshare": Method(_kvshare, reads_question=False, is_reference=True),
    "oracle": Method(_oracle, reads_question=True, is_reference=True),
}
"""
attention-spread  ours, the default: fused question attention times dependence; neighbours of good tokens are favoured
prophetkv         ProphetKV, §4.2, equation 7: question attention summed over all layers
fusionrag         FusionRAG, §3.2: question attention of the last layer
epic              EPIC: the first tokens of each segment
random            any tokens: what a choice must beat
cacheblend        CacheBlend: deviation of the values at the second layer
kvshare           KVShare: the same, weighted with the attention of all tokens
oracle            ProphetKV, equation 5, with the true deviation of every layer
"""


def choose(score: torch.Tensor, candidates: torch.Tensor, budget: int) -> torch.Tensor:
    """Returns a mask of the `budget` candidates with the highest scores, the earlier of equals; bool [n].

    score        float32 [n]
    candidates   bool [n]: the tokens that may be chosen
    """
    chosen = torch.zeros_like(candidates)
    count = min(budget, int(candidates.sum()))
    if count > 0:
        ranked = score.masked_fill(~candidates, -torch.inf).sort(descending=True, stable=True).indices
        chosen[ranked[:count]] = True
    return chosen
