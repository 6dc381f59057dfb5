"""Checks whether this server can reuse, proves it on its own model, and measures what it takes."""

from functools import partial
from logging import Logger
from typing import Any

from sglang.srt.runtime_context import get_observability

from reprise_reuse.costs import even_keys_of
from reprise_reuse.disk.messages import ReuseReport
from reprise_reuse.disk.model_fingerprint import fingerprint_of
from reprise_reuse.host_store import RowShape
from reprise_reuse.remote.tiers import open_tiers
from reprise_reuse.requests.prompt_reuse import Limits
from reprise_reuse.segments.cut import line_ends
from reprise_reuse.start.measure_costs import measure_costs
from reprise_reuse.start.prove_reuse import NotProvenError, prove_reuse
from reprise_settings import NotSupportedError
from reprise_settings.reuse_settings import ReuseSettingError, ReuseSettings, check_memory, tokens_in
from reprise_sglang.reuse.reuse_worker import ReuseWorker
from reprise_sglang.reuse.reuser import Reuser
from reprise_sglang.reuse.supported import attention_layers, check_runner, rotary_of
from reprise_sglang.reuse.usage import ReuseMetrics

_MOST_SLOTS = 40_000
"""of the pool, for measurements"""


def start_reuse(runner: Any, tokenizer: Any, settings: ReuseSettings, logger: Logger) -> Reuser | None:
    """
    Returns what reuses in this server, or None, after logging why, if it cannot. Overwrites the pool: call it before
    any request. Raises `ReuseSettingError` if host memory cannot hold a segment.
    """
    try:
        return _start(runner, tokenizer, settings, logger)
    except (NotSupportedError, NotProvenError) as error:
        logger.error("reprise: nothing is reused but equal beginnings: %s", error)
        return None


def _start(runner: Any, tokenizer: Any, settings: ReuseSettings, logger: Logger) -> Reuser:
    check_runner(runner)
    config, attention, pool = runner.model_config, attention_layers(runner.model), runner.token_to_kv_pool
    rotary = rotary_of(runner.model, len(attention), config.context_len)
    check_memory(settings.host_bytes)
    heads, size = attention[0].tp_k_head_num, attention[0].head_dim
    shape = RowShape(len(attention), heads, size, pool.dtype, settings.host_dtype)
    tokens = tokens_in("host_bytes", settings.host_bytes, shape)
    disk_tokens = tokens_in("disk_bytes", settings.disk_bytes, shape) if settings.disk else 0
    described = config.hf_config.to_dict()
    fingerprint = partial(fingerprint_of, runner.model, described, "SGLang", shape, rotary[0][1].tolist())
    try:
        tiers = open_tiers(settings.disk, settings.remote, fingerprint, 0, logger)
    except OSError as error:
        raise ReuseSettingError(f"reuse.disk is {settings.disk!r}, which cannot be used: {error}") from error
    worker = ReuseWorker(runner, attention, rotary, shape, tokens, tiers, logger)
    slots = min(pool.size, _MOST_SLOTS)
    prove_reuse(worker, config.vocab_size, 1, slots)
    worker.costs = measure_costs(worker, config.vocab_size, 1, slots, logger)
    # what the self-test counted is nobody's
    worker.report = ReuseReport()
    worker.tiers.restore(worker.report)
    even_keys = even_keys_of(config.hf_text_config, config.hidden_size, attention[0].tp_q_head_num, heads, size)
    averaged, checked = settings.rows_beside(worker.longest), worker.forward.most_rows
    limits = Limits(tokens, disk_tokens, shape.bytes, averaged, checked, even_keys)
    metrics = ReuseMetrics() if get_observability().enable_metrics else None
    table, ends = runner.req_to_token_pool, line_ends(tokenizer)
    return Reuser(worker, table, settings, limits, ends, metrics, logger)
