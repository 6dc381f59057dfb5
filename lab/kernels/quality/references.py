"""Choices that need a full prefill before they can choose: references for measurements, of no use in serving.

`METHODS` has them beside those that are served, also for an engine in this process, which takes a method by its name.
"""

from collections.abc import Mapping

import torch

from reprise_reuse.methods import METHODS, Evidence, Method
from reprise_reuse.rows.evidence import PromptPages, as_rows, attend_over
from reprise_reuse.rows.row_choice import OpenLoad


def evidence_of_prefill(prompt: PromptPages, one: OpenLoad, evidence: Evidence) -> Mapping[str, torch.Tensor]:
    """Prefills the whole prompt. Returns float32 [layers, n]:

    deviation          distance of each token's stored values from those of full attention
    key_deviation      the same of its keys
    context_attention  attention of all prompt tokens to each token under full attention
    full_attention     the question's, under full attention
    output_deviation   distance of each token's part in the question's output from that under full attention, weights
                       averaged over heads and question tokens; only where the question's attention was read
    """
    load, tokens = one.load, one.tokens
    names = ("deviation", "key_deviation", "context_attention", "full_attention", "output_deviation")
    found = {name: torch.zeros(prompt.layers, load.end, device=tokens.device) for name in names}
    question = torch.tensor(load.question, dtype=torch.int64, device=tokens.device)
    at = torch.arange(len(tokens), device=tokens.device)

    def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor) -> None:
        stored_keys, stored = prompt.rows_of(layer, one.blocks, 0, load.end)
        fresh_keys, fresh = as_rows(k, stored_keys), as_rows(v, stored)
        keys, values = fresh_keys.permute(1, 2, 0), fresh.transpose(0, 1)
        sight = prompt.sights[layer]
        weights, output = attend_over(
            q, keys, values, scale=prompt.scale, sees=sight.sees(at, at), sinks=sight.sinks
        )  # fmt: skip
        for name, new, old in (("deviation", fresh, stored), ("key_deviation", fresh_keys, stored_keys)):
            found[name][layer] = (new[: load.end] - old).float().square().sum((1, 2)).sqrt()
        of_token = weights.view(len(weights), -1, len(tokens), len(tokens))
        found["context_attention"][layer] = of_token[..., : load.end].sum((0, 1, 2))
        paid = found["full_attention"][layer] = of_token[:, :, question, : load.end].mean((0, 1, 2))
        if evidence.attention is not None:
            found["output_deviation"][layer] = part_moved(paid, fresh[: load.end], evidence.attention[layer], stored)
        out.copy_(output.reshape(out.shape))

    prompt.forward.ask(tokens, at, attend)
    return {name: prompt.sum_over_ranks(scores) for name, scores in found.items()}


def part_moved(
    paid: torch.Tensor, values: torch.Tensor, stale_paid: torch.Tensor, stale_values: torch.Tensor
) -> torch.Tensor:
    """ProphetKV, equation 5: the distance of each token's part in an output from its stale part; float32 [n].

    paid, stale_paid      [n]: the attention it gets
    values, stale_values  [n, ...]
    """
    part, stale = (
        weights.unsqueeze(-1) * of.flatten(1).float() for weights, of in ((paid, values), (stale_paid, stale_values))
    )
    return (part - stale).norm(dim=-1)


def _second(evidence: Evidence, name: str) -> torch.Tensor:
    layers = evidence.more[name]
    return layers[min(1, len(layers) - 1)]


def _cacheblend(evidence: Evidence) -> torch.Tensor:
    return torch.hypot(_second(evidence, "key_deviation"), _second(evidence, "deviation"))


def _kvshare(evidence: Evidence) -> torch.Tensor:
    return _second(evidence, "context_attention") * _second(evidence, "deviation")


def _kvshare_keys(evidence: Evidence) -> torch.Tensor:
    return _second(evidence, "context_attention") * _cacheblend(evidence)


def _value_deviation(evidence: Evidence) -> torch.Tensor:
    return (evidence.more["full_attention"] * evidence.more["deviation"]).sum(0)


def _ideal(evidence: Evidence) -> torch.Tensor:
    return evidence.more["output_deviation"].sum(0)


__all__ = ["METHODS", "REFERENCES", "part_moved"]

REFERENCES = {
    "cacheblend": Method(_cacheblend, reads_question=False, gather=evidence_of_prefill),
    "kvshare": Method(_kvshare, reads_question=False, gather=evidence_of_prefill),
    "kvshare-keys": Method(_kvshare_keys, reads_question=False, gather=evidence_of_prefill),
    "value-deviation": Method(_value_deviation, reads_question=True, gather=evidence_of_prefill),
    "ideal": Method(_ideal, reads_question=True, gather=evidence_of_prefill),
}
"""
cacheblend        CacheBlend, §4.1: deviation of keys and values, here at the second layer alone (FusionRAG, equation 8)
kvshare           KVShare as ProphetKV's appendix E.1 describes it: deviation of values at the second layer, weighted by
                  the attention of all tokens. Its own paper was not at hand
kvshare-keys      the same of keys and values
value-deviation   full attention times the true deviation of each layer's values: one of the two terms of ProphetKV's
                  equation 6. How attention itself shifts is left out, so that it bounds no method from above
ideal             ProphetKV, equation 5: the distance of each token's part in the question's output from that of full
                  attention, summed over all layers
"""

METHODS.update(REFERENCES)
