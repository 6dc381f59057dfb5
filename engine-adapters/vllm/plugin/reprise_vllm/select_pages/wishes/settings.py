"""The operator's settings for page selection, in `kv_connector_extra_config`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from reprise_settings import SettingPlace
from reprise_vllm.select_pages.wishes.thresholds import CalibrationError, read_thresholds

if TYPE_CHECKING:
    from vllm.config import VllmConfig

KEY = "pages"
ASKED = "reprise_pages"
"""key of the wish in a request's `vllm_xargs`"""

LEAST_SAVING = 20_000_000_000
"""
what a GPU of 2024 reads in the time that choosing takes: the launches of three kernels per layer; in a full CUDA graph
less would do, which has not been measured
"""


class PageSettingError(ValueError):
    """An invalid setting; the message names it and says what is valid."""


_PLACE = SettingPlace(KEY, PageSettingError, '{"min_ratio": 0.1}')


@dataclass(frozen=True, slots=True)
class PageSettings:
    """Which requests have pages selected, and how."""

    min_ratio: float = 0.1
    """smallest share of its pages that a request may ask for"""
    selector: str = "attention-mass"
    """a name in `reprise_pages.selectors.SELECTORS`"""
    grids: float = 0.5
    """CHESS's share of grids to keep (rho_g)"""
    chunks: float = 0.5
    """CHESS's share of their chunks to keep (rho_c)"""
    least_tokens: int = 4096
    """shorter contexts stay dense: for them, reading less does not pay for choosing"""
    least_saving: int | None = None
    """bytes of cache that a step must leave unread, else it is dense; None: as `LEAST_SAVING` says, on a CPU 0"""
    requests: int = 8
    """at most this many requests are sparse at once, each with room for summaries; further ones stay dense"""
    sinks: int = 1
    """first pages, always read"""
    recent: int = 2
    """last complete pages, always read"""
    every: int = 2
    """steps between choices; 0: choose when a page has filled"""
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
        for name in ("min_ratio", "grids", "chunks"):
            _PLACE.check_number(name, getattr(self, name), 0, 1)
        for name, least in (("least_tokens", 1), ("requests", 1), ("sinks", 0), ("recent", 1), ("every", 0)):
            _PLACE.check_whole(name, getattr(self, name), least)
        if self.least_saving is not None:
            _PLACE.check_whole("least_saving", self.least_saving, 0)
        if (self.max_entropy is None) != (self.max_varentropy is None):
            raise PageSettingError("pages.max_entropy and pages.max_varentropy go together")
        for name in ("max_entropy", "max_varentropy"):
            if getattr(self, name) is not None:
                _PLACE.check_number(name, getattr(self, name), 0, 1000)
        if self.backtracks and self.every != 0:
            raise PageSettingError("pages.max_entropy is judged when a page fills: pages.every must be 0")
        try:
            from reprise_pages.selectors import SELECTORS
        except ImportError as error:
            raise PageSettingError("pages needs the package reprise-kernels: pip install ./kernels") from error
        if self.selector not in SELECTORS:
            raise PageSettingError(f"pages.selector is {self.selector!r}, it must be one of {', '.join(SELECTORS)}")


def settings_of(config: "VllmConfig") -> PageSettings | None:
    """Returns the engine's settings, or None if its connector has no `pages` setting. Raises `PageSettingError`."""
    transfer = config.kv_transfer_config
    extra = None if transfer is None else transfer.kv_connector_extra_config
    return None if not extra or not extra.get(KEY) else PageSettings.read(extra)
