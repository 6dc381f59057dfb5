"""Decides which rows of a computed prompt to store, and which to average in."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from reprise_reuse.pieces import GroupBlocks, Piece, Save
from reprise_reuse.prompts.users import EVERYONE, PREPROCESSED, audience_of, may_use, would_dominate
from reprise_reuse.segments import MIN_MATCH, MIN_STORED, Catalogue, Found, Grams, Segment, cut
from reprise_reuse.segments.segment import gaps, prefix_digests

LEAST_CONTEXT = 64
"""a segment's mean covers contexts of at least this many tokens: after fewer, rows look as at a prompt's beginning"""


class Pages(Protocol):
    """Which segments stay in the engine's own pages."""

    def pages_of(self, blocks: Sequence[int], length: int) -> np.ndarray:
        """Returns the engine's cache slots that keep holding a prompt of `length` tokens; none: all are copied."""

    def bring(self, segment: Segment) -> bool:
        """Schedules a copy of a segment from its pages to host memory. Returns False if there is no room."""


@dataclass(frozen=True, slots=True)
class Computed:
    """A prompt whose rows the step's forward completes."""

    namespace: bytes
    tokens: np.ndarray
    """int32 [n]: as far as it is computed"""
    blocks: GroupBlocks
    exact_tokens: int | None
    """length of the prefix that full attention computed; None: the whole prompt"""
    borders: Collection[int]
    """where its documents are known to begin or end"""
    user: bytes
    """whom its segments belong to"""
    store: str
    """which segments that user may reuse: a value of the setting `store`"""
    begin: int = 0
    """nothing before it is stored: layers with windows hold no rows of it any more, or its sender wants it so"""
    computed_from: int = 0
    """from this row on, the engine's own step computed it"""


