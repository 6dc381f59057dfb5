"""The operator's settings for reuse, by the same names in every engine's plugin."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprise_settings import SettingPlace

if TYPE_CHECKING:
    from reprise_reuse.host_store import RowShape

KEY = "reuse"
HOST_DTYPES = ("model", "int8", "k8v4")
STORES = ("all", "averaged", "preprocessed")
WHEN = ("faster", "always")
RATIO_OF = ("work", "tokens")


class ReuseSettingError(ValueError):
    """An invalid setting; the message names it and says what is valid."""


_PLACE = SettingPlace(KEY, ReuseSettingError, '{"ratio": 0.15}')


@dataclass(frozen=True, slots=True)
class ReuseSettings:
    """How much is reused, and what it may cost."""

    ratio: float = 0.15
    """share of the cost of computing the reused tokens that may be spent on recomputing some of them, unless a request
    asks for another"""
    ratio_of: str = "work"
    """what ratios are shares of: a name in `RATIO_OF`; `tokens`: of the reused tokens, as the papers count them"""
    min_ratio: float = 0.0
    """lowest ratio a request may ask for"""
    max_ratio: float = 1.0
    """highest ratio a request may ask for"""
    method: str = "attention-spread"
    """how the tokens to recompute are chosen: a name in `reprise_reuse.methods.METHODS`"""
    host_bytes: int = 1 << 30
    """bytes of host memory for segments, on each rank"""
    host_dtype: str = "model"
    """how numbers are stored there and on disk: a name in `HOST_DTYPES`; k8v4: keys in eight bits, values in four"""
    disk: str | None = None
    """folder for segments that leave host memory or should outlive the engine"""
    disk_bytes: int = 16 << 30
    """bytes that the folder may hold, on each rank"""
    remote: str | None = None
    """store that several engines share: file:///FOLDER or mooncake://HOST:PORT"""
    store: str = "averaged"
    """which segments a user may reuse: a name in `STORES`. Its own always; `averaged`: also those whose mean no other
    user dominates; `preprocessed`: also those of preprocessing; `all`: everybody's"""
    trusted_salts: Sequence[str] = ()
    """cache salts whose users all trust each other: `all` applies to them"""
    preprocess_key: str | None = None
    """secret by which preprocessing is recognised"""
    contexts: int = 4
    """number of different prefixes after which a segment's mean is final"""
    rows_per_step: int | None = None
    """rows computed in addition to an engine step; more are spread over steps; None: half of max_num_batched_tokens"""
    when: str = "faster"
    """which requests reuse: a name in `WHEN`; those that are predicted to be faster than without, or all"""
    check: float = 0.0
    """share of the requests that reuse whose first token's distribution is compared with that of full attention"""
    least_tokens: int = 64
    """fewest reusable tokens worth reusing"""

    @property
    def offer(self) -> dict[str, float | bool]:
        """The share of the reused rows' compute cost that is spent on recomputing: default, minimum and maximum.

        With `users`, it matters whose a request is, so that the proxy should say it, with `question`, where its
        question stands; with `remote`, where it goes matters less.
        """
        also = {"users": self.store != "all", "question": True, "remote": self.remote is not None}
        told = {name: True for name, is_so in also.items() if is_so}
        return {"ratio": self.ratio, "min_ratio": self.min_ratio, "max_ratio": self.max_ratio, **told}

    @property
    def is_lossy(self) -> bool:
        """Whether rows lose precision in host memory."""
        return self.host_dtype != "model"

    def rows_beside(self, batched_tokens: int) -> int:
        """Returns how many rows may be computed in addition to an engine step of at most `batched_tokens` tokens."""
        return self.rows_per_step or max(1, batched_tokens // 2)

    def _check(self) -> None:
        try:
            from reprise_reuse.methods import METHODS
            from reprise_reuse.stores.store import store_at
        except ImportError as error:
            raise ReuseSettingError("reuse needs the package reprise-kernels: pip install ./kernels") from error
        for name in ("ratio", "min_ratio", "max_ratio", "check"):
            _PLACE.check_number(name, getattr(self, name), 0, 1)
        for name in ("host_bytes", "disk_bytes", "contexts", "least_tokens"):
            _PLACE.check_whole(name, getattr(self, name), 1)
        if self.rows_per_step is not None:
            _PLACE.check_whole("rows_per_step", self.rows_per_step, 1)
        if not self.min_ratio <= self.ratio <= self.max_ratio:
            raise ReuseSettingError(
                f"reuse.ratio is {self.ratio}, it must lie between reuse.min_ratio, {self.min_ratio}, and "
                f"reuse.max_ratio, {self.max_ratio}"
            )
        choices = {
            "method": list(METHODS),
            "host_dtype": HOST_DTYPES,
            "store": STORES,
            "when": WHEN,
            "ratio_of": RATIO_OF,
        }
        for name, known in choices.items():
            _PLACE.check_choice(name, getattr(self, name), known)
        salts = self.trusted_salts
        if not isinstance(salts, list | tuple) or not all(isinstance(one, str) for one in salts):
            raise ReuseSettingError(f"reuse.trusted_salts is {salts!r}, it must be a list of cache salts")
        if self.preprocess_key is not None and (not isinstance(self.preprocess_key, str) or not self.preprocess_key):
            raise ReuseSettingError("reuse.preprocess_key must be a text")
        if self.disk is not None and not _may_be_folder(self.disk):
            raise ReuseSettingError(f"reuse.disk is {self.disk!r}, it must be a folder")
        if self.remote is not None:
            try:
                store_at(str(self.remote))
            except ValueError as error:
                raise ReuseSettingError(f"reuse.remote is {self.remote!r}, {error}") from error


def read_settings(extra: Mapping[str, Any]) -> ReuseSettings | None:
    """Returns the operator's settings, or None if reuse is off.

    Raises `ReuseSettingError` if a setting is invalid or reprise-kernels is not installed.
    """
    settings = _PLACE.read_if_given(ReuseSettings, extra.get(KEY))
    if settings is not None:
        settings._check()
    return settings


def _may_be_folder(given: Any) -> bool:
    if not isinstance(given, str) or not given.strip() or "\0" in given:
        return False
    try:
        Path(given).expanduser()
    except RuntimeError:
        # nobody's home
        return False
    return True


def check_memory(host_bytes: int) -> None:
    """Raises `ReuseSettingError` if the machine has less memory than that."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if host_bytes > physical:
        raise ReuseSettingError(f"reuse.host_bytes is {host_bytes}, more than the {physical} bytes of this machine")


def tokens_in(setting: str, budget: int, row: "RowShape") -> int:
    """Returns how many tokens fit into `budget` bytes. Raises `ReuseSettingError` if not even one segment fits."""
    from reprise_reuse.host_store import slots_in
    from reprise_reuse.segments import MIN_STORED

    tokens = slots_in(budget, row)
    if tokens < MIN_STORED:
        raise ReuseSettingError(
            f"reuse.{setting} is {budget}, it must be {MIN_STORED * row.bytes} at least: a token of this model takes "
            f"{row.bytes} bytes, a segment has {MIN_STORED} tokens or more"
        )
    return tokens
