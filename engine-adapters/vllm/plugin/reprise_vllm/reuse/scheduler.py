"""The scheduler's side of reuse: claims rows that segments hold, and says what workers load and store."""

import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from logging import Logger
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reprise_reuse.segments import MIN_MATCH, Catalogue, Found, Segment, cut
from reprise_reuse.segments.catalogue import prefix_digests
from reprise_vllm.cache_watcher import Reuse
from reprise_vllm.reuse.claims import Claim, make_claim
from reprise_vllm.reuse.continuations import Continuations, Turn
from reprise_vllm.reuse.engine_parts import go_on_from, make_private, public_hashes
from reprise_vllm.reuse.messages import DiskFile, Load, Piece, ReuseStep, Save, WorkerReport
from reprise_vllm.reuse.settings import ReuseSettings
from reprise_vllm.reuse.usage import prefill_stats
from reprise_vllm.reuse.wishes import Wish, namespace_of, read_wish, why_stock

if TYPE_CHECKING:
    from vllm.v1.core.sched.output import SchedulerOutput
    from vllm.v1.request import Request

LEAST_CONTEXT = 64
"""a segment's mean is over contexts of at least so many tokens: behind less it is what it is at a prompt's beginning"""


class Limits(NamedTuple):
    """What the catalogue and a step may hold, in tokens."""

    host_tokens: int
    disk_tokens: int
    rows_per_step: int
    block_size: int
    ranks: int
    device_blocks: int


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


