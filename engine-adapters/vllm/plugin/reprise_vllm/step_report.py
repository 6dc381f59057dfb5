"""What a step of the engine changed, as its thread hands it over."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reprise_callbacks import Change, Cleared, evicted, stored
from reprise_vllm.prefix_ledger import PrefixLedger
from reprise_vllm.request_ids import reported_id

_GROUP_BYTES = 4


@dataclass(frozen=True, slots=True)
class StepReport:
    """Raw facts: finding out whom they concern is left to the sender's thread."""

    lost: Sequence[bytes] = ()
    """keys (hash and group) of evicted blocks of which no copy is left"""
    stored: Sequence[tuple[str, Sequence[bytes]]] = ()
    """requests by the engine's id, and the hashes of their cached prefix"""
    reused: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """of these requests: tokens that were reused at another position, and those of them that were computed again"""


class StepTranslator:
    """Turns steps of the engine into changes of requests."""

    def __init__(self, block_size: int, has_random_suffix: bool) -> None:
        self._block_size = block_size
        self._has_random_suffix = has_random_suffix
        self._ledger = PrefixLedger()

    def translate(self, report: StepReport | tuple[Cleared]) -> Iterable[Change | Cleared]:
        if not isinstance(report, StepReport):
            self._ledger.clear()
            yield from report
            return
        if report.lost:
            lost = (key[:-_GROUP_BYTES] for key in report.lost)
            for request_id, blocks in self._ledger.lose(lost).items():
                yield evicted(request_id, blocks * self._block_size)
        for engine_id, hashes in report.stored:
            request_id = reported_id(engine_id, self._has_random_suffix)
            if request_id is None:
                continue
            self._ledger.store(request_id, hashes)
            tokens = len(hashes) * self._block_size
            reused = report.reused.get(engine_id, ())
            yield stored(request_id, tokens, *reused) if tokens or reused else evicted(request_id, 0)

    def forget(self, request_id: str) -> None:
        self._ledger.forget(request_id)

    def forget_all(self) -> None:
        self._ledger.clear()
