"""Page selection (CHESS; Quest): a decode step of a long request reads only the pages that matter to it."""

from importlib.util import find_spec

BACKENDS = ("CPU_ATTN", "FLASH_ATTN", "FLASHINFER", "TRITON_ATTN")


def register_backends() -> None:
    """Makes vLLM create the platform's attention backends through us, with our metadata builders.

    Does nothing if the algorithms (reprise-kernels) are not installed. Imports nothing that a stock engine does not
    need.
    """
    from vllm.v1.attention.backends.registry import AttentionBackendEnum, register_backend

    if find_spec("reprise_pages") is None:
        return
    for name in BACKENDS:
        backend = AttentionBackendEnum.__members__.get(name)
        # leave other plugins' overrides alone
        if backend is not None and not backend.is_overridden():
            register_backend(backend, f"reprise_vllm.select_pages.backends.{name}")