class ReuseScheduler:
    """
    Finds what a prompt repeats, and claims it as tokens that need no computing by vLLM.

    The catalogue here decides where rows lie and what is evicted, and workers obey: so all ranks hold the same, and a
    claim waits for no answer. Steps reach the workers in order, so a load reads its slots before they are given away.
    """

    def __init__(self, settings: ReuseSettings, limits: Limits, line_ends: Collection[int], logger: Logger) -> None:
        self._settings = settings
        self._limits = limits
        # of earlier lives files may be left
        self._catalogue = Catalogue(limits.host_tokens, limits.disk_tokens, first_name=time.time_ns())
        self._continuations = Continuations(limits.device_blocks)
        self._line_ends = line_ends
        self._logger = logger
        self._asked: dict[str, Asked] = {}
        self._step = ReuseStep()
        self._rows_claimed = 0
        self._ready_ranks = 0
        self._fetched: Counter[int] = Counter()
        self._written: Counter[int] = Counter()
        self.refusal: str | None = None
        """why nothing is reused, or nothing any more"""
        self.counts: Counter[tuple[str, str]] = Counter()
        """(what, of which kind): tokens, requests and segments since the start"""
        self._counts_taken: Counter[tuple[str, str]] = Counter()

    @property
    def is_ready(self) -> bool:
        """Whether the self-test has passed on all ranks."""
        return self.refusal is None and self._ready_ranks >= self._limits.ranks

    def begin(self, request: "Request") -> None:
        """A request arrives."""
        wish = read_wish(request.kv_transfer_params, self._settings)
        because = why_stock(request) or wish.stock_because
        asked = Asked(request, wish, namespace_of(request), because)
        asked.public, asked.salt = list(request.block_hashes), request.cache_salt
        self._asked[request.request_id] = asked
        if because:
            self.counts["stock", because] += 1
        elif self.is_ready:
            self._go_on(asked)

    def claim(self, request: "Request", cached: int) -> tuple[int | None, bool]:
        """How many tokens behind the first `cached` ones vLLM need not compute, and whether they take several steps.

        None: ask again in the next step, since segments are being read from disk.
        """
        asked = self._asked.get(request.request_id)
        if asked is None or asked.stock_because or not self.is_ready:
            return 0, False
        asked.cached = cached
        if asked.earlier is not None and cached <= asked.earlier.exact_tokens and request.num_preemptions == 0:
            self._go_back(asked)
        prompt = _prompt_of(request)
        found = self._find(asked, prompt, cached)
        if not self._fetch(asked, found):
            return None, False
        found = [one for one in found if one.segment.slots is not None and not one.segment.is_fetching]
        claim = make_claim(
            found, cached, len(prompt), asked.wish.ratio, self._settings.least_tokens,
            is_lossless=not self._settings.keeps_int8,
        )  # fmt: skip
        if claim is None:
            return 0, False
        if claim.exact_end < claim.end and (asked.private_from is None or claim.exact_end < asked.private_from):
            # what is private stays so, through preemptions too; behind one the exact part may have become shorter
            make_private(request, claim.exact_end // self._limits.block_size)
            asked.private_from = claim.exact_end
        asked.claim, asked.pieces = claim, [_piece_of(one) for one in claim.found]
        # vLLM computes what follows in the same step
        rows = self._rows_claimed + claim.computed + len(prompt) - claim.end
        asked.is_late = claim.computed > 0 and rows > self._limits.rows_per_step
        return claim.end - cached, asked.is_late

    def allocated(self, request: "Request", blocks: Sequence[int], external: int) -> None:
        """The request has blocks, and `external` tokens of them are ours to fill."""
        asked = self._asked.get(request.request_id)
        if asked is None:
            return
        claim, asked.claim, asked.found = asked.claim if external else None, None, None
        if claim is not None:
            self._load(asked, claim, blocks)
        if (claim is not None or asked.earlier is not None) and not asked.is_counted and request.num_preemptions == 0:
            self._count(asked, claim)

    def end_step(self, output: "SchedulerOutput") -> ReuseStep | None:
        """What workers are to do in the step that has been scheduled; None where there is nothing."""
        blocks = output.kv_connector_block_state
        for request_id, count in output.num_scheduled_tokens.items():
            asked = self._asked.get(request_id)
            if asked is None or asked.is_stored or self.refusal is not None:
                continue
            request = asked.request
            if request.num_computed_tokens + count >= request.num_prompt_tokens:
                asked.is_stored = True
                self._count_unclaimed(asked)
                self._store(request, asked, blocks.get_block_ids(request_id)[0])
        self.counts["segments", "evicted"] = self._catalogue.evicted
        self._step.dropped_files += self._catalogue.take_dropped_files()
        self._rows_claimed = 0
        step, self._step = self._step, ReuseStep()
        return None if step.is_empty else step

    def abandon_step(self) -> ReuseStep | None:
        """What of the step has been promised already, where `end_step` could not end."""
        loads, self._step = self._step.loads, ReuseStep()
        return ReuseStep(loads=loads) if loads else None

    def finished(self, request: "Request") -> None:
        """The request is over, aborted or not."""
        asked = self._asked.pop(request.request_id, None)
        if asked is None:
            return
        if asked.is_late:
            self._step.aborted.append(request.request_id)
        if asked.exact_tokens is not None and asked.private_from is not None:
            private_from = asked.private_from // self._limits.block_size
            ratio = min(asked.wish.ratio, asked.earlier.ratio if asked.earlier else 1)
            turn = Turn(list(request.block_hashes), len(asked.public), private_from, asked.exact_tokens, ratio)
            self._continuations.remember(public_hashes(request, asked.public, asked.salt), turn)

    def heard(self, report: WorkerReport) -> None:
        """What workers have said."""
        self._ready_ranks += report.ready
        if report.refusals and self.refusal is None:
            self.refusal = report.refusals[0]
            self._logger.error("reprise: nothing is reused: %s", self.refusal)
        for file, tokens in report.restored_on_all(self._limits.ranks):
            self._catalogue.restore(
                Segment(
                    file.name, file.namespace, tokens, None, file.position, list(file.prefixes), file.is_exact,
                    owner=file.name, is_on_disk=True,
                )
            )  # fmt: skip
        for name in self._complete(self._fetched, report.fetched):
            self._end_fetch(name)
        for name in self._complete(self._written, report.written):
            segment = self._catalogue.get(name)
            if segment is not None:
                self._catalogue.written(segment)
            else:
                # it left while it was being written
                self._step.dropped_files.append(name)
        for owner in report.lost:
            for segment in self._catalogue.owned_by(owner):
                segment.is_fetching = False
                self.counts["segments", "lost"] += 1
                self._catalogue.drop(segment)

    def reuse_of(self, request_id: str) -> Reuse | None:
        """How much of the request is not what full attention gives; None where all is."""
        asked = self._asked.get(request_id)
        if asked is None or asked.exact_tokens is None:
            return None
        return Reuse(asked.exact_tokens, asked.reused, asked.recomputed)

    @property
    def offer(self) -> dict[str, float]:
        """The shares of what is reused that are computed again: by default, and at most."""
        return {"ratio": self._settings.ratio, "max_ratio": self._settings.max_ratio}

    def take_counts(self) -> Counter[tuple[str, str]]:
        """What was counted since this was last asked."""
        fresh = self.counts - self._counts_taken
        if fresh:
            self._counts_taken = self.counts.copy()
        return fresh

    def reset(self) -> None:
        """Forgets what is stored, as `/reset_prefix_cache` asks."""
        self._catalogue.clear()
        self._continuations.clear()

    # ---- conversations

    def _go_on(self, asked: Asked) -> None:
        """Has a prompt that begins with an approximate turn looked up under the hashes of that turn's blocks."""
        known = self._continuations.find(asked.public, asked.wish.ratio)
        if known is not None:
            asked.earlier, blocks = known
            asked.exact_tokens = asked.earlier.exact_tokens
            asked.private_from = asked.earlier.private_from * self._limits.block_size
            go_on_from(asked.request, asked.earlier.hashes[:blocks])

    def _go_back(self, asked: Asked) -> None:
        """None of that turn's approximate rows are left: what is found and computed is as exact as without it."""
        asked.earlier = asked.exact_tokens = asked.private_from = None
        go_on_from(asked.request, asked.public)

    # ---- claims

    def _find(self, asked: Asked, prompt: np.ndarray, cached: int) -> list[Found]:
        """As the catalogue finds it; a request that waits is asked about in every step."""
        at = (self._catalogue.version, cached)
        if asked.found is None or asked.found[0] != at:
            asked.found = (at, self._catalogue.find(asked.namespace, prompt, cached))
        return asked.found[1]

    def _load(self, asked: Asked, claim: Claim, blocks: Sequence[int]) -> None:
        """Has the rows of a claim filled."""
        request = asked.request
        self._step.loads.append(
            Load(
                request.request_id, _prompt_of(request), list(blocks), claim.begin, claim.end, asked.pieces,
                claim.question, claim.budget, self._settings.method, asked.is_late, claim.asking,
            )
        )  # fmt: skip
        if not asked.is_late:
            self._rows_claimed += claim.computed
        self._catalogue.use(one.segment for one in claim.found)
        asked.fetching.clear()
        if claim.exact_end < claim.end:
            known = claim.exact_end if asked.exact_tokens is None else asked.exact_tokens
            asked.exact_tokens = min(claim.exact_end, known)

    def _count(self, asked: Asked, claim: Claim | None) -> None:
        request, asked.is_counted = asked.request, True
        earlier = asked.cached - asked.earlier.exact_tokens if asked.earlier else 0
        exact = asked.cached - earlier + (claim.exact if claim else 0)
        asked.reused = earlier + (claim.reused if claim else 0)
        asked.recomputed = claim.budget if claim else 0
        self.counts["tokens", "exact"] += exact
        self.counts["tokens", "reused"] += asked.reused
        self.counts["tokens", "recomputed"] += asked.recomputed
        self.counts["tokens", "cold"] += request.num_prompt_tokens - exact - asked.reused - asked.recomputed
        if request.prefill_stats is not None:
            request.prefill_stats = prefill_stats(request.num_prompt_tokens, asked.cached, exact, asked.reused)

    def _count_unclaimed(self, asked: Asked) -> None:
        if not asked.is_counted:
            stats = asked.request.prefill_stats
            exact = stats.num_cached_tokens if stats is not None else 0
            self.counts["tokens", "exact"] += exact
            self.counts["tokens", "cold"] += asked.request.num_prompt_tokens - exact

    # ---- what is stored

    def _store(self, request: "Request", asked: Asked, blocks: Sequence[int]) -> None:
        """Has the prompt's rows stored that no segment holds, and others averaged in, where they are exact."""
        if asked.stock_because not in (None, "off"):
            return
        prompt = _prompt_of(request)
        found = self._catalogue.find(asked.namespace, prompt)
        pieces = [*self._new_pieces(prompt, found, asked), *self._averages(prompt, found, asked)]
        if pieces:
            self._step.saves.append(Save(prompt, list(blocks), pieces))
        self._catalogue.use(one.segment for one in found)

    def _new_pieces(self, prompt: np.ndarray, found: Sequence[Found], asked: Asked) -> Iterator[Piece]:
        tokens = prompt.tolist()
        cuts = [
            piece
            for begin, end in _gaps(found, len(prompt))
            for piece in cut(tokens, begin, end, self._line_ends, asked.wish.borders)
            if piece[1] - piece[0] >= MIN_MATCH
        ]
        digests = prefix_digests(prompt, (start for start, _ in cuts))
        exact = len(prompt) if asked.exact_tokens is None else asked.exact_tokens
        for start, end in cuts:
            segment = self._catalogue.add(
                asked.namespace, prompt[start:end], start, digests[start], is_exact=end <= exact
            )
            if segment is not None and segment.slots is not None:
                self.counts["segments", "stored"] += 1
                yield Piece(start, end, segment.slots, segment.owner)
                self._write(segment)

    def _averages(self, prompt: np.ndarray, found: Sequence[Found], asked: Asked) -> Iterator[Piece]:
        """Segments that this prompt, computed by full attention throughout, shows behind a prefix not seen before."""
        if asked.exact_tokens is not None:
            return
        digests = prefix_digests(prompt, (one.match.start for one in found))
        for match, segment, is_exact in found:
            prefix = digests[match.start]
            # a segment that a prompt repeats twice may be cut already
            is_there = segment.slots is not None and self._is_held(segment) and not segment.is_fetching
            if match.start < LEAST_CONTEXT or is_exact or not is_there:
                continue
            if match.length < len(segment):
                segment = self._catalogue.cut_out(segment, match.offset, match.offset + match.length)
            if segment.position == 0 or prefix in segment.prefixes:
                continue
            is_better = segment.position < LEAST_CONTEXT
            if is_better:
                segment.position, segment.prefixes, segment.is_exact = match.start, [], True
            elif len(segment.prefixes) >= self._settings.contexts:
                continue
            segment.prefixes.append(prefix)
            yield Piece(match.start, match.end, segment.slots, segment.owner, is_average=not is_better)
            self.counts["segments", "averaged"] += 1
            self._write(segment)

    def _write(self, segment: Segment) -> None:
        if self._limits.disk_tokens:
            self._step.writes.append(_file_of(segment))

    # ---- disk

    def _fetch(self, asked: Asked, found: Sequence[Found]) -> bool:
        """Has segments read that are on disk alone; whether all that can be had are there."""
        if asked.fetching:
            return not any(one.is_fetching and self._is_held(one) for one in asked.fetching)
        for one in found:
            segment = one.segment
            if segment.slots is None and not segment.is_fetching and self._catalogue.fetch(segment):
                segment.is_fetching = True
                self._step.fetches.append(_file_of(segment))
            if segment.is_fetching:
                asked.fetching.append(segment)
        return not asked.fetching

    def _is_held(self, segment: Segment) -> bool:
        return self._catalogue.get(segment.name) is segment

    def _end_fetch(self, name: int) -> None:
        segment = self._catalogue.get(name)
        if segment is not None:
            segment.is_fetching = False
            segment.pins -= 1

    def _complete(self, so_far: Counter[int], news: Counter[int]) -> list[int]:
        """Names that all ranks have told by now."""
        so_far.update(news)
        names = [name for name in news if so_far[name] >= self._limits.ranks]
        for name in names:
            del so_far[name]
        return names


def _prompt_of(request: "Request") -> np.ndarray:
    return np.array(request.prompt_token_ids, dtype=np.int32)


def _piece_of(found: Found) -> Piece:
    match, segment, is_exact = found
    slots = segment.slots[match.offset : match.offset + match.length]
    return Piece(match.start, match.end, slots, segment.owner, is_exact=is_exact)


def _file_of(segment: Segment) -> DiskFile:
    return DiskFile(
        segment.name, segment.slots, segment.namespace, segment.position, tuple(segment.prefixes), segment.is_exact,
        segment.owner,
    )  # fmt: skip


def _gaps(found: Sequence[Found], length: int) -> Iterator[tuple[int, int]]:
    at = 0
    for one in found:
        if one.match.start > at:
            yield at, one.match.start
        at = one.match.end
    if at < length:
        yield at, length
