"""A model in transformers whose tokens attend to rows that were computed elsewhere, without an engine."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch.nn import functional
from torch.nn.functional import scaled_dot_product_attention as sdpa
from transformers import AttentionInterface, AutoModelForCausalLM

from reprise_reuse.rotation import KeyRotation

_NAME = "stored-rows"


class Rows(NamedTuple):
    """Keys, turned to their positions, and values: [layers, heads, n, size]; positions int64 [n], ascending."""

    keys: torch.Tensor
    values: torch.Tensor
    positions: torch.Tensor

    def picked(self, which: torch.Tensor | slice) -> "Rows":
        """Those of some tokens: indices, or bool [n]."""
        return Rows(self.keys[:, :, which], self.values[:, :, which], self.positions[which])


def joined(parts: Sequence[Rows]) -> Rows:
    """One behind the other."""
    keys, values, positions = zip(*parts, strict=True)
    return Rows(torch.cat(keys, 2), torch.cat(values, 2), torch.cat(positions))


class Computed(NamedTuple):
    """The output [n, size] of the last layer, the new rows, and the attention to each row before: [layers, N]."""

    hidden: torch.Tensor
    rows: Rows
    attention: torch.Tensor | None


class Model:
    """A causal model in float32."""

    def __init__(self, folder: str, longest: int) -> None:
        AttentionInterface.register(_NAME, self._attend)
        given = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation=_NAME)
        self._model = given.eval()
        angles = torch.outer(torch.arange(longest).float(), given.model.rotary_emb.inv_freq)
        self._rotation = KeyRotation(torch.cat((angles.cos(), angles.sin()), -1), is_neox=True)

    @torch.inference_mode()
    def compute(
        self, tokens: Sequence[int], positions: torch.Tensor, before: Rows | None, *, with_attention: bool = False,
        within: int | None = None,
    ) -> Computed:  # fmt: skip
        """Computes tokens at positions, ascending; each sees all rows and tokens of earlier ones.

        within: the row from which on the attention that is returned is a soft-max over rows alone
        """
        self._before, self._new, self._weights = before, [], [] if with_attention else None
        self._within = within
        self._sees = None
        if before is not None:
            at = torch.cat((before.positions, positions))
            self._sees = at[None] <= positions[:, None]
        hidden = self._model.model(torch.tensor([tokens]), position_ids=positions[None], use_cache=False)
        keys, values = (torch.stack(of_all) for of_all in zip(*self._new, strict=True))
        attention = torch.stack(self._weights) if with_attention else None
        return Computed(hidden.last_hidden_state[0], Rows(keys, values, positions), attention)

    def log_probabilities(self, hidden: torch.Tensor) -> torch.Tensor:
        """Of the token after each [n, vocabulary]."""
        with torch.inference_mode():
            return self._model.lm_head(hidden).log_softmax(-1)

    def moved(self, rows: Rows, begin: int) -> Rows:
        """Returns rows turned so that they begin at a position."""
        by = begin - rows.positions[:1]
        tables = self._rotation.tables(by)
        return Rows(self._rotation.turn(rows.keys, tables), rows.values, rows.positions + by)

    def _attend(self, module: Any, *given: torch.Tensor | None, **by: Any) -> Any:
        query, keys, values = given[:3]
        self._new.append((keys[0], values[0]))
        if self._before is not None:
            layer, count = module.layer_idx, len(self._before.positions)
            keys = torch.cat((self._before.keys[layer][None], keys), 2)
            values = torch.cat((self._before.values[layer][None], values), 2)
            if self._weights is not None:
                wide = keys.repeat_interleave(query.shape[1] // keys.shape[1], 1)
                logits = (query @ wide.transpose(2, 3) * by["scaling"]).masked_fill(~self._sees, -torch.inf)
                own = logits[0] if self._within is None else logits[0, :, :, self._within : count]
                weights = functional.pad(own.softmax(-1), (self._within or 0, 0))
                self._weights.append(weights[..., :count].mean((0, 1)))
        out = sdpa(
            query,
            keys,
            values,
            attn_mask=self._sees,
            is_causal=self._sees is None,
            scale=by["scaling"],
            enable_gqa=True,
        )
        return out.transpose(1, 2).contiguous(), None
