"""`python -m quality.similar`: documents stored behind similar ones, as FusionRAG prints it (§3.1, equation 10).

A document is computed over the rows of its n most similar documents, each stored alone and laid end to end, the most
similar one next to it. Compared are n = 0, 2, 5, 10, 15, the mean over four contexts of other prompts, and 2 + 2: the
mean of two of these and of the rows behind the two most similar documents and behind the next two.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple

import torch

from quality.command import AVERAGED, holds_answer, open_traces, parser_of, publish
from quality.in_engine.measure import ANSWER_TOKENS, CONTEXTS, GROUP, Measurements
from quality.in_engine.prompts import DOCUMENT, QUESTION, SYSTEM, Asked, Trace
from quality.references import METHODS, REFERENCES, part_moved
from quality.stored_rows import Model, Rows, joined
from reprise_reuse.methods import Evidence

WAYS = ("similar 0", "similar 2", "similar 5", "similar 10", "similar 15", "2 + 2", AVERAGED)
CHOICES = ((0.0, ""), *((0.15, name) for name in ("prophetkv", "fusionrag", "epic", "cacheblend")))
"""share of the reused tokens that is computed again, and by which choice"""
KEPT = 400
"""documents whose rows alone are kept for other prompts"""


class Context(NamedTuple):
    """Rows of a document in one window, the mean of the values before it [layers, heads, size], and its place there."""

    rows: Rows
    before: torch.Tensor
    place: int


class Store:
    """The rows of documents, each as at the position behind the system prompt."""

    def __init__(self, model: Model, trace: Trace) -> None:
        self._model, self._trace = model, trace
        tokens = trace.tokens_of(SYSTEM)
        self.system = model.compute(tokens, torch.arange(len(tokens)), None).rows
        self._alone: dict[str, Rows] = {}

    def tokens(self, document: str) -> list[int]:
        return self._trace.tokens_of(DOCUMENT.format(document))

    def alone(self, document: str) -> Rows:
        """Rows of a document computed over the system prompt's."""
        if document not in self._alone:
            self._alone[document] = self._over([self.system], document)
        return self._alone[document]

    def behind(self, document: str, count: int, skipped: int = 0) -> Rows:
        """Rows of a document computed over those of `count` similar ones, all but the `skipped` most similar."""
        parts = [self.system]
        for neighbour in reversed(self._trace.similar(document, skipped + count)[skipped:]):
            parts.append(self._model.moved(self.alone(neighbour), int(parts[-1].positions[-1]) + 1))
        return self._over(parts, document) if count else self.alone(document)

    def contexts(self, group: Sequence[Asked], seed: int) -> dict[str, list[Context]]:
        """Rows of the documents of prompts, each in four windows with one document of each prompt."""
        order = random.Random(seed)
        seen: dict[str, list[Context]] = {}
        begin = len(self.system.positions)
        for _ in range(CONTEXTS + 1):
            rows = [order.sample(asked.documents, len(asked.documents)) for asked in group]
            order.shuffle(rows)
            for window in zip_longest(*rows):
                documents = [one for one in window if one is not None]
                if all(len(seen.get(one, ())) == CONTEXTS for one in documents):
                    continue
                tokens = [self.tokens(one) for one in documents]
                flat = [token for part in tokens for token in part]
                done = self._model.compute(flat, begin + torch.arange(len(flat)), self.system).rows
                done, at = joined([self.system, done]), begin
                for place, (document, part) in enumerate(zip(documents, tokens, strict=True)):
                    own = seen.setdefault(document, [])
                    if len(own) < CONTEXTS:
                        rows_here = self._model.moved(done.picked(slice(at, at + len(part))), begin)
                        own.append(Context(rows_here, done.values[:, :, :at].mean(2), place))
                    at += len(part)
        return seen

    def forget(self) -> None:
        """Forgets the rows of documents where too many are kept."""
        if len(self._alone) > KEPT:
            self._alone.clear()

    def _over(self, parts: list[Rows], document: str) -> Rows:
        tokens, before = self.tokens(document), joined(parts)
        at = int(before.positions[-1]) + 1 + torch.arange(len(tokens))
        return self._model.moved(self._model.compute(tokens, at, before).rows, len(self.system.positions))


