"""`python -m quality.similar`: documents stored behind similar ones, as FusionRAG prints it (§3.1, equation 10).

A document is computed over the rows of its n most similar documents, each stored alone and laid end to end, the most
similar one next to it. Compared are n = 0, 2, 5, 10, 15 and the mean over four contexts of other prompts.
"""

import argparse
import json
import random
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import torch

from quality.figures import bootstrap
from quality.in_engine.measure import ANSWER_TOKENS, CONTEXTS, GROUP, Measurements
from quality.in_engine.prompts import DOCUMENT, QUESTION, SYSTEM, Asked, Trace
from quality.stored_rows import Model, Rows, joined
from reprise_reuse.methods import METHODS, Evidence

LONGEST = 8192
AVERAGED = "averaged"
WAYS = ("similar 0", "similar 2", "similar 5", "similar 10", "similar 15", AVERAGED)
CHOICES = ((0.0, ""), (0.15, "prophetkv"), (0.15, "fusionrag"))
"""share of the reused tokens that is computed again, and by which choice"""


class Store:
    """The rows of documents, each as at the position behind the system prompt."""

    def __init__(self, model: Model, trace: Trace) -> None:
        self._model, self._trace = model, trace
        tokens = trace.tokens_of(SYSTEM)
        self.system = model.compute(tokens, torch.arange(len(tokens)), None).rows
        self._alone: dict[str, Rows] = {}

    def tokens(self, document: str) -> list[int]:
        return self._trace.tokens_of(DOCUMENT.format(document))

    def behind(self, document: str, count: int) -> Rows:
        """Rows of a document computed over those of `count` similar ones."""
        if count == 0:
            if document not in self._alone:
                self._alone[document] = self._over([self.system], document)
            return self._alone[document]
        parts = [self.system]
        for neighbour in reversed(self._trace.similar(document, count)):
            parts.append(self._model.moved(self.behind(neighbour, 0), int(parts[-1].positions[-1]) + 1))
        return self._over(parts, document)

    def averages(self, group: Sequence[Asked], seed: int) -> dict[str, Rows]:
        """Rows of the documents of prompts, each the mean over windows with one document of each prompt."""
        order = random.Random(seed)
        seen: dict[str, list[Rows]] = {}
        begin = len(self.system.positions)
        for _ in range(CONTEXTS + 1):
            rows = [order.sample(asked.documents, len(asked.documents)) for asked in group]
            order.shuffle(rows)
            for window in zip_longest(*rows):
                documents = [one for one in window if one is not None]
                tokens = [self.tokens(one) for one in documents]
                flat = [token for part in tokens for token in part]
                done = self._model.compute(flat, begin + torch.arange(len(flat)), self.system).rows
                at = 0
                for document, part in zip(documents, tokens, strict=True):
                    own = seen.setdefault(document, [])
                    if len(own) < CONTEXTS:
                        own.append(self._model.moved(done.picked(slice(at, at + len(part))), begin))
                    at += len(part)
        return {document: _mean(rows) for document, rows in seen.items()}

    def forget(self) -> None:
        """Forgets the rows of documents."""
        self._alone.clear()

    def _over(self, parts: list[Rows], document: str) -> Rows:
        tokens, before = self.tokens(document), joined(parts)
        at = int(before.positions[-1]) + 1 + torch.arange(len(tokens))
        return self._model.moved(self._model.compute(tokens, at, before).rows, len(self.system.positions))


def _mean(rows: Sequence[Rows]) -> Rows:
    keys, values = (
        torch.stack(of_all).mean(0) for of_all in zip(*((one.keys, one.values) for one in rows), strict=True)
    )
    return Rows(keys, values, rows[0].positions)


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

    def stitched(self, documents: dict[str, Rows]) -> Rows:
        """The system prompt's rows, the first document's exact ones, and those stored of the others."""
        parts = [self._store.system]
        for at, document in enumerate(self._asked.documents):
            rows = self._store.behind(document, 0) if at == 0 else documents[document]
            parts.append(self._model.moved(rows, int(parts[-1].positions[-1]) + 1))
        return joined(parts)

    def chosen(self, rows: Rows, share: float, method: str) -> torch.Tensor:
        """Returns the rows to compute again."""
        if share == 0:
            return torch.arange(0)
        end = len(rows.positions)
        attention = self._model.compute(
            self.question, end + torch.arange(len(self.question)), rows, with_attention=True
        ).attention
        begin = len(self._store.system.positions) + len(self.parts[0])
        nothing = torch.zeros(end - begin)
        score = METHODS[method].score(Evidence(attention[:, begin:], nothing, nothing))
        return begin + score.topk(round(share * len(score))).indices.sort().values

    def log_probabilities(self, rows: Rows, again: torch.Tensor, answer: Sequence[int]) -> torch.Tensor:
        """Of the tokens of a forced answer, [tokens, vocabulary]; `again`: rows that are computed again."""
        end = len(rows.positions)
        kept = torch.ones(end, dtype=torch.bool)
        kept[again] = False
        behind = [*self.question, *answer[:-1]]
        tokens = [*self.context[again - len(self._store.system.positions)].tolist(), *behind]
        at = torch.cat((rows.positions[again], end + torch.arange(len(behind))))
        return self._model.log_probabilities(self._model.compute(tokens, at, rows.picked(kept)).hidden[-len(answer) :])


