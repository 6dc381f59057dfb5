"""What the scheduler's side knows of requests under way, and how much it may hold."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reprise_reuse.segments import Found, Segment
from reprise_reuse.work import RowWork
from reprise_vllm.reuse.claims import Claim
from reprise_vllm.reuse.continuations import Turn
from reprise_vllm.reuse.messages import Piece
from reprise_vllm.reuse.wishes import Wish

if TYPE_CHECKING:
    from vllm.v1.request import Request


class Limits(NamedTuple):
    """What the catalogue and a step may hold, in tokens, and what rows cost."""

    host_tokens: int
    disk_tokens: int
    rows_per_step: int
    block_size: int
    ranks: int
    device_blocks: int
    work: RowWork = RowWork()


@dataclass(slots=True)
class Asked:
    """A request under way."""

    request: "Request"
    wish: Wish
    namespace: bytes
    stock_because: str | None
    """why nothing is reused for it"""
    claim: Claim | None = None
    pieces: list[Piece] = field(default_factory=list)
    """of the claim: where its rows lie"""
    is_late: bool = False
    """its load takes more than one step"""
    fetching: list[Segment] = field(default_factory=list)
    found: tuple[tuple[int, int], list[Found]] | None = None
    """what was found, at which version of the catalogue and behind how many cached tokens"""
    public: Sequence[bytes] = ()
    """the hashes of its prompt's blocks as vLLM made them"""
    salt: str | None = None
    private_from: int | None = None
    """its blocks from this token on have hashes of their own"""
    earlier: Turn | None = None
    """the approximate turn that it begins with"""
    cached: int = 0
    """tokens that vLLM found in its own cache, those of that turn among them"""
    exact_tokens: int | None = None
    """length of the prefix that full attention computed; None: all of it"""
    reused: int = 0
    recomputed: int = 0
    is_counted: bool = False
    is_stored: bool = False

    def turn(self, block_size: int) -> Turn | None:
        """What a later prompt may go on from; None where nothing of it is approximate.

        What was all computed again is as full attention has it, and going on from it would be counted as reuse.
        """
        ratio = min(self.wish.ratio, self.earlier.ratio if self.earlier else 1)
        if self.exact_tokens is None or self.private_from is None or ratio == 1:
            return None
        blocks = len(self.public)
        return Turn(
            list(self.request.block_hashes), blocks, self.request.prompt_token_ids[blocks * block_size :],
            self.private_from // block_size, self.exact_tokens, ratio,
        )  # fmt: skip


def prompt_of(request: "Request") -> np.ndarray:
    """The tokens of the request's prompt; int32 [n]."""
    return np.array(request.prompt_token_ids, dtype=np.int32)
