"""Tracks which request's checkpoints are lost when a block is evicted."""

from collections.abc import Iterable, Sequence

from reprise_vllm.checkpoints.side_groups import Checkpoint


class CheckpointLedger:
    """
    The checkpoints that are held, each as one of the request that stored it last.

    Requests with the same beginning share its checkpoints. A report says what is held of the beginning, whoever has it.
    So it is enough to tell of a loss with one of them: with the one that was reported last, which replaces what others
    reported of it.
    """

    def __init__(self) -> None:
        # by request: tokens of its checkpoints, by their first keys
        self._tokens: dict[str, dict[bytes, int]] = {}
        self._holders: dict[bytes, str] = {}
        # by key: first keys of the checkpoints that need its block
        self._needed: dict[bytes, set[bytes]] = {}

    @property
    def checkpoints(self) -> int:
        """How many are held."""
        return len(self._holders)

    def store(self, request_id: str, checkpoints: Sequence[Checkpoint]) -> None:
        """Records that these are held of the request, and no others. Replaces what was recorded for this id."""
        self.forget(request_id)
        for _, keys in checkpoints:
            first = keys[0]
            holder = self._holders.get(first)
            if holder is None:
                for key in keys:
                    self._needed.setdefault(key, set()).add(first)
            else:
                self._give_up(holder, first)
            self._holders[first] = request_id
        if checkpoints:
            self._tokens[request_id] = {keys[0]: tokens for tokens, keys in checkpoints}

    def lose(self, keys: Iterable[bytes]) -> dict[str, list[int]]:
        """Removes the blocks. Returns the requests to tell with, and the checkpoints that each has left, in tokens."""
        lost = [(key, first) for key in keys for first in self._needed.pop(key, ())]
        told: dict[str, list[int]] = {}
        for _, first in lost:
            holder = self._holders.pop(first, None)
            if holder is not None:
                self._give_up(holder, first)
                told[holder] = []
        return {holder: sorted(self._tokens.get(holder, {}).values()) for holder in told}

    def _give_up(self, holder: str, first: bytes) -> None:
        left = self._tokens.get(holder, {})
        left.pop(first, None)
        if not left:
            self._tokens.pop(holder, None)

    def forget(self, request_id: str) -> None:
        """Stops tracking the request, and the checkpoints of which it is the last that is known."""
        for first in self._tokens.pop(request_id, ()):
            self._holders.pop(first, None)

    def clear(self) -> None:
        """Forgets everything."""
        self._tokens.clear()
        self._holders.clear()
        self._needed.clear()
