"""Lets a conversation continue from its approximate rows, which no other request may find."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """A prompt and its answer, as their pages were entered into vLLM's prefix cache."""

    hashes: Sequence[bytes]
    """of its full blocks; from `private_from` on they are private"""
    prompt_blocks: int
    """how many of these blocks are its prompt's"""
    prompt_end: Sequence[int]
    """the tokens of its prompt after these blocks"""
    private_from: int
    """the first private block"""
    exact_tokens: int
    """length of the prefix that full attention computed"""
    ratio: float
    """the ratio at which its reused rows were recomputed"""
    user: bytes = b""
    """who may continue it"""


class Continuations:
    """
    The approximate turns that a later prompt may start with, by the hashes their blocks would have if they were exact.

    vLLM chains these hashes over all tokens, the salt and the adapter: equal hashes mean the same text and tenant.
    """

    def __init__(self, blocks: int, block_size: int) -> None:
        """blocks: how many to remember at most; vLLM's own cache holds no more either"""
        self._blocks = blocks
        self._block_size = block_size
        self._turns: OrderedDict[tuple[bytes, bytes], Turn] = OrderedDict()

    def __len__(self) -> int:
        return len(self._turns)

    def remember(self, public: Sequence[bytes], turn: Turn) -> None:
        """Remembers a turn that has ended. `public`: the hashes its blocks would have if they were exact."""
        for block in range(turn.private_from, min(len(public), len(turn.hashes))):
            self._turns[turn.user, public[block]] = turn
            self._turns.move_to_end((turn.user, public[block]))
        while len(self._turns) > self._blocks:
            self._turns.popitem(last=False)

    def find(
        self, public: Sequence[bytes], tokens: Sequence[int], ratio: float, user: bytes = b""
    ) -> tuple[Turn, int] | None:
        """Returns the turn that a prompt continues, and how many blocks they share; None if there is none.

        A prompt that shares only part of a turn's prompt asks another question, so its rows are chosen again.

        public  the prompt's block hashes
        tokens  the prompt
        user    whose prompt it is
        ratio   the least ratio at which the turn's reused rows must have been recomputed
        """
        for block in reversed(range(len(public))):
            turn = self._turns.get((user, public[block]))
            if turn is not None:
                goes_on = self._holds_prompt(tokens, turn, block + 1) and turn.ratio >= ratio
                return (turn, block + 1) if goes_on else None
        return None

    def _holds_prompt(self, tokens: Sequence[int], turn: Turn, blocks: int) -> bool:
        end = turn.prompt_blocks * self._block_size
        return blocks >= turn.prompt_blocks and tokens[end : end + len(turn.prompt_end)] == turn.prompt_end

    def clear(self) -> None:
        """Forgets all turns."""
        self._turns.clear()