def mean(contexts: Sequence[Rows]) -> Rows:
    """The mean over contexts, which is what preprocessing stores."""
    keys, values, (positions, *_) = zip(*contexts, strict=True)
    return Rows(torch.stack(keys).mean(0), torch.stack(values).mean(0), positions)


class Prompt:
    """A prompt, its exact rows, and its full answer."""

    def __init__(self, model: Model, store: Store, trace: Trace, asked: Asked) -> None:
        self._model, self._store, self._asked = model, store, asked
        self.parts = [store.tokens(document) for document in asked.documents]
        self.question = trace.tokens_of(QUESTION.format(asked.question))
        self.gold = trace.tokens_of(asked.answers[0]) if asked.answers else []
        context = [token for part in self.parts for token in part]
        self.context = torch.tensor(context)
        begin = len(store.system.positions)
        rows = model.compute(context, begin + torch.arange(len(context)), store.system).rows
        self.full = joined([store.system, rows])
        self.answer = self._greedy()

    def _greedy(self) -> list[int]:
        end, rows, next_tokens, answer = len(self.full.positions), self.full, self.question, []
        while len(answer) < ANSWER_TOKENS:
            done = self._model.compute(next_tokens, end + torch.arange(len(next_tokens)), rows)
            rows, end = joined([rows, done.rows]), end + len(next_tokens)
            next_tokens = [int(self._model.log_probabilities(done.hidden[-1:]).argmax())]
            answer += next_tokens
        return answer

    def cut(self, documents: Sequence[str]) -> None:
        """Takes the same tokens for these documents from now on."""
        self._asked = replace(self._asked, documents=documents)
        self.parts = [self._store.tokens(document) for document in documents]

    def stitched(self, documents: dict[str, Rows]) -> Rows:
        """The system prompt's rows, the first document's exact ones, and those stored of the others."""
        parts = [self._store.system]
        for at, document in enumerate(self._asked.documents):
            rows = self._store.alone(document) if at == 0 else documents[document]
            parts.append(self._model.moved(rows, int(parts[-1].positions[-1]) + 1))
        return joined(parts)

    def chosen(self, rows: Rows, share: float, method: str) -> torch.Tensor:
        """Returns the rows to compute again."""
        if share == 0:
            return torch.arange(0)
        score = METHODS[method].score(self.evidence(rows, is_reference=method in REFERENCES))
        return self.begin + score.topk(round(share * len(score))).indices.sort().values

    @property
    def begin(self) -> int:
        """Where the first document, whose rows are exact, ends."""
        return len(self._store.system.positions) + len(self.parts[0])

    def evidence(self, rows: Rows, *, is_reference: bool = False) -> Evidence:
        """What a method may look at, without a spread; includes a full prefill only if it is for reference."""
        stale, more = self.looked(rows), {}
        if is_reference:
            paid = self.looked(self.full)
            values, stored, keys, stored_keys = (
                flat[:, :, self.begin :].transpose(1, 2).flatten(2)
                for flat in (self.full.values, rows.values, self.full.keys, rows.keys)
            )
            flat = (of.flatten(0, 1) for of in (paid, values, stale, stored))
            more = {
                "deviation": (values - stored).norm(dim=-1),
                "key_deviation": (keys - stored_keys).norm(dim=-1),
                "context_attention": self._context_attention,
                "full_attention": paid,
                "output_deviation": part_moved(*flat).view_as(paid),
            }
        offset = torch.cat([torch.arange(len(part)) for part in self.parts[1:]]).float()
        return Evidence(stale, torch.zeros_like(offset), offset, more)

    def looked(self, rows: Rows, within: int | None = None) -> torch.Tensor:
        """The question's attention to the rows that may be computed again; within: see `Model.compute`."""
        at = len(rows.positions) + torch.arange(len(self.question))
        done = self._model.compute(self.question, at, rows, with_attention=True, within=within)
        return done.attention[:, self.begin :]

    @cached_property
    def _context_attention(self) -> torch.Tensor:
        # every row is there twice, as stored and as computed here, which halves the attention to each
        at = self.full.positions[-len(self.context) :]
        done = self._model.compute(self.context.tolist(), at, self.full, with_attention=True)
        return done.attention[:, self.begin :]

    def log_probabilities(self, rows: Rows, again: torch.Tensor, answer: Sequence[int]) -> torch.Tensor:
        """Of the tokens of a forced answer, [tokens, vocabulary]; `again`: rows that are computed again."""
        end = len(rows.positions)
        kept = torch.ones(end, dtype=torch.bool)
        kept[again] = False
        behind = [*self.question, *answer[:-1]]
        tokens = [*self.context[again - len(self._store.system.positions)].tolist(), *behind]
        at = torch.cat((rows.positions[again], end + torch.arange(len(behind))))
        return self._model.log_probabilities(self._model.compute(tokens, at, rows.picked(kept)).hidden[-len(answer) :])

    def divergence(self, rows: Rows, again: torch.Tensor) -> float:
        """KL of the answer's distributions to those of full attention, mean over its tokens."""
        full, log = self._full_answer, self.log_probabilities(rows, again, self.answer)
        return float((full.exp() * (full - log)).sum(-1).mean())

    @cached_property
    def _full_answer(self) -> torch.Tensor:
        return self.log_probabilities(self.full, torch.arange(0), self.answer)


