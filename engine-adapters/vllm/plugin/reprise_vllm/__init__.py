"""Tells reprise which requests' prefixes a vLLM engine has cached, and which it has evicted."""

CONNECTOR = "RepriseConnector"


def register() -> None:
    """vLLM's general plugin: `kv_connector` may name the connector without its module. Called in every process."""
    from vllm.distributed.kv_transfer.kv_connector.factory import KVConnectorFactory

    try:
        KVConnectorFactory.register_connector(CONNECTOR, "reprise_vllm.connector", CONNECTOR)
    except ValueError:
        # it is registered: plugins may be loaded more than once
        return
