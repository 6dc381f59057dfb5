"""Compares an answer's first token under reuse with full attention, for a sample of requests."""

import torch
from torch.nn.functional import scaled_dot_product_attention

from reprise_reuse.pieces import Check, as_blocks
from reprise_reuse.rows.engine_parts import Attend
from reprise_reuse.rows.evidence import PromptPages, attend_over, attend_to_rows, of_head
from reprise_reuse.rows.worker import Faults, Worker

_PART = 256
"""queries of one head whose weights are held at the same time"""


def report_check(worker: Worker, check: Check, faults: Faults) -> None:
    """Compares an answer and adds the result to the worker's report."""
    try:
        with worker.clock.phase("check"):
            found = compare_answers(worker, check)
    except Exception:
        faults.happened("checking", "an answer could not be compared with full attention's", worker.report)
        return
    if found is not None:
        divergence, is_same = found
        worker.report.divergences.append(divergence)
        worker.report.figures["checks", "same" if is_same else "other"] += 1


def compare_answers(worker: Worker, check: Check) -> tuple[float, bool] | None:
    """Returns the KL divergence of the first token's distribution under reuse from full attention's, in nats.

    Also whether both have the same most likely token; None on ranks without logits. The distribution under reuse is
    that of the prompt's last token over the request's pages. For full attention, the prompt is computed once more
    without pages, which takes as long as a cold prefill.
    """
    tokens = torch.from_numpy(check.tokens).to(worker.device)
    blocks, length = as_blocks(check.blocks, worker.device), len(tokens)
    at = torch.arange(length, device=worker.device)

    def over_pages(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, output: torch.Tensor) -> None:
        sees = worker.pages.sights[layer].sees(at[-1:], at)
        attend_to_rows(worker.pages, layer, q, worker.pages.rows_of(layer, blocks, 0, length), sees, output)

    reused = worker.forward.answer(tokens[-1:], at[-1:], over_pages)
    full = worker.forward.answer(tokens, at, attend_in_full(worker))
    if reused is None or full is None:
        return None
    log, expected = reused.float().log_softmax(-1), full.float().log_softmax(-1)
    return float((expected.exp() * (expected - log)).sum()), bool(log.argmax() == expected.argmax())


def attend_in_full(worker: Worker) -> Attend:
    """Returns causal attention of tokens to each other, without pages."""

    def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, output: torch.Tensor) -> None:
        heads, size = worker.layer.num_kv_heads, worker.layer.head_size
        _, window, sinks = worker.pages.sights[layer]
        if window is not None or sinks is not None:
            attend_by_parts(worker.pages, layer, *(one.view(len(q), -1, size) for one in (q, k, v, output)))
            return
        queries, keys, values = (one.reshape(len(q), -1, size).transpose(0, 1)[None] for one in (q, k, v))
        attended = scaled_dot_product_attention(
            queries, keys, values, is_causal=True, scale=worker.pages.scale, enable_gqa=queries.shape[1] != heads
        )
        output.copy_(attended[0].transpose(0, 1).reshape(output.shape))

    return attend


def attend_by_parts(
    prompt: PromptPages, layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, output: torch.Tensor
) -> None:
    """The same for a layer with a window or sinks: some queries of one head at a time, since weights are held.

    q, output  [n, query heads, size]; k, v [n, heads, size]
    """
    sight, heads = prompt.sights[layer], k.shape[1]
    at = torch.arange(len(q), device=q.device)
    for head in range(heads):
        keys, values = k[:, head].T[None], v[:, head][None]
        of_head_q, of_head_output = (one.view(len(q), heads, -1, one.shape[-1])[:, head] for one in (q, output))
        for part in at.split(_PART):
            attended = attend_over(
                of_head_q[part].flatten(1), keys, values, scale=prompt.scale, sees=sight.sees(part, at),
                sinks=of_head(sight.sinks, head, heads),
            )  # fmt: skip
            of_head_output[part] = attended[1]
