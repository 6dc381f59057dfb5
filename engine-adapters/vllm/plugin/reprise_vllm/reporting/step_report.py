"""What an engine step changed, as the engine's thread reports it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from reprise_callbacks import Change, Cleared, evicted, stored
from reprise_vllm.checkpoints.checkpoint_ledger import CheckpointLedger
from reprise_vllm.checkpoints.side_groups import Checkpoint
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
    checkpoints: Mapping[str, Sequence[Checkpoint]] | None = None
    """by request: the lengths at which all groups of layers hold it; None: there is one group"""


class StepTranslator:
    """Turns step reports into changes of requests."""

    def __init__(self, block_size: int, has_random_suffix: bool, group_id: int = 0) -> None:
        """group_id: of full attention"""
        self._block_size = block_size
        self._has_random_suffix = has_random_suffix
        self._suffix = group_id.to_bytes(_GROUP_BYTES, "big")
        self._ledger = PrefixLedger()
        self._checkpoints = CheckpointLedger()

    def translate(self, report: StepReport | tuple[Cleared]) -> Iterable[Change | Cleared]:
        if not isinstance(report, StepReport):
            self.forget_all()
            yield from report
            return
        if report.lost:
            lost = (key[:-_GROUP_BYTES] for key in report.lost if key.endswith(self._suffix))
            for request_id, blocks in self._ledger.lose(lost).items():
                yield evicted(request_id, blocks * self._block_size)
            for request_id, left in self._checkpoints.lose(report.lost).items():
                yield evicted(request_id, self._ledger.blocks_of(request_id) * self._block_size, left)
        for engine_id, hashes in report.stored:
            request_id = reported_id(engine_id, self._has_random_suffix)
            if request_id is None:
                continue
            self._ledger.store(request_id, hashes)
            tokens = len(hashes) * self._block_size
            reused = report.reused.get(engine_id, ())
            if report.checkpoints is not None and tokens:
                checkpoints = report.checkpoints.get(engine_id, ())
                self._checkpoints.store(request_id, checkpoints)
                yield stored(request_id, tokens, checkpoints=[one.tokens for one in checkpoints])
                continue
            yield stored(request_id, tokens, *reused) if tokens or reused else evicted(request_id, 0)

    def forget(self, request_id: str) -> None:
        self._ledger.forget(request_id)
        self._checkpoints.forget(request_id)

    def forget_all(self) -> None:
        self._ledger.clear()
        self._checkpoints.clear()
