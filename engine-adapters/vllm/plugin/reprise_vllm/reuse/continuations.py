"""How a conversation goes on from rows that are approximate, which nobody else may find."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """A prompt and its answer as their pages were entered into vLLM's prefix cache."""

    hashes: Sequence[bytes]
    """of its full blocks: those of `private_from` on only it has"""
    prompt_blocks: int
    """of these so many are its prompt's"""
    prompt_end: Sequence[int]
    """the tokens of its prompt behind these blocks"""
    private_from: int
    """block"""
    exact_tokens: int
    """length of its prefix that full attention computed"""
    ratio: float
    """the ratio by which rows of it were computed again"""


class Continuations:
    """
    The approximate turns that a later prompt may begin with, by the hashes their blocks would have if they were exact.

    vLLM chains these over all tokens, the salt and the adapter: an equal hash means the same text of the same tenant.
    """

    def __init__(self, blocks: int, block_size: int) -> None:
        """blocks: more are not remembered; vLLM's own cache holds no more either"""
        self._blocks = blocks
        self._block_size = block_size
        self._turns: OrderedDict[bytes, Turn] = OrderedDict()

    def __len__(self) -> int:
        return len(self._turns)

    def remember(self, public: Sequence[bytes], turn: Turn) -> None:
        """A turn is over; `public` are the hashes its blocks would have if they were exact."""
        for block in range(turn.private_from, min(len(public), len(turn.hashes))):
            self._turns[public[block]] = turn
            self._turns.move_to_end(public[block])
        while len(self._turns) > self._blocks:
            self._turns.popitem(last=False)

    def find(self, public: Sequence[bytes], tokens: Sequence[int], ratio: float) -> tuple[Turn, int] | None:
        """Returns the turn that a prompt goes on from, and how many blocks they have in common; None if there is none.

        A prompt that shares only a part of a turn's prompt has another question: its rows are chosen anew.

        public  the prompt's block hashes
        tokens  the prompt
        ratio   of what the turn reused at least this share must have been computed again
        """
        for block in reversed(range(len(public))):
            turn = self._turns.get(public[block])
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
