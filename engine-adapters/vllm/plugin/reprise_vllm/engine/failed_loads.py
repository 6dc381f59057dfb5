"""What vLLM does about a load that could not fill its blocks."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vllm.config import VllmConfig


def recompute_failed_loads() -> None:
    """Makes vLLM compute what a load could not fill, even inside a MultiConnector; by default it fails the request.

    MultiConnector gives its children copies of the configuration, but the scheduler reads the original.
    """
    from vllm.distributed.kv_transfer.kv_connector.v1.multi_connector import MultiConnector

    get_children = MultiConnector._get_connector_classes_and_configs
    if getattr(get_children, "is_reprises", False):
        return

    def with_policy(cls: type, config: "VllmConfig") -> list[tuple[type, "VllmConfig"]]:
        children = get_children(config)
        if any((child.kv_transfer_config.kv_connector_extra_config or {}).get("reuse") for _, child in children):
            config.kv_transfer_config.kv_load_failure_policy = "recompute"
        return children

    with_policy.is_reprises = True
    MultiConnector._get_connector_classes_and_configs = classmethod(with_policy)
