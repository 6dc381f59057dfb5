"""What the scheduler's side knows about active requests."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reprise_reuse.costs import Costs
from reprise_reuse.pieces import GroupBlocks, Load, Piece
from reprise_reuse.prompts import asked
from reprise_reuse.prompts.claims import Claim, piece_of
from reprise_settings.reuse_settings import ReuseSettings
from reprise_vllm.engine.private_hashes import go_on_from, make_private
from reprise_vllm.reuse.scheduler.continuations import Turn
from reprise_vllm.usage.prompt_tokens_details import prefill_stats

if TYPE_CHECKING:
    from vllm.v1.request import Request

_TRANSFERS = {"do_remote_decode", "do_remote_prefill"}


@dataclass(slots=True, kw_only=True)
class Asked(asked.Asked):
    """An active request."""

    request: "Request"
    claim: Claim | None = None
    pieces: list[Piece] = field(default_factory=list)
    """where the claim's rows are stored"""
    is_late: bool = False
    """its load takes more than one step"""
    is_loading: bool = False
    """it has blocks for such a load"""
    is_given_up: bool = False
    """its load, or room for it, was given up: with windows, another would need room beside what vLLM keeps for it"""
    public: Sequence[bytes] = ()
    """hashes of its prompt's blocks, as vLLM computed them"""
    salt: str | None = None
    private_from: int | None = None
    """from this token on, its blocks have private hashes"""
    earlier: Turn | None = None
    """the approximate turn that its prompt starts with"""
    cached: int = 0
    """tokens found in vLLM's own cache, including those of `earlier`"""
    cached_exact: int = 0
    """of `exact`, what was in vLLM's own cache"""
    earlier_reused: int = 0
    """of `reused`, what an earlier turn had taken"""

    @property
    def ratio(self) -> float:
        return min(self.wish.ratio, self.earlier.ratio if self.earlier else 1)

    @property
    def kind(self) -> str:
        """What became of it: `stock`, `cold` where nothing was found, `reused`, or `late` over several steps."""
        if self.is_counted:
            return "late" if self.is_late else "reused"
        return "cold" if self.stock_because is None and self.unclaimed_because is None else "stock"

    @property
    def shared_with(self) -> bytes:
        """The user who may continue its turn; with `all`, everybody is the same one."""
        return b"" if self.store == "all" else self.wish.user

    def take(self, claim: Claim, block_size: int) -> None:
        """Notes a claim, before blocks are allocated for it."""
        if claim.exact_end < claim.end and (self.private_from is None or claim.exact_end < self.private_from):
            # private blocks stay private, also through preemptions, after which the exact part may be shorter
            make_private(self.request, claim.exact_end // block_size)
            self.private_from = claim.exact_end
        self.claim, self.pieces = claim, [piece_of(one) for one in claim.found]

    def go_on(self, earlier: Turn, blocks: int, block_size: int) -> None:
        """Has vLLM look up the first blocks of its prompt under the hashes of an approximate turn."""
        self.earlier, self.exact_tokens = earlier, earlier.exact_tokens
        self.private_from = earlier.private_from * block_size
        go_on_from(self.request, earlier.hashes[:blocks])

    def go_back(self) -> None:
        """Drops the earlier turn: none of its approximate rows are cached any more, so the request is exact again."""
        self.earlier = self.exact_tokens = self.private_from = None
        go_on_from(self.request, self.public)

    def give_back(self, claim: Claim) -> None:
        """Undoes a claim that is not loaded: from here on, the request is as exact as without the claim."""
        if self.earlier is None and self.private_from == claim.exact_end and self.exact_tokens is None:
            self.private_from, self.request.cache_salt = None, self.salt
            go_on_from(self.request, self.public)

    def note_tokens(self, claim: Claim | None) -> None:
        """Notes what is to become of a prompt that reuses rows of an earlier turn or of a claim, also for its usage."""
        self.is_counted = True
        self.earlier_reused = self.cached - self.earlier.exact_tokens if self.earlier else 0
        self.cached_exact = self.cached - self.earlier_reused
        self.exact = self.cached_exact + (claim.exact if claim else 0)
        self.reused = self.earlier_reused + (claim.reused if claim else 0)
        self.recomputed = claim.budget if claim else 0
        self._put_in_usage()

    def lose_tokens(self, rows: int) -> None:
        """Notes that so many rows of its claim were missing, or not loaded at all, and are computed like any others."""
        for name, least in (("reused", self.earlier_reused), ("recomputed", 0), ("exact", self.cached_exact)):
            taken = min(rows, getattr(self, name) - least)
            setattr(self, name, getattr(self, name) - taken)
            rows -= taken
        self._put_in_usage()

    def _put_in_usage(self) -> None:
        """Has usage report what is noted, unless the first token, with which it is reported, was computed already."""
        request = self.request
        if request.prefill_stats is not None:
            request.prefill_stats = prefill_stats(request.num_prompt_tokens, self.cached, self.exact, self.reused)

    def load(self, claim: Claim, blocks: GroupBlocks) -> Load:
        """Returns what fills a claim's rows, and notes what becomes of the prompt."""
        self.is_loading = self.is_late
        self.fetching.clear()
        self.filled(claim)
        return Load(
            self.request.request_id, self.prompt, blocks, claim.begin, claim.end, self.pieces,
            claim.question, claim.budget, claim.method, self.is_late, claim.seconds.question, claim.seconds.load,
        )  # fmt: skip

    def turn(self, block_size: int) -> Turn | None:
        """Returns the turn that a later prompt may continue from, or None if nothing in it is approximate.

        With ratio 1 everything was recomputed and equals full attention; continuing from it would count as reuse.
        """
        if self.exact_tokens is None or self.private_from is None or self.ratio == 1:
            return None
        blocks = len(self.public)
        return Turn(
            list(self.request.block_hashes), blocks, self.request.prompt_token_ids[blocks * block_size :],
            self.private_from // block_size, self.exact_tokens, self.ratio, self.shared_with,
        )  # fmt: skip


def delays_others(claim: Claim, costs: Costs, all_asked: Iterable[Asked]) -> bool:
    """Whether answers would wait for a claim's copies from host memory longer than the shortest step takes."""
    return claim.on_host > costs.rows_beside(1) and any(one.is_stored for one in all_asked)


def asked_by(request: "Request", settings: ReuseSettings) -> Asked:
    """Reads what a new request asks for."""
    return Asked.of(
        request.prompt_token_ids or (), request.kv_transfer_params, settings, keys_of(request), why_stock(request),
        request=request, public=list(request.block_hashes), salt=request.cache_salt,
    )  # fmt: skip


def why_stock(request: "Request") -> str | None:
    """Returns why the request must be served without reuse, whatever it wishes, or None if it need not be."""
    sampling, params = request.sampling_params, request.kv_transfer_params
    reasons = {
        "pooling": sampling is None,
        "prompt_logprobs": sampling is not None and sampling.prompt_logprobs is not None,
        "multimodal": bool(request.mm_features),
        "embeddings": request.prompt_token_ids is None or request.prompt_embeds is not None,
        "streamed_input": request.resumable,
        "cache_not_read": request.skip_reading_prefix_cache,
        # another engine gets its rows, or gives them, under the hashes of exact ones
        "transferred": isinstance(params, dict)
        and bool(_TRANSFERS & {name for name, is_on in params.items() if is_on}),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def keys_of(request: "Request") -> tuple[object, ...]:
    """Returns the cache salt and adapter: only requests with the same two may use what this one stores."""
    lora = request.lora_request
    return request.cache_salt, (lora.lora_name, lora.lora_int_id, lora.lora_path) if lora else None
