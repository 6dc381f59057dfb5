"""Checks whether this server can reuse, proves it on its own model, and measures what it takes."""

import time
from functools import partial
from logging import Logger
from typing import Any

from sglang.srt.runtime_context import get_observability

from reprise_reuse.costs import RowWork, even_keys_of
from reprise_reuse.disk.messages import ReuseReport
from reprise_reuse.disk.model_fingerprint import fingerprint_of
from reprise_reuse.host_store import RowShape
from reprise_reuse.remote.tiers import open_tiers
from reprise_reuse.requests.prompt_reuse import Limits
from reprise_reuse.segments import Catalogue
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
        check_runner(runner)
        attention = attention_layers(runner.model)
        rotary = rotary_of(runner.model, len(attention), runner.model_config.context_len)
    except NotSupportedError as error:
        logger.error("reprise: nothing is reused but equal beginnings: %s", error)
        return None
    check_memory(settings.host_bytes)
    pool = runner.token_to_kv_pool
    heads, size = attention[0].tp_k_head_num, attention[0].head_dim
    shape = RowShape(len(attention), heads, size, pool.dtype, settings.host_dtype)
    tokens = tokens_in("host_bytes", settings.host_bytes, shape)
    disk_tokens = tokens_in("disk_bytes", settings.disk_bytes, shape) if settings.disk else 0
    described = runner.model_config.hf_config.to_dict()
    fingerprint = partial(fingerprint_of, runner.model, described, "SGLang", shape, rotary[0][1].tolist())
    try:
        tiers = open_tiers(settings.disk, settings.remote, fingerprint, 0, logger)
    except OSError as error:
        raise ReuseSettingError(f"reuse.disk is {settings.disk!r}, which cannot be used: {error}") from error
    worker = ReuseWorker(runner, attention, rotary, shape, tokens, tiers, logger)
    vocabulary, slots = runner.model_config.vocab_size, min(pool.size, _MOST_SLOTS)
    try:
        prove_reuse(worker, vocabulary, 1, slots)
        worker.costs = measure_costs(worker, vocabulary, 1, slots, logger)
    except NotProvenError as error:
        logger.error("reprise: nothing is reused but equal beginnings: %s", error)
        return None
    # what the self-test counted is nobody's
    worker.report = ReuseReport()
    worker.tiers.restore(worker.report)
    logger.info(
        "reprise: reusing at any position: %d tokens in host memory, %d on disk; %s of the %s is done again",
        *(tokens, disk_tokens, f"{settings.ratio:.0%}", settings.ratio_of),
    )
    # files of earlier runs may exist, so names start at the current time
    catalogue = Catalogue(tokens, disk_tokens, first_name=time.time_ns())
    config, query_heads = runner.model_config, attention[0].tp_q_head_num
    even_keys = even_keys_of(config.hf_text_config, config.hidden_size, query_heads, heads, size)
    work = RowWork(even_keys) if settings.ratio_of == "work" else RowWork()
    averaged, checked = settings.rows_beside(worker.longest), worker.forward.most_rows
    limits = Limits(tokens, disk_tokens, shape.bytes, averaged, checked, work)
    metrics = ReuseMetrics() if get_observability().enable_metrics else None
    table, ends = runner.req_to_token_pool, line_ends(tokenizer)
    return Reuser(worker, table, settings, limits, catalogue, ends, metrics, logger)