def measure(model: Model, trace: Trace, prompts: int, ways: Sequence[str], kept: Measurements) -> None:
    """Measures every way of storing on the first prompts of a trace."""
    store = Store(model, trace)
    for first in range(0, prompts, GROUP):
        group = trace.asked[first : min(first + GROUP, prompts)]
        if not any(kept.open_cases(trace.name, asked.name, list(ways)) for asked in group):
            continue
        averages = store.averages(group, first) if AVERAGED in ways else {}
        for asked in group:
            wanted = kept.open_cases(trace.name, asked.name, list(ways))
            prompt = Prompt(model, store, trace, asked) if wanted else None
            for way in wanted:
                kind, _, count = way.partition(" ")
                documents = averages if kind == AVERAGED else {
                    document: store.behind(document, int(count)) for document in asked.documents[1:]
                }  # fmt: skip
                kept.add({"trace": trace.name, "prompt": asked.name, "case": way, **_figures(prompt, documents)})
            store.forget()
            print(f"{trace.name} {asked.name}", flush=True)


def _figures(prompt: Prompt, documents: dict[str, Rows]) -> dict[str, float]:
    rows = prompt.stitched(documents)
    nothing = torch.arange(0)
    full = prompt.log_probabilities(prompt.full, nothing, prompt.answer)
    found = {}
    gold = torch.tensor(prompt.gold)[:, None]
    for share, method in CHOICES:
        again = prompt.chosen(rows, share, method)
        log = prompt.log_probabilities(rows, again, prompt.answer)
        name = f"{share:g} {method}".strip()
        found[f"kl {name}"] = float((full.exp() * (full - log)).sum(-1).mean())
        if prompt.gold:
            found[f"gold {name}"] = float(prompt.log_probabilities(rows, again, prompt.gold).gather(1, gold).mean())
    if prompt.gold:
        found["gold full"] = float(prompt.log_probabilities(prompt.full, nothing, prompt.gold).gather(1, gold).mean())
    return found


def report(path: Path) -> str:
    """Returns a table for each trace: means with 95 % intervals, and paired differences to the averaged rows."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    lines = []
    for trace in dict.fromkeys(row["trace"] for row in rows):
        of = {(row["prompt"], row["case"]): row for row in rows if row["trace"] == trace}
        ways = list(dict.fromkeys(way for _, way in of))
        names = [name for name in dict.fromkeys(name for name, _ in of) if all((name, way) in of for way in ways)]
        lines += [f"### {trace}, {len(names)} prompts", ""]
        for figure in [name for name in of[names[0], ways[0]] if name.startswith(("kl", "gold"))]:
            lines += [f"{figure}", "", "| stored | mean [95 %] | minus averaged [95 %] |", "| - | - | - |"]
            for way in ways:
                told = _told([of[name, way][figure] for name in names])
                if AVERAGED in ways and way != AVERAGED:
                    told += f" | {_told([of[name, way][figure] - of[name, AVERAGED][figure] for name in names])}"
                lines.append(f"| {way} | {told} |")
            lines.append("")
    return "\n".join(lines)


def _holds_answer(asked: Asked) -> bool:
    return any(one.lower() in document.lower() for one in asked.answers[:1] for document in asked.documents)


def _told(values: Sequence[float]) -> str:
    return "{:.4f} [{:.4f}, {:.4f}]".format(*bootstrap(values))


def main() -> None:
    parser = argparse.ArgumentParser(prog="quality.similar", description=__doc__)
    parser.add_argument("traces", nargs="*", type=Path, help="folders with queries.jsonl and blocks.jsonl")
    parser.add_argument("--model", required=True, help="folder of the model")
    parser.add_argument("--out", type=Path, required=True, help="folder for measurements and tables")
    parser.add_argument("--prompts", type=int, default=16, help="a trace")
    parser.add_argument("--documents", type=int, default=8, help="a prompt")
    parser.add_argument("--answered", action="store_true", help="only prompts whose documents hold the gold answer")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--seed", type=int, default=11, help="of the order of prompts")
    options = parser.parse_args()
    kept = Measurements(options.out / "measured.jsonl")
    if options.traces:
        from transformers import AutoTokenizer

        tokenizer, model = AutoTokenizer.from_pretrained(options.model), Model(options.model, 2 * LONGEST)
        for folder in options.traces:
            trace = Trace(folder, tokenizer, options.documents, options.seed, LONGEST - ANSWER_TOKENS)
            if options.answered:
                trace.asked = [one for one in trace.asked if _holds_answer(one)]
            measure(model, trace, options.prompts, options.ways, kept)
    text = report(options.out / "measured.jsonl")
    (options.out / "figures.md").write_text(text)
    print(text)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
