"""`python -m quality.patches`: what is to be had beyond the mean over contexts, after Kamera (arXiv 2606.23581).

A patch is what a document's rows would have to be moved by, in each layer, for keys and for values, cut to m singular
values. Nothing is computed again. Over the mean over four contexts of other prompts:

exact m   the patch to the document's exact rows: what the best patch of rank m would bring
set m     to its rows among the same documents in another order: Kamera, whose patch belongs to a set of documents
tokens    its first eight rows are exact, as if computed again (6 % of the tokens)
mixed     the same, and its contexts' differences from the mean are mixed so as to be nearest to these rows
later     the mean over those of its contexts in which it is not the first document
moved     a patch of rank 1 for each stretch of a document, foretold by a linear map from what stands before it (the
          mean of the values, how many documents), less what stood before it in its contexts. There is one map for a
          model, learnt from the windows that made the means
"""

import math
import random
from collections.abc import Sequence

import torch

from quality.command import AVERAGED, open_traces, parser_of, publish
from quality.in_engine.measure import GROUP, Measurements
from quality.in_engine.prompts import Asked, Trace
from quality.similar import Context, Prompt, Store, mean
from quality.stored_rows import Model, Rows

FIRST = 8
"""rows that are known exactly"""
WAYS = (AVERAGED, "exact 1", "exact 2", "exact 4", "set 2", "set 64", "tokens", "mixed", "later", "moved")
NAMES = ("keys", "values")
_STRETCHES = torch.tensor([1, 2, 4, 8, 16, 32])
"""where a document's stretches, whose rows are moved alike, begin, but for the first"""
_RIDGE = 0.3


def flat(rows: torch.Tensor) -> torch.Tensor:
    """[layers, heads, n, size] as [layers, n, heads * size]"""
    return rows.transpose(1, 2).flatten(2)


def cut(patch: torch.Tensor, rank: int) -> torch.Tensor:
    """Keeps the largest singular values; [layers, n, size]."""
    _, along = torch.linalg.eigh(patch.transpose(1, 2) @ patch)
    along = along[..., -rank:]
    return patch @ along @ along.transpose(1, 2)


def nearest(goal: torch.Tensor, parts: torch.Tensor) -> torch.Tensor:
    """How much of each part is nearest to a goal: [layers, parts]; goal [layers, …], parts [layers, parts, …]."""
    of = parts.flatten(2)
    # parts that add up to nothing have no inverse
    inverse = torch.linalg.pinv(of @ of.transpose(1, 2), rtol=1e-3, hermitian=True)
    return (inverse @ of @ goal.flatten(1)[..., None]).squeeze(-1)


class Foretold:
    """A linear map from what stands before a document to how its rows differ, by layer and stretch."""

    def __init__(self, documents: Sequence[Sequence[Context]]) -> None:
        before = torch.stack([one.before for contexts in documents for one in contexts])
        self._size = 3 * before.flatten(2).std((0, 2))
        given = torch.cat([centred(self.features(contexts)) for contexts in documents]).transpose(0, 1)
        square = given.transpose(1, 2) @ given
        ridge = _RIDGE * square.diagonal(dim1=1, dim2=2).mean(1)[:, None, None] * torch.eye(square.shape[1])
        inverse = torch.linalg.inv(square + ridge) @ given.transpose(1, 2)
        self._maps = {}
        for name in NAMES:
            moved = torch.cat([_by_stretch(contexts, name) for contexts in documents])
            self._maps[name] = torch.einsum("lfn,nlsd->lsfd", inverse, moved)

    def features(self, contexts: Sequence[Context]) -> torch.Tensor:
        """[contexts, layers, features]"""
        places = torch.tensor([[float(one.place == 0), math.log(1 + one.place)] for one in contexts])
        before = torch.stack([one.before for one in contexts]).flatten(2)
        return torch.cat((before, self._size[:, None] * places[:, None]), 2)

    def patch(self, name: str, contexts: Sequence[Context], now: Context) -> torch.Tensor:
        """[layers, n, size]"""
        ahead = self.features([now])[0] - self.features(contexts).mean(0)
        by_stretch = torch.einsum("lf,lsfd->lsd", ahead, self._maps[name])
        return by_stretch[:, _stretches(len(contexts[0].rows.positions))]


def centred(of: torch.Tensor) -> torch.Tensor:
    """Less the mean over the first dimension."""
    return of - of.mean(0)


def _stretches(tokens: int) -> torch.Tensor:
    return torch.bucketize(torch.arange(tokens), _STRETCHES, right=True)


def _by_stretch(contexts: Sequence[Context], name: str) -> torch.Tensor:
    """How a document's rows differ from their mean, by stretch: [contexts, layers, stretches, size]."""
    differ = centred(torch.stack([flat(getattr(one.rows, name)) for one in contexts]))
    of = torch.nn.functional.one_hot(_stretches(differ.shape[2]), len(_STRETCHES) + 1).float()
    return torch.einsum("clnd,ns->clsd", differ, of / of.sum(0).clamp(min=1))


