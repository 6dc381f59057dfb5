"""The keys of `kv_connector_extra_config` that this plugin reads."""

from collections.abc import Mapping
from logging import Logger
from typing import Any

from reprise_settings import hint_at
from reprise_settings import reuse_settings as reuse
from reprise_vllm.hotness import eviction
from reprise_vllm.select_pages import settings as pages

_KNOWN = (reuse.KEY, pages.KEY, eviction.KEY)


def warn_of_unknown(extra: Mapping[str, Any], logger: Logger) -> None:
    """Warns about unknown keys: a misspelt key would otherwise silently leave a feature off."""
    for key in extra:
        if key not in _KNOWN:
            logger.warning(
                "reprise: kv_connector_extra_config.%s is no setting of RepriseConnector; %s", key, hint_at(key, _KNOWN)
            )
