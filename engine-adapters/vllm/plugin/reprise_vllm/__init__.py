"""Tells reprise what a vLLM engine has cached and evicted, and reuses keys and values at any position."""

import sys

CONNECTOR = "RepriseConnector"
# of vLLM's processes only those that answer HTTP have it
_FRONT_END = "vllm.entrypoints.serve.engine.protocol"


def register() -> None:
    """vLLM's general plugin: `kv_connector` may name the connector without its module. Called in every process."""
    from vllm.distributed.kv_transfer.kv_connector.factory import KVConnectorFactory

    from reprise_vllm.reuse.engine_parts import recompute_failed_loads
    from reprise_vllm.select_pages.register_backends import register_backends

    if _FRONT_END in sys.modules:
        from reprise_vllm.reuse.usage import tell_reused_tokens

        tell_reused_tokens()
    register_backends()
    recompute_failed_loads()
    try:
        KVConnectorFactory.register_connector(CONNECTOR, "reprise_vllm.connector", CONNECTOR)
    except ValueError:
        # it is registered: plugins may be loaded more than once
        return
