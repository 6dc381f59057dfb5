"""Which tokens each layer reads for sparse requests in a decode step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from reprise_pages.choice import always_listed, best_pages, budget_pages, pages_between
from reprise_pages.selectors import make_selector
from reprise_sglang.pages.settings import PageSettings

NONE = -1


class HeldRequests:
    """
    A slot for each sparse request in the decode batches.

    A running request is in every decode batch. One that missed a batch was retracted and recomputed, so its slot starts
    over. The engine does not report the end of a request, so slots are reclaimed when another request needs one.
    """

    def __init__(self, slots: int) -> None:
        # the last used last
        self._slot_of: dict[str, int] = {}
        self._free = list(range(slots))
        self._step = 0
        self._seen = np.zeros(slots, dtype=np.int64)
        self._length = np.zeros(slots, dtype=np.int64)
        self.ratio = np.ones(slots)
        self.summed = np.zeros(slots, dtype=np.int64)
        """pages that have a summary, counted from the first page"""
        self.listed = np.zeros(slots, dtype=np.int64)
        """pages in the request's list; 0: no list yet"""
        self.chosen_at = np.zeros(slots, dtype=np.int64)
        """complete pages when the list was made: all pages from this one on are read too"""
        self.age = np.zeros(slots, dtype=np.int64)
        """steps since the list was made"""

    def begin_step(self, names: Sequence[str], ratios: Sequence[float | None], lengths: np.ndarray) -> np.ndarray:
        """Returns the slots of a decode batch's requests: int64 [B], `NONE` if a request is dense or gets no slot."""
        self._step += 1
        slots = np.full(len(names), NONE)
        asking = [row for row, ratio in enumerate(ratios) if ratio is not None]
        known = [row for row in asking if names[row] in self._slot_of]
        for row in known:
            slot = slots[row] = self._slot_of[names[row]] = self._slot_of.pop(names[row])
            if self._seen[slot] != self._step - 1 or self._length[slot] != lengths[row] - 1:
                self._begin(slot, ratios[row])
            self._seen[slot] = self._step
        for row in sorted(set(asking) - set(known)):
            slot = self._take()
            if slot is None:
                break
            self._slot_of[names[row]] = slot
            self._begin(slot, ratios[row])
            slots[row], self._seen[slot] = slot, self._step
        held = slots != NONE
        self._length[slots[held]] = lengths[held]
        return slots

    def _take(self) -> int | None:
        """Takes the slot that was used least recently; None if all are used in this step."""
        if self._free:
            return self._free.pop(0)
        name, slot = next(iter(self._slot_of.items()), (None, None))
        return None if name is None or self._seen[slot] == self._step else self._slot_of.pop(name)

    def _begin(self, slot: int, ratio: float) -> None:
        self.ratio[slot] = ratio
        self.summed[slot] = self.listed[slot] = self.chosen_at[slot] = self.age[slot] = 0


@dataclass(slots=True)
class PageStep:
    """The S sparse requests in a decode step of B requests, and what each layer does for them."""

    batch: int
    rows: torch.Tensor
    """int64 [S], rows of the batch"""
    slots: torch.Tensor
    """int64 [S]"""
    tokens: torch.Tensor
    """int [S, W], the engine's slot of each token of their contexts"""
    fresh: tuple[torch.Tensor, torch.Tensor, torch.Tensor]
    """int64 [F] each, for pages without a summary: row among the S, slot, page number"""
    due: torch.Tensor
    """int64 [D], which of the S choose pages in this step"""
    most: int
    """the longest list among the D"""
    always: torch.Tensor
    """float32 [D, P], from `always_listed`"""
    full: torch.Tensor
    """int64 [D], complete pages"""
    listed: torch.Tensor
    """int64 [S, 1], chosen pages"""
    since: torch.Tensor
    """int64 [S, 1], the page from which on all pages are read"""
    lengths: torch.Tensor
    """int64 [B], tokens read"""
    read: torch.Tensor | None = None
    """what all layers read, once the first of them has asked; None as long as each layer chooses"""


