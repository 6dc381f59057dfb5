"""What reprise would believe, without the thread and the sockets in between."""

from collections.abc import Iterable

from reprise_callbacks import Cleared
from reprise_sglang.reporting.cache_facts import Anchored, Evicted, Promoted
from reprise_sglang.reporting.request_places import RequestPlaces


class MirrorDouble:
    """Replaces the sender: handles every report at once, as the sender's thread and reprise do together."""

    def __init__(self) -> None:
        self.places = RequestPlaces()
        self.lengths: dict[str, int] = {}
        self.told: list[tuple[str, str, int]] = []
        self.is_closed = False

    def report(self, report: Iterable[Anchored | Evicted | Promoted | Cleared], facts: int = 1) -> None:
        for change in self.places.translate(report):
            if isinstance(change, Cleared):
                self.lengths.clear()
                continue
            self.told.append((change.kind, change.request_id, change.cached_tokens))
            if change.cached_tokens > 0:
                self.lengths[change.request_id] = change.cached_tokens
            else:
                self.lengths.pop(change.request_id, None)

    def cleared(self) -> None:
        self.report((Cleared(),))

    def close(self) -> None:
        self.is_closed = True

    def take_told(self) -> list[tuple[str, str, int]]:
        told, self.told = self.told, []
        return told
