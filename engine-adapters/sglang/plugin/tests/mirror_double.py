"""What reprise would believe, without the thread and the sockets in between."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from reprise_callbacks import Cleared
from reprise_sglang.reporting.cache_reporter import Anchored, Evicted, Promoted
from reprise_sglang.reporting.request_places import RequestPlaces


class MirrorDouble:
    """Replaces the sender: handles every report at once, as the sender's thread and reprise do together."""

    def __init__(self) -> None:
        self.places = RequestPlaces()
        self.lengths: dict[str, int] = {}
        self.checkpoints: dict[str, Sequence[int | tuple[int, int]]] = {}
        """in the order in which they were told"""
        self.told: list[tuple[str, str, int]] = []
        self.is_closed = False

    def report(self, report: Iterable[Anchored | Evicted | Promoted | Cleared], facts: int = 1) -> None:
        for change in self.places.translate(report):
            if isinstance(change, Cleared):
                self.lengths.clear()
                self.checkpoints.clear()
                continue
            self.told.append((change.kind, change.request_id, change.cached_tokens))
            if change.checkpoints is not None:
                self.checkpoints.pop(change.request_id, None)
                self.checkpoints[change.request_id] = change.checkpoints
            if change.cached_tokens > 0:
                self.lengths[change.request_id] = change.cached_tokens
            else:
                self.lengths.pop(change.request_id, None)

    def find(self, tokens: Sequence[int], texts: Mapping[str, Sequence[int]]) -> int:
        """Returns up to where others find these tokens beside windows or states. `texts`: of the requests."""
        held: dict[int, bool] = {}
        for request_id, checkpoints in self.checkpoints.items():
            pairs = zip(tokens, texts.get(request_id, ()), strict=False)
            shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            ranges = [one if isinstance(one, tuple) else (one, one) for one in checkpoints]
            # what was told last of a shared prefix holds
            for end in range(1, min(shared, self.lengths.get(request_id, 0)) + 1):
                held[end] = any(first <= end <= last for first, last in ranges)
        return max((end for end, is_held in held.items() if is_held), default=0)

    def cleared(self) -> None:
        self.report((Cleared(),))

    def close(self, *, wait: bool) -> None:
        self.is_closed = True

    def take_told(self) -> list[tuple[str, str, int]]:
        told, self.told = self.told, []
        return told