class PageSelection:
    """Page selection for one model runner. Keys have the same shape in all layers."""

    def __init__(self, settings: PageSettings, keys: Sequence[torch.Tensor], most_tokens: int) -> None:
        """keys: each layer's [slots of the engine, heads, D]; most_tokens: of a request"""
        self.settings, self._keys, self._device = settings, keys, keys[0].device
        self.selector = make_selector(settings.selector, settings.grids, settings.chunks)
        self.held = HeldRequests(settings.requests)
        pages = -(-most_tokens // settings.page)
        _, heads, head_dim = keys[0].shape
        numbers = self.selector.numbers(head_dim)
        self._summaries = torch.zeros(len(keys), settings.requests, heads, numbers, pages, device=self._device)
        lists = len(keys) if self.selector.per_layer else 1
        self._chosen = torch.zeros(lists, settings.requests, pages, dtype=torch.int64, device=self._device)

    def begin_step(
        self,
        names: Sequence[str],
        ratios: Sequence[float | None],
        lengths: np.ndarray,
        req_to_token: torch.Tensor,
        pool_rows: torch.Tensor,
        *,
        all_pages: bool = False,
    ) -> PageStep | None:
        """
        Returns what layers do in a decode step; None if no request is sparse.

        lengths  int64 [B], including this step's token; `all_pages`: list all pages, for the self-test
        """
        held, settings = self.held, self.settings
        held_slots = held.begin_step(names, ratios, lengths)
        rows = np.flatnonzero((held_slots != NONE) & (lengths >= settings.least_tokens))
        if not len(rows):
            return None
        slots, mine, page = held_slots[rows], lengths[rows], settings.page
        # this step's token has not been written yet
        full = (mine - 1) // page
        due = (held.listed[slots] == 0) | (held.age[slots] + 1 >= settings.every)
        ratio = np.ones(len(rows)) if all_pages else np.maximum(settings.min_ratio, held.ratio[slots])
        budget = budget_pages(full, ratio, settings.sinks, settings.recent)
        begin, held.summed[slots] = held.summed[slots], full
        held.age[slots] += 1
        held.listed[slots[due]], held.chosen_at[slots[due]], held.age[slots[due]] = budget[due], full[due], 0
        listed, since = held.listed[slots], held.chosen_at[slots]
        read = lengths.copy()
        read[rows] = listed * page + mine - since * page
        at = self._to_device(rows)
        ends = self._to_device(full[due])
        return PageStep(
            batch=len(names), rows=at, slots=self._to_device(slots),
            tokens=req_to_token[pool_rows[at], : int(mine.max())],
            fresh=tuple(map(self._to_device, pages_between(slots, begin, full))),
            due=self._to_device(np.flatnonzero(due)), most=int(budget[due].max(initial=0)),
            always=always_listed(ends, int(full[due].max(initial=0)), settings.sinks, settings.recent), full=ends,
            listed=self._to_device(listed)[:, None], since=self._to_device(since)[:, None],
            lengths=self._to_device(read),
        )  # fmt: skip

    def tokens_of(self, step: PageStep, layer: int, query: torch.Tensor) -> torch.Tensor:
        """
        Returns the slots of the tokens that this layer reads for the sparse requests: int [S, longest of them].

        query  [B, query heads, D], scaled as in attention
        """
        if self.selector.per_layer:
            self._summarise(step, layer)
            if len(step.due):
                self._choose(step, layer, query)
            return self._listed(step, self._chosen[layer])
        if step.read is None:
            for each in range(len(self._keys)):
                self._summarise(step, each)
            if len(step.due):
                self._choose_for_all_layers(step)
            step.read = self._listed(step, self._chosen[0])
        return step.read

    def _summarise(self, step: PageStep, layer: int) -> None:
        row, slot, page = step.fresh
        size = self.settings.page
        if len(page) and self._summaries.numel():
            within = torch.arange(size, device=self._device)
            places = step.tokens[row[:, None], page[:, None] * size + within]
            keys = self._keys[layer][places]
            self._summaries[layer, slot, :, :, page] = self.selector.summarise(keys, page * size)

    def _listed(self, step: PageStep, chosen: torch.Tensor) -> torch.Tensor:
        """Returns the slots of the tokens of the chosen pages (int64 [slots, P]) and of those filled since."""
        size = self.settings.page
        place = torch.arange(int(step.lengths[step.rows].max()), device=self._device)
        chosen = chosen.index_select(0, step.slots)
        from_list = chosen.gather(1, (place // size).clamp_max(chosen.shape[1] - 1).expand(len(chosen), -1))
        behind = step.since * size + place - step.listed * size
        position = torch.where(place < step.listed * size, from_list * size + place % size, behind)
        # entries past a request's own length are not read
        return step.tokens.gather(1, position.clamp(0, step.tokens.shape[1] - 1))

    def forget_choices(self) -> None:
        """Makes every request choose again in its next step."""
        self.held.listed[:] = 0

    def _choose(self, step: PageStep, layer: int, query: torch.Tensor) -> None:
        slots, pages = step.slots[step.due], step.always.shape[1]
        summary = self._summaries[layer].index_select(0, slots)[..., :pages]
        mine = query.index_select(0, step.rows[step.due]).float()
        mine = mine.view(len(mine), summary.shape[1], -1, mine.shape[-1])
        there = torch.arange(pages, device=self._device) < step.full[:, None]
        scores = self.selector.scores(mine, summary, there, self.settings.page)
        self._chosen[layer, slots, : step.most] = best_pages(scores, step.always, step.most)

    def _choose_for_all_layers(self, step: PageStep) -> None:
        slots, pages = step.slots[step.due], step.always.shape[1]
        summary = self._summaries.index_select(1, slots)[..., :pages]
        scores = self.selector.scores(summary, step.full, self.settings.recent)
        self._chosen[0, slots, : step.most] = best_pages(scores, step.always, step.most)

    def _to_device(self, values: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(values).to(self._device, non_blocking=True)
