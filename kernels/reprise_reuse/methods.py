"""Which reused tokens are recomputed: the choices of the papers, of a rival, and ours, as token scores."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import torch

_REACH = 3
"""distance in rows over which a high score raises others"""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a choice may look at. n is the number of context tokens; all tensors are float32 on one device."""

    attention: torch.Tensor | None
    """[layers, n]: the question's attention to each token, softmax weights averaged over heads and question tokens"""
    spread: torch.Tensor
    """[n]: root of the summed variance of a token's values over the contexts it was computed in; 0 for one context"""
    offset: torch.Tensor
    """[n]: how many tokens of its own segment precede each token"""
    more: Mapping[str, torch.Tensor] = field(default_factory=dict)
    """what a method gathers itself"""
    seed: int = 0


class Method(NamedTuple):
    """A choice by score: the tokens with the highest scores are recomputed."""

    score: Callable[[Evidence], torch.Tensor]
    """float32 [n]"""
    reads_question: bool
    """needs `attention`: one forward pass of the question's tokens"""
    gather: Callable[..., Mapping[str, torch.Tensor]] | None = None
    """reads what else `score` needs, as `Evidence.more`: of a prompt's pages, a load and its evidence so far"""


def dependence(evidence: Evidence) -> torch.Tensor:
    """How much tokens depend on what precedes their segment; float32 [n].

    This is their spread. A few contexts say too little about the first tokens of a segment, so these get more weight.
    Tokens with one context get what tokens at the same distance from their segment's start have on average.
    """
    prior = 1 + 2 * torch.exp(-evidence.offset / 8)
    known = evidence.spread > 0
    weighed = evidence.spread * (evidence.offset + 1) ** -0.25
    # without a look at the device: of none known, sums are zero, and nothing is scaled
    total, least = (prior * known).sum(), torch.finfo(prior.dtype).tiny
    scale = torch.where(total > 0, weighed.sum() / total.clamp(min=least), 1)
    return torch.where(known, weighed, prior * scale)


def favour_runs(score: torch.Tensor) -> torch.Tensor:
    """Raises scores (float32 [n], non-negative) towards those of better neighbours, each to at most twice its own.

    An engine's own attention handles each run of neighbours as a separate request. The cost of a short run hardly
    depends on its length, so two adjacent rows cost less than two separate ones.
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


def _random(evidence: Evidence) -> torch.Tensor:
    generator = torch.Generator().manual_seed(evidence.seed)
    return torch.rand(len(evidence.spread), generator=generator).to(evidence.spread.device)


METHODS: dict[str, Method] = {
    "attention-spread": Method(_attention_spread, reads_question=True),
    "prophetkv": Method(lambda seen: seen.attention.sum(0), reads_question=True),
    "fusionrag": Method(lambda seen: seen.attention[-1], reads_question=True),
    "epic": Method(lambda seen: -seen.offset, reads_question=False),
    "random": Method(_random, reads_question=False),
}
"""
attention-spread  ours, the default: fused question attention times dependence, which for tokens of one context is their
                  distance from the segment's start alone; favours neighbours of good tokens
prophetkv         ProphetKV, §4.2, equation 7: question attention summed over all layers
fusionrag         FusionRAG, §3.2: attention of the last layer; here the question runs over the context in all layers
epic              EPIC: the first tokens of each segment; the paper's are chunks, ours are cut at line ends
random            any tokens: the baseline for every choice
"""

WITHOUT_QUESTION = "epic"
"""the method in place of one that reads the question, where that would cost more than reuse saves"""


def choose(score: torch.Tensor, candidates: torch.Tensor, budget: int) -> torch.Tensor:
    """Returns the `budget` candidates with the highest scores, ascending; ties go to the earlier token; int64.

    score        float32 [n]
    candidates   int64 [m], ascending: the tokens that may be chosen
    """
    ranked = score[candidates].sort(descending=True, stable=True).indices
    return candidates[ranked[:budget].sort().values]
