"""Reports to reprise what SGLang's prefix cache holds for each request: `--radix-cache-backend reprise`."""

import logging
import multiprocessing
from importlib.util import find_spec
from typing import Any

logger = logging.getLogger(__name__)

BACKEND = "reprise"


def register() -> None:
    """Registers `--radix-cache-backend reprise`. SGLang calls this in every process before it parses its arguments."""
    try:
        from sglang.srt.mem_cache.registry import register_radix_cache_backend, registered_radix_cache_backends
    except ImportError as error:
        logger.error("reprise: this SGLang takes no radix cache backends, its cache is not reported: %s", error)
        return
    # imported here: if SGLang has moved these names, the module must still load to log the error above
    from reprise_sglang.create_cache import create_cache

    if BACKEND not in registered_radix_cache_backends():
        register_radix_cache_backend(BACKEND, create_cache)
    register_page_selection()
    register_reuse()


def register_reuse() -> None:
    """Registers the hooks of reuse at any position if `REPRISE_REUSE` is set. Exits if it cannot be used."""
    from reprise_settings.reuse_settings import ReuseSettingError
    from reprise_sglang.reuse.settings import read_settings

    try:
        if read_settings() is None:
            return
    except ReuseSettingError as error:
        # SGLang would log any other exception, and serve without reuse
        raise SystemExit(f"reprise: {error}") from error
    from reprise_sglang.reuse.hooks import ReuseHooks
    from reprise_sglang.reuse.usage import report_in_usage

    ReuseHooks().register()
    # the process that answers is the one that starts the others
    if multiprocessing.parent_process() is None:
        report_in_usage()


def register_page_selection() -> None:
    """Registers `--decode-attention-backend reprise_torch_native` if the algorithms (reprise-kernels) are installed."""
    if find_spec("reprise_pages") is None:
        return
    try:
        from sglang.srt.arg_groups.choices import ATTENTION_BACKEND_CHOICES, add_attention_backend_choices
        from sglang.srt.layers.attention.attention_registry import ATTENTION_BACKENDS, register_attention_backend

        from reprise_sglang.pages import BACKEND as PAGED
        from reprise_sglang.pages.hooks import register_hooks
    except ImportError as error:
        logger.error("reprise: this SGLang takes no attention backends, no pages are selected: %s", error)
        return
    if PAGED in ATTENTION_BACKENDS:
        return

    def create_backend(runner: Any) -> Any:
        from reprise_sglang.pages.backend import PagedTorchNativeBackend
        from reprise_sglang.pages.settings import PageSettings

        return PagedTorchNativeBackend(runner, PageSettings.read())

    register_attention_backend(PAGED)(create_backend)
    if PAGED not in ATTENTION_BACKEND_CHOICES:
        add_attention_backend_choices([PAGED])
    register_hooks()
