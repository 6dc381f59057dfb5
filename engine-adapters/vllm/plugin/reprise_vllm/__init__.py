"""Reports to reprise what a vLLM engine has cached and evicted, and reuses keys and values at any position."""

import sys
from contextlib import suppress

CONNECTOR = "RepriseConnector"
# only the vLLM processes that serve HTTP load it
_FRONT_END = "vllm.entrypoints.serve.engine.protocol"


def register() -> None:
    """
    The entry point of vLLM's general plugin. vLLM calls it in every process.

    Registers the connector, so that `kv_connector` may name it without its module.
    """
    from reprise_vllm.engine.failed_loads import recompute_failed_loads
    from reprise_vllm.select_pages import register_backends

    if _FRONT_END in sys.modules:
        from reprise_vllm.usage.prompt_tokens_details import report_in_usage

        report_in_usage()
    register_backends()
    recompute_failed_loads()
    register_connector()


def register_connector() -> None:
    """Makes the connector known by its name. May be called twice."""
    from vllm.distributed.kv_transfer.kv_connector.factory import KVConnectorFactory

    # raises if it is registered already
    with suppress(ValueError):
        KVConnectorFactory.register_connector(CONNECTOR, "reprise_vllm.connector", CONNECTOR)