class Storing:
    """Adds new segments from prompts to the catalogue, each run of tokens once."""

    def __init__(self, catalogue: Catalogue, contexts: int, rows_per_step: int, line_ends: Collection[int]) -> None:
        """
        contexts       most contexts that a segment's mean covers
        rows_per_step  most rows to average in a step, unless a single segment has more
        line_ends      tokens after which a segment may end
        """
        self._catalogue = catalogue
        self.pages: Pages | None = None
        """where new segments stay; None: all are copied to host memory"""
        self._contexts = contexts
        self._rows_per_step = rows_per_step
        self._averaged = 0
        self._line_ends = np.array(sorted(line_ends), dtype=np.int32)
        # owners of the segments that this step's forward computes
        self._under_way: set[int] = set()
        self.changed: list[Segment] = []
        """segments whose rows this step's forward computes or changes"""
        self.shared: list[tuple[Segment, bytes, bool]] = []
        """segments that others may want, with who these are: preprocessed in this step (True), or asked for again"""
        self.counts: Counter[str] = Counter()
        """segments stored and averaged since the start"""

    def store(self, prompt: Computed) -> Save | None:
        """Returns what to save: rows that no segment holds, and, where the prompt is exact, rows to average in.

        Returns None if there is nothing to save.
        """
        found = self._catalogue.find(prompt.namespace, prompt.tokens)
        pages = np.empty(0, np.int64)
        if self.pages is not None:
            pages = self.pages.pages_of(prompt.blocks[0], len(prompt.tokens))
        before = len(self.changed)
        pieces = [*self._new_pieces(prompt, found, pages), *self._averages(prompt, found, pages)]
        self.shared += [(one, EVERYONE, True) for one in self.changed[before:] if PREPROCESSED in one.users]
        for one in (one.segment for one in found):
            if (audience := audience_of(one, prompt.user, prompt.store)) is not None:
                self.shared.append((one, audience, False))
        self._catalogue.use(one.segment for one in found)
        return Save(prompt.tokens, prompt.blocks, pieces, prompt.computed_from) if pieces else None

    def end_step(self) -> None:
        """Forgets what belongs to the current step."""
        self._averaged = 0
        self._under_way.clear()
        self.changed.clear()
        self.shared.clear()

    def _new_pieces(self, prompt: Computed, found: Sequence[Found], pages: np.ndarray) -> Iterator[Piece]:
        length = len(prompt.tokens)
        lines = (np.flatnonzero(np.isin(prompt.tokens, self._line_ends)) + 1).tolist()
        # the rows after the kept pages form a separate segment
        borders = sorted({*prompt.borders, len(pages)})
        cuts = [
            piece
            for begin, end in gaps([one for one in found if one.match.end > prompt.begin], prompt.begin, length)
            for piece in cut(begin, end, lines, borders)
            # behind the kept pages, what is never found alone is not worth a copy in every layer before the answer
            if piece[1] - piece[0] >= (MIN_MATCH if 0 < len(pages) <= piece[0] else MIN_STORED)
        ]
        digests = prefix_digests(prompt.tokens, (start for start, _ in cuts))
        grams = Grams(prompt.tokens)
        exact = length if prompt.exact_tokens is None else prompt.exact_tokens
        for start, end in cuts:
            segment = self._catalogue.add(
                prompt.namespace, prompt.tokens[start:end], start, digests[start], is_exact=end <= exact,
                user=prompt.user, pages=pages[start:end] if end <= len(pages) else None,
                anchors=grams.anchors(start, end),
            )  # fmt: skip
            # a segment just added may have been evicted to make room for the next
            if segment is None or not segment.is_at_hand:
                continue
            if segment.pages is not None:
                self._under_way.add(segment.owner)
            self.counts["stored"] += 1
            self.changed.append(segment)
            yield Piece(start, end, segment.slots, segment.owner, pages=segment.pages)

    def _averages(self, prompt: Computed, found: Sequence[Found], pages: np.ndarray) -> Iterator[Piece]:
        """Yields rows of segments that appear after a new prefix, where full attention computed the prompt."""
        exact = len(prompt.tokens) if prompt.exact_tokens is None else prompt.exact_tokens
        digests = prefix_digests(prompt.tokens, (one.match.start for one in found))
        for match, segment, is_exact in found:
            prefix = digests[match.start]
            is_early = match.start < max(LEAST_CONTEXT, prompt.begin)
            if match.end > exact or is_early or is_exact or not self._is_there(segment):
                continue
            if match.length < len(segment):
                segment = self._catalogue.cut_out(segment, match.offset, match.offset + match.length)
            if segment.position == 0 or prefix in segment.prefixes:
                continue
            is_known, is_trusted = may_use(segment, prompt.user, prompt.store), PREPROCESSED in segment.users
            by_others = prompt.user not in segment.users
            # what everybody trusts is not mixed with anything else
            if by_others and (is_trusted or (prompt.store == "preprocessed" and prompt.user != PREPROCESSED)):
                continue
            is_better = segment.position < LEAST_CONTEXT or (by_others and prompt.user == PREPROCESSED)
            # until no user dominates the mean, others add to it
            is_full = is_known and len(segment.prefixes) >= self._contexts
            if not is_better and (is_full or would_dominate(segment, prompt.user, prompt.store)):
                continue
            is_limited = not is_better and prompt.user != PREPROCESSED
            if is_limited and self._averaged and self._averaged + match.length > self._rows_per_step:
                continue
            if segment.pages is not None:
                if is_better and match.end <= len(pages):
                    self._catalogue.place(segment, pages[match.start : match.end])
                elif not self.pages.bring(segment):
                    # pages hold what one request computed, so a mean needs room in host memory
                    continue
            # what a single user had computed counts as one context beside the first of another user: half each
            is_held_as_one = not (is_better or is_known) and len(set(segment.users)) == 1
            if is_better:
                segment.position, segment.prefixes, segment.users, segment.is_exact = match.start, [], [], True
            elif is_held_as_one:
                segment.prefixes, segment.users = segment.prefixes[:1], segment.users[:1]
            self._averaged += 0 if is_better else match.length
            segment.prefixes.append(prefix)
            segment.users.append(prompt.user)
            # what waiting requests have found of it is no longer what it was
            self._catalogue.version += 1
            self.counts["averaged"] += 1
            self.changed.append(segment)
            yield Piece(
                match.start, match.end, segment.slots, segment.owner, is_average=not is_better,
                is_held_as_one=is_held_as_one, pages=segment.pages,
            )  # fmt: skip

    def _is_there(self, segment: Segment) -> bool:
        """Whether a segment's rows can be averaged.

        A segment that the prompt repeats twice may already be cut up, and one from this step is not computed yet.
        """
        is_held = self._catalogue.get(segment.name) is segment
        return is_held and segment.is_at_hand and segment.owner not in self._under_way
