"""The operator's settings for page selection, in `kv_connector_extra_config`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reprise_settings import SettingPlace
from reprise_settings import page_settings as common
from reprise_settings.page_settings import PageSettingError
from reprise_vllm.select_pages.thresholds import CalibrationError, read_thresholds

if TYPE_CHECKING:
    from vllm.config import VllmConfig

KEY = "pages"

LEAST_SAVING = 20_000_000_000
"""
what a GPU of 2024 reads in the time that choosing takes: the launches of three kernels per layer; in a full CUDA graph
less would do, which has not been measured
"""

_PLACE = SettingPlace(KEY, PageSettingError, '{"min_ratio": 0.1}')


@dataclass(frozen=True, slots=True)
class PageSettings(common.PageSettings):
    """Which requests have pages selected, and how. With `every` 0, pages are chosen when one has filled."""

    least_saving: int | None = None
    """bytes of cache that a step must leave unread, else it is dense; None: as `LEAST_SAVING` says, on a CPU 0"""
    max_entropy: float | None = None
    """with `max_varentropy`: when a page fills, pages are chosen again only if its tokens exceeded both (CHESS, 3.3)"""
    max_varentropy: float | None = None
    thresholds: str | None = None
    """file with both thresholds, written by `python -m reprise_vllm.calibrate`"""

    @property
    def backtracks(self) -> bool:
        """Whether the model's uncertainty decides when pages are chosen again."""
        return self.max_entropy is not None

    @staticmethod
    def read(extra: Mapping[str, Any]) -> "PageSettings | None":
        """Returns the settings under `pages`, or None if there are none. Raises `PageSettingError` if invalid."""
        settings = _PLACE.read_if_given(PageSettings, extra.get(KEY))
        if settings is not None:
            settings = settings._with_thresholds()
            settings._check()
        return settings

    def _with_thresholds(self) -> "PageSettings":
        if self.thresholds is None:
            return self
        if self.max_entropy is not None or self.max_varentropy is not None:
            raise PageSettingError("pages.thresholds stands in place of pages.max_entropy and pages.max_varentropy")
        if not isinstance(self.thresholds, str):
            raise PageSettingError(f"pages.thresholds is {self.thresholds!r}, it must be a file")
        try:
            max_entropy, max_varentropy = read_thresholds(self.thresholds)
        except CalibrationError as error:
            raise PageSettingError(f"pages.thresholds: {error}") from error
        return replace(self, max_entropy=max_entropy, max_varentropy=max_varentropy)

    def _check(self) -> None:
        if self.least_saving is not None:
            _PLACE.check_whole("least_saving", self.least_saving, 0)
        if (self.max_entropy is None) != (self.max_varentropy is None):
            raise PageSettingError("pages.max_entropy and pages.max_varentropy go together")
        for name in ("max_entropy", "max_varentropy"):
            if getattr(self, name) is not None:
                _PLACE.check_number(name, getattr(self, name), 0, 1000)
        if self.backtracks and self.every != 0:
            raise PageSettingError("pages.max_entropy is judged when a page fills: pages.every must be 0")
        self.check(_PLACE, least_every=0)


def settings_of(config: "VllmConfig") -> PageSettings | None:
    """Returns the engine's settings, or None if its connector has no `pages` setting. Raises `PageSettingError`."""
    transfer = config.kv_transfer_config
    extra = None if transfer is None else transfer.kv_connector_extra_config
    return None if not extra or not extra.get(KEY) else PageSettings.read(extra)
