"""
Puts our metadata builders around the platform's attention backends; imports nothing that a stock engine has no use
for.
"""

from importlib.util import find_spec

BACKENDS = ("CPU_ATTN", "FLASH_ATTN", "FLASHINFER", "TRITON_ATTN")


def register_backends() -> None:
    """Has vLLM make its backends by us; nothing happens where the algorithms (reprise-kernels) are not installed."""
    from vllm.v1.attention.backends.registry import AttentionBackendEnum, register_backend

    if find_spec("reprise_pages") is None:
        return
    for name in BACKENDS:
        backend = AttentionBackendEnum.__members__.get(name)
        # somebody else's override is left alone
        if backend is not None and not backend.is_overridden():
            register_backend(backend, f"reprise_vllm.select_pages.backends.{name}")
