"""What an engine step changed, as the engine's thread reports it."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from reprise_callbacks import Change, Cleared, evicted, stored
from reprise_vllm.reporting.checkpoint_ledger import CheckpointLedger
from reprise_vllm.reporting.prefix_ledger import PrefixLedger
from reprise_vllm.reporting.watched_group import SideBlocks, WatchedGroup

_RANDOM = re.compile(r"-[0-9a-f]{8}$")
_SAMPLE = re.compile(r"(\d+)_(?=(?:chatcmpl|cmpl)-|resp_)")
_PROMPT = re.compile(r"cmpl-(.*)-(\d+)$", re.DOTALL)
_CHAT = "chatcmpl-"


class Stored(NamedTuple):
    """A request's cached prefix."""

    engine_id: str
    hashes: Sequence[bytes]
    """of its blocks"""
    reused: Sequence[int] = ()
    """tokens reused at another position, and reusable tokens that were recomputed, if any"""
    sides: SideBlocks | None = None
    """what the groups beside full attention hold, if it is known what they must hold"""


class StepReport(NamedTuple):
    """Raw facts of a step. The sender's thread works out which requests they affect."""

    lost: Sequence[bytes] = ()
    """keys (hash and group) of evicted blocks that have no copy left"""
    stored: Sequence[Stored] = ()


class StepTranslator:
    """Turns step reports into changes of requests."""

    def __init__(self, group: WatchedGroup, has_random_suffix: bool) -> None:
        self._block_size = group.block_size
        self._has_random_suffix = has_random_suffix
        self._suffix = group.suffix
        self._checkpoints = CheckpointLedger(group) if group.sides else None
        self._ledger = self._checkpoints or PrefixLedger()
        self._node_tokens = group.hash_block_size if group.sides else group.block_size

    def translate(self, report: StepReport | tuple[Cleared]) -> Iterable[Change | Cleared]:
        if not isinstance(report, StepReport):
            self.forget_all()
            yield from report
            return
        if report.lost:
            lost = (key[: -len(self._suffix)] for key in report.lost if key.endswith(self._suffix))
            for request_id, nodes in self._ledger.lose(lost).items():
                yield evicted(request_id, self._tokens_of(nodes))
            if self._checkpoints:
                self._checkpoints.lose_sides(report.lost)
        told = [
            (request_id, len(one.hashes) * self._block_size, one.reused)
            for one in report.stored
            if (request_id := self._store(one)) is not None
        ]
        checkpoints = self._checkpoints.take_reports() if self._checkpoints else {}
        for request_id, tokens, reused in told:
            own = checkpoints.pop(request_id, None)
            yield stored(request_id, tokens, *reused, checkpoints=own) if tokens or reused else evicted(request_id, 0)
        for request_id, own in checkpoints.items():
            yield evicted(request_id, self._tokens_of(self._ledger.blocks_of(request_id)), own)

    def forget(self, request_id: str) -> None:
        self._ledger.forget(request_id)

    def forget_all(self) -> None:
        self._ledger.clear()

    def _store(self, one: Stored) -> str | None:
        """Returns the id to report; None if there is none."""
        request_id = reported_id(one.engine_id, self._has_random_suffix)
        if request_id is not None:
            if one.sides is None:
                self._ledger.store(request_id, one.hashes)
            else:
                self._checkpoints.store_sides(request_id, one.sides)
        return request_id

    def _tokens_of(self, nodes: int) -> int:
        tokens = nodes * self._node_tokens
        return tokens - tokens % self._block_size


def reported_id(request_id: str, has_random_suffix: bool = True) -> str | None:
    """
    Returns the id that reprise sent as `X-Request-Id`, followed by `-1`, `-2` … for further prompts of one request.

    Returns None for further samples of a prompt (n > 1), which add nothing new. Ids that reprise did not assign are
    returned as the API shows them.
    """
    # `chatcmpl-ID-1a2b3c4d`, `cmpl-ID-0-1a2b3c4d`; samples are `0_chatcmpl-…`
    external = _RANDOM.sub("", request_id) if has_random_suffix else request_id
    sample = _SAMPLE.match(external)
    if sample:
        if int(sample[1]) > 0:
            return None
        external = external[sample.end() :]
    if external.startswith(_CHAT):
        return external[len(_CHAT) :]
    prompt = _PROMPT.match(external)
    if prompt:
        return prompt[1] if prompt[2] == "0" else f"{prompt[1]}-{prompt[2]}"
    return external
