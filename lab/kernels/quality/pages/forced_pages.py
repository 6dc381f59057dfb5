"""A model that reads few pages, without an engine: an answer's tokens are forced, so a page of steps is one pass."""

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa
from transformers import AttentionInterface, AutoModelForCausalLM, DynamicCache

from reprise_pages.choice import always_listed, best_pages

PAGE, SINKS, RECENT = 32, 1, 2
_NAME = "forced-pages"


class Reader:
    """What the attention layers read: everything, one list for all layers, or the list of each layer and step."""

    def __init__(self, layers: int) -> None:
        self._layers = layers
        self.read_all()

    def read_all(self) -> None:
        """Full attention, causal."""
        self._listed: torch.Tensor | None = None
        self._selector: Any = None

    def read(self, pages: torch.Tensor, since: int) -> None:
        """Reads these pages, and all from page `since` on."""
        self.read_all()
        self._listed, self._since = pages, since

    def choose_by(self, selector: Any, budget: int) -> None:
        """Chooses `budget` complete pages in each layer and step."""
        self.read_all()
        self._selector, self._budget = selector, budget
        self._kept: list[torch.Tensor | None] = [None] * self._layers

    def attend(self, layer: int, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, scale: float) -> Any:
        """Attention of [1, heads, T, size] over [1, kv heads, N, size], the last T of them the queries' own."""
        steps, end = query.shape[2], keys.shape[2]
        if steps == end:
            return sdpa(query, keys, values, is_causal=True, scale=scale, enable_gqa=True)
        if self._listed is not None:
            of_list = (self._listed[:, None] * PAGE + torch.arange(PAGE)).flatten()
            read = torch.cat((of_list, torch.arange(self._since * PAGE, end)))
            keys, values = keys[:, :, read], values[:, :, read]
        sees = torch.ones(steps, keys.shape[2], dtype=torch.bool).tril(keys.shape[2] - steps)
        if self._selector is not None:
            pages = (end - steps) // PAGE
            sees[:, : pages * PAGE] &= self._marked(layer, query * scale, keys, pages).repeat_interleave(PAGE, 1)
        return sdpa(query, keys, values, attn_mask=sees, scale=scale, enable_gqa=True)

    def _marked(self, layer: int, query: torch.Tensor, keys: torch.Tensor, pages: int) -> torch.Tensor:
        """Which of the complete pages each step reads, bool [T, pages]."""
        heads, size = keys.shape[1], keys.shape[3]
        kept = self._kept[layer]
        old = 0 if kept is None else len(kept)
        if pages > old:
            new = keys[0, :, old * PAGE : pages * PAGE].unflatten(1, (-1, PAGE)).permute(1, 2, 0, 3)
            summary = self._selector.summarise(new, torch.arange(old, pages) * PAGE)
            self._kept[layer] = kept = summary if kept is None else torch.cat((kept, summary))
        steps = query.shape[2]
        mine = query[0].unflatten(0, (heads, -1)).permute(2, 0, 1, 3).reshape(steps, heads, -1, size)
        summaries = kept.permute(1, 2, 0).expand(steps, -1, -1, -1)
        scores = self._selector.scores(mine, summaries, torch.ones(steps, pages, dtype=torch.bool), PAGE)
        always = always_listed(torch.full((steps,), pages), pages, SINKS, RECENT)
        best = best_pages(scores, always, min(pages, self._budget))
        return torch.zeros(steps, pages, dtype=torch.bool).scatter_(1, best, True)


class Model:
    """A causal model in transformers, with one prompt in its cache."""

    def __init__(self, folder: str) -> None:
        AttentionInterface.register(_NAME, self._attend)
        given = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation=_NAME)
        self._model = given.eval()
        self.reader = Reader(given.config.num_hidden_layers)

    def _attend(self, module: Any, *rows: torch.Tensor | None, **by: Any) -> Any:
        out = self.reader.attend(module.layer_idx, *rows[:3], by["scaling"])
        return out.transpose(1, 2).contiguous(), None

    @torch.inference_mode()
    def begin(self, prompt: Sequence[int]) -> None:
        """Computes a prompt in full: whole pages."""
        assert len(prompt) % PAGE == 0
        self.reader.read_all()
        self._cache, self._prompt = DynamicCache(), len(prompt)
        self._model.model(torch.tensor([prompt]), past_key_values=self._cache)

    def rewind(self) -> None:
        """Forgets what follows the prompt."""
        self._cache.crop(self._prompt - self._cache.get_seq_length())

    @torch.inference_mode()
    def go_on(self, tokens: Sequence[int]) -> torch.Tensor:
        """Computes the next tokens. Returns the log-probabilities of the one after each, [tokens, vocabulary]."""
        hidden = self._model.model(torch.tensor([tokens]), past_key_values=self._cache).last_hidden_state[0]
        return self._model.lm_head(hidden).log_softmax(-1)

    @property
    def pages(self) -> int:
        """How many complete pages the cache has."""
        return self._cache.get_seq_length() // PAGE

    def best_for_all_layers(self, selector: Any, budget: int) -> torch.Tensor:
        """Returns the pages that a selector of one list for all layers lists now."""
        full = self.pages
        every = (layer.keys[0, :, : full * PAGE].unflatten(1, (full, PAGE)) for layer in self._cache.layers)
        first = torch.arange(full) * PAGE
        kept = [selector.summarise(keys.permute(1, 2, 0, 3), first).permute(1, 2, 0)[None] for keys in every]
        count = torch.tensor([full])
        scores = selector.scores(torch.stack(kept), count, RECENT)
        return best_pages(scores, always_listed(count, full, SINKS, RECENT), min(full, budget))[0]
