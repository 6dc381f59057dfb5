"""Compares an answer's first token under reuse with full attention, for a sample of requests."""

from typing import TYPE_CHECKING

import torch
from torch.nn.functional import scaled_dot_product_attention

from reprise_reuse.pieces import Check
from reprise_reuse.rows.cache_slots import as_blocks
from reprise_reuse.rows.engine_parts import Attend
from reprise_reuse.rows.evidence import attend_over
from reprise_reuse.rows.faults import Faults

if TYPE_CHECKING:
    from reprise_vllm.reuse.worker.reuse_worker import ReuseWorker


def report_check(worker: "ReuseWorker", check: Check, faults: Faults) -> None:
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


def compare_answers(worker: "ReuseWorker", check: Check) -> tuple[float, bool] | None:
    """Returns the KL divergence of the first token's distribution under reuse from full attention's, in nats.

    Also whether both have the same most likely token; None on ranks without logits. The distribution under reuse is
    that of the prompt's last token over the request's pages. For full attention, the prompt is computed once more
    without pages, which takes as long as a cold prefill.
    """
    tokens = torch.from_numpy(check.tokens).to(worker.device)
    blocks, length = as_blocks(check.blocks, worker.device), len(tokens)
    sees = torch.ones(1, 1, dtype=torch.bool, device=worker.device)

    def over_pages(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, output: torch.Tensor) -> None:
        keys, values = worker.pages.rows_of(layer, blocks, 0, length)
        given = keys.permute(1, 2, 0), values.transpose(0, 1)
        output.copy_(attend_over(q, *given, scale=worker.pages.scale, sees=sees)[1].view(output.shape))

    at = torch.arange(length, device=worker.device)
    reused = worker.forward.answer(tokens[-1:], at[-1:], over_pages)
    full = worker.forward.answer(tokens, at, attend_in_full(worker))
    if reused is None or full is None:
        return None
    log, expected = reused.float().log_softmax(-1), full.float().log_softmax(-1)
    return float((expected.exp() * (expected - log)).sum()), bool(log.argmax() == expected.argmax())


def attend_in_full(worker: "ReuseWorker") -> Attend:
    """Returns causal attention of tokens to each other, without pages."""

    def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, output: torch.Tensor) -> None:
        heads, size = worker.layer.num_kv_heads, worker.layer.head_size
        queries, keys, values = (one.reshape(len(q), -1, size).transpose(0, 1)[None] for one in (q, k, v))
        attended = scaled_dot_product_attention(
            queries, keys, values, is_causal=True, scale=worker.pages.scale, enable_gqa=queries.shape[1] != heads
        )
        output.copy_(attended[0].transpose(0, 1).reshape(output.shape))

    return attend
