"""What an engine step changed, as the engine's thread reports it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reprise_callbacks import Change, Cleared, evicted, stored
from reprise_vllm.reporting.prefix_ledger import PrefixLedger
from reprise_vllm.reporting.request_ids import reported_id

_GROUP_BYTES = 4


@dataclass(frozen=True, slots=True)
class StepReport:
    """Raw facts of a step. The sender's thread works out which requests they affect."""

    lost: Sequence[bytes] = ()
    """keys (hash and group) of evicted blocks that have no copy left"""
    stored: Sequence[tuple[str, Sequence[bytes]]] = ()
    """the engine's request ids, each with the block hashes of its cached prefix"""
    reused: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """by request: tokens reused at another position, and reusable tokens that were recomputed"""


class StepTranslator:
    """Turns step reports into changes of requests."""

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