class Patched:
    """A prompt's documents with their rows in every way."""

    def __init__(
        self, model: Model, store: Store, asked: Asked, full: Rows, contexts: dict[str, list[Context]]
    ) -> None:
        self._model, self._store, self._asked, self._contexts = model, store, asked, contexts
        self.name = asked.name
        self._exact = self._rows_of(full, asked.documents, len(store.system.positions))
        self._means = {one: mean([context.rows for context in contexts[one]]) for one in asked.documents}

    def _rows_of(self, rows: Rows, order: Sequence[str], begin: int) -> dict[str, Rows]:
        found = {}
        for one in order:
            end = begin + len(self._store.tokens(one))
            found[one] = self._model.moved(rows.picked(slice(begin, end)), len(self._store.system.positions))
            begin = end
        return found

    def rows(self, way: str, foretold: Foretold) -> dict[str, Rows]:
        """Rows of every document but the first."""
        kind, _, rank = way.partition(" ")
        goals = self._exact
        if kind == "set":
            order = random.Random(self._asked.name).sample(self._asked.documents, len(self._asked.documents))
            tokens = [token for one in order for token in self._store.tokens(one)]
            at = len(self._store.system.positions) + torch.arange(len(tokens))
            goals = self._rows_of(self._model.compute(tokens, at, self._store.system).rows, order, 0)
        before, found = [self._store.system.values, self._means[self._asked.documents[0]].values], {}
        for place, one in enumerate(self._asked.documents[1:], 1):
            now = Context(self._means[one], torch.cat(before, 2).mean(2), place)
            before.append(now.rows.values)
            parts = {name: self._patch(kind, int(rank or 0), name, one, now, goals, foretold) for name in NAMES}
            moved = (flat(getattr(now.rows, name)) + parts[name] for name in NAMES)
            heads = now.rows.keys.shape[1]
            found[one] = Rows(*(of.unflatten(2, (heads, -1)).transpose(1, 2) for of in moved), now.rows.positions)
        return found

    def _patch(
        self, kind: str, rank: int, name: str, one: str, now: Context, goals: dict[str, Rows], foretold: Foretold
    ) -> torch.Tensor:
        middle, contexts = flat(getattr(now.rows, name)), self._contexts[one]
        goal = flat(getattr(goals[one], name)) - middle
        differ = torch.stack([flat(getattr(of.rows, name)) for of in contexts], 1) - middle[:, None]
        if kind in ("exact", "set"):
            return cut(goal, rank)
        if kind == "moved":
            return foretold.patch(name, contexts, now)
        if kind == "later":
            later = [at for at, of in enumerate(contexts) if of.place > 0]
            return differ[:, later].mean(1) if later else torch.zeros_like(goal)
        patch = torch.zeros_like(goal)
        if kind == "mixed":
            patch = torch.einsum("lc,lcnd->lnd", nearest(goal[:, :FIRST], differ[:, :, :FIRST]), differ)
        if kind != AVERAGED:
            patch[:, :FIRST] = goal[:, :FIRST]
        return patch


@torch.inference_mode()
def measure(model: Model, trace: Trace, prompts: int, ways: Sequence[str], kept: Measurements) -> None:
    """Measures every way on the first prompts of a trace."""
    store = Store(model, trace)
    for first in range(0, prompts, GROUP):
        group = trace.asked[first : min(first + GROUP, prompts)]
        if not any(kept.open_cases(trace.name, asked.name, list(ways)) for asked in group):
            continue
        contexts = store.contexts(group, first)
        foretold = Foretold(list(contexts.values()))
        for asked in group:
            prompt = Prompt(model, store, trace, asked)
            measure_prompt(trace, prompt, Patched(model, store, asked, prompt.full, contexts), foretold, ways, kept)
            store.forget()


def measure_prompt(
    trace: Trace, prompt: Prompt, patched: Patched, foretold: Foretold, ways: Sequence[str], kept: Measurements
) -> None:
    """Measures the ways of one prompt that are still open."""
    for way in kept.open_cases(trace.name, patched.name, list(ways)):
        kl = prompt.divergence(prompt.stitched(patched.rows(way, foretold)), torch.arange(0))
        kept.add({"trace": trace.name, "prompt": patched.name, "case": way, "kl": kl})
    print(f"{trace.name} {patched.name}", flush=True)


def main() -> None:
    parser = parser_of("quality.patches", __doc__, prompts=16)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    options = parser.parse_args()
    kept = Measurements(options.out / "measured.jsonl")
    for model, trace in open_traces(options):
        measure(model, trace, options.prompts, options.ways, kept)
    publish(kept, options.out)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