def measure(model: Model, trace: Trace, prompts: int, ways: Sequence[str], kept: Measurements) -> None:
    """Measures every way of storing on the first prompts of a trace."""
    store = Store(model, trace)
    for first in range(0, prompts, GROUP):
        group = trace.asked[first : first + GROUP]
        if not any(kept.open_cases(trace.name, asked.name, list(ways)) for asked in group[: prompts - first]):
            continue
        found = store.contexts(group, first) if {AVERAGED, "2 + 2"} & set(ways) else {}
        contexts = {document: [one.rows for one in seen] for document, seen in found.items()}
        for asked in group[: prompts - first]:
            wanted = kept.open_cases(trace.name, asked.name, list(ways))
            prompt = Prompt(model, store, trace, asked) if wanted else None
            for way in wanted:
                documents = {one: _stored(store, contexts.get(one, ()), one, way) for one in asked.documents[1:]}
                kept.add({"trace": trace.name, "prompt": asked.name, "case": way, **_figures(prompt, documents)})
            store.forget()
            print(f"{trace.name} {asked.name}", flush=True)


def _stored(store: Store, contexts: Sequence[Rows], document: str, way: str) -> Rows:
    if way == AVERAGED:
        return mean(contexts)
    if way == "2 + 2":
        return mean([*contexts[:2], store.behind(document, 2), store.behind(document, 2, skipped=2)])
    return store.behind(document, int(way.removeprefix("similar ")))


def _figures(prompt: Prompt, documents: dict[str, Rows]) -> dict[str, float]:
    rows = prompt.stitched(documents)
    nothing = torch.arange(0)
    found = {}
    gold = torch.tensor(prompt.gold)[:, None]
    for share, method in CHOICES:
        again = prompt.chosen(rows, share, method)
        name = f"{share:g} {method}".strip()
        found[f"kl {name}"] = prompt.divergence(rows, again)
        if prompt.gold:
            found[f"gold {name}"] = float(prompt.log_probabilities(rows, again, prompt.gold).gather(1, gold).mean())
    if prompt.gold:
        found["gold full"] = float(prompt.log_probabilities(prompt.full, nothing, prompt.gold).gather(1, gold).mean())
    return found


def main() -> None:
    parser = parser_of("quality.similar", __doc__, prompts=16)
    parser.add_argument("--answered", action="store_true", help="only prompts whose documents hold the gold answer")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    options = parser.parse_args()
    kept = Measurements(options.out / "measured.jsonl")
    for model, trace in open_traces(options):
        if options.answered:
            trace.asked = [one for one in trace.asked if holds_answer(one)]
        measure(model, trace, options.prompts, options.ways, kept)
    publish(kept, options.out)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
