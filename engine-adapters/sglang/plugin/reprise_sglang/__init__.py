"""Tells reprise what SGLang's prefix cache holds of each request: `--radix-cache-backend reprise`."""

import logging

logger = logging.getLogger(__name__)

BACKEND = "reprise"


def register() -> None:
    """Makes `--radix-cache-backend reprise` known; SGLang calls it in every process, before it reads its arguments."""
    try:
        from sglang.srt.mem_cache.registry import register_radix_cache_backend, registered_radix_cache_backends
    except ImportError as error:
        logger.error("reprise: this SGLang takes no radix cache backends, its cache is not reported: %s", error)
        return
    # imported here: the module must load, to say the above, where SGLang has moved
    from reprise_sglang.create_cache import create_cache

    if BACKEND not in registered_radix_cache_backends():
        register_radix_cache_backend(BACKEND, create_cache)
