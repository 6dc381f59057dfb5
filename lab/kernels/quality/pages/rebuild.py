"""`python -m quality.pages.rebuild`: small budgets of pages, and when CHESS chooses again (CHESS, 3.3 and appendix C).

Listed are the first page, the last two, and 1 to 25 % of the prompt's pages; pages that fill afterwards are read, as in
the engines, until pages are chosen again. Measured are needles (the codes of twenty
places, written down again one after another) and text forced to its own continuation.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from quality.figures import means_of
from quality.in_engine.measure import Measurements
from quality.in_engine.prompts import read_lines
from quality.pages.forced_pages import PAGE, RECENT, SINKS, Model
from quality.pages.prompts import DIALOGUE
from quality.pages.selectors import RecentPages
from reprise_pages.affinity import KeyAffinity
from reprise_pages.selectors import AttentionMass, QuestBounds

SHARES = {0.01: (0.5, 0.2), 0.02: (0.5, 0.2), 0.05: (0.5, 0.5), 0.25: (0.5, 0.5)}
"""of pages, with CHESS's shares of grids and chunks: the paper's for 1 %"""
WHEN = ("once", "99th percentile", "50th percentile", "6 pages", "page")
PER_STEP = {"attention-mass": AttentionMass, "quest": QuestBounds}
NEEDLES = 20
PLACES = (
    "Oslo", "Lima", "Cairo", "Paris", "Delhi", "Tokyo", "Quito", "Dakar", "Hanoi", "Minsk", "Sofia", "Tunis", "Accra",
    "Amman", "Baku", "Bern", "Doha", "Kyiv", "Lagos", "Rome", "Riga", "Seoul", "Vienna", "Warsaw", "Athens", "Berlin",
    "Dublin", "Lisbon", "London", "Madrid",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """Who chooses, when, and the share of pages."""

    selector: str
    when: str
    share: float

    def __str__(self) -> str:
        return f"{self.selector}, {self.when}, {self.share:g}"


CASES = [
    *(Case("chess", when, share) for share in (0.01, 0.02, 0.05) for when in WHEN), Case("chess", "page", 0.25),
    *(Case("recent", "page", share) for share in (0.01, 0.05, 0.25)),
    *(Case(name, "step", share) for share in (0.01, 0.05, 0.25) for name in PER_STEP),
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Task:
    """A prompt of whole pages, its answer, and which tokens of the answer are each needle's."""

    kind: str
    name: str
    prompt: list[int]
    answer: list[int]
    needles: Sequence[range] = ()


def needles(tokenizer: Any, texts: Sequence[str], seed: int, tokens: int) -> Task:
    """Hides codes in text; the answer is all of them, in another order."""
    order = random.Random(seed)
    places = order.sample(PLACES, NEEDLES)
    lines = [tokenizer.encode(f"\n{place}: {order.randrange(10**5):05}\n") for place in places]
    end = tokenizer.encode("\n\n")
    filler = tokenizer.encode("\n".join(order.sample(texts, len(texts))))[: tokens - sum(map(len, lines)) - len(end)]
    step, prompt = len(filler) // NEEDLES, []
    for at, line in enumerate(lines):
        prompt += line + filler[at * step : (at + 1) * step]
    prompt = filler[NEEDLES * step :] + prompt + end
    # the fillers differ, so that a prompt has whole pages
    prompt = prompt[len(prompt) % PAGE :]
    answer: list[int] = []
    spans = []
    for line in order.sample(lines, NEEDLES):
        digits = [at for at, token in enumerate(line) if tokenizer.decode([token]).isdigit()]
        spans.append(range(len(answer) + digits[0], len(answer) + digits[-1] + 1))
        answer += line
    return Task("needles", str(seed), prompt, answer, spans)


def dialogues(data: Path, tokenizer: Any, tokens: int, answer: int) -> Iterator[Task]:
    """Yields the beginning of each dialogue, and what follows."""
    texts: dict[str, list[str]] = {}
    for block in read_lines(data / DIALOGUE, "blocks"):
        texts.setdefault(str(block["id"]).split(":")[0], []).append(block["text"])
    for name, turns in sorted(texts.items()):
        ids = tokenizer.encode("\n".join(turns))
        if len(ids) > tokens + answer:
            yield Task("dialogue", name, ids[:tokens], ids[tokens : tokens + answer + 1])


def full(model: Model, task: Task) -> torch.Tensor:
    """Returns the log-probabilities behind each token of the answer but the last, by full attention."""
    model.begin(task.prompt)
    return torch.cat([model.go_on(part) for part in _by_page(task.answer)])


def few(model: Model, task: Task, case: Case, most: Sequence[float]) -> tuple[torch.Tensor, int, float]:
    """Returns the same with few pages, how often they were chosen after the first time, and the share of pages read.

    most: mean and variance of a page's entropies, both of which must be exceeded
    """
    budget = SINKS + RECENT + round(case.share * len(task.prompt) / PAGE)
    model.rewind()
    if case.selector in PER_STEP:
        model.reader.choose_by(PER_STEP[case.selector](), budget)
        log = torch.cat([model.go_on(part) for part in _by_page(task.answer)])
        return log, len(log) - 1, budget / (model.pages - len(log) / PAGE / 2)
    selector = KeyAffinity(*SHARES[case.share]) if case.selector == "chess" else RecentPages()
    seen: list[torch.Tensor] = []
    rebuilt, read, pages = 0, 0, 0
    for number, part in enumerate(_by_page(task.answer)):
        if number == 0 or _is_due(case.when, number, seen[-1], most):
            rebuilt += number > 0
            since = model.pages
            model.reader.read(model.best_for_all_layers(selector, budget), since)
        read, pages = read + budget + model.pages - since, pages + model.pages
        seen.append(model.go_on(part))
    return torch.cat(seen), rebuilt, read / pages


def _is_due(when: str, number: int, before: torch.Tensor, most: Sequence[float]) -> bool:
    if when == "once":
        return False
    if when.endswith("percentile"):
        return bool((page_figures(before) > torch.tensor(most)).all())
    return number % (6 if when == "6 pages" else 1) == 0


def page_figures(log: torch.Tensor) -> torch.Tensor:
    """Returns mean and variance of the entropies of a page's tokens."""
    entropy = -(log.exp() * log).sum(-1)
    return torch.stack((entropy.mean(), entropy.var(unbiased=False)))


def _by_page(answer: Sequence[int]) -> Iterator[Sequence[int]]:
    for begin in range(0, len(answer) - 1, PAGE):
        yield answer[begin : min(begin + PAGE, len(answer) - 1)]


def calibrate(model: Model, tasks: Sequence[Task]) -> dict[str, list[float]]:
    """Returns the percentiles of full pages' figures under full attention."""
    pages = [page_figures(part) for task in tasks for part in full(model, task).split(PAGE) if len(part) == PAGE]
    figures = torch.stack(pages).numpy()
    return {name: np.percentile(figures, int(name[:2]), axis=0).tolist() for name in WHEN if "percentile" in name}


def figures_of(task: Task, reference: torch.Tensor, log: torch.Tensor) -> dict[str, float]:
    """KL of two log-probabilities [tokens, vocabulary]; NLL, of needles a code's; and the share of codes all right."""
    steps = (reference.exp() * (reference - log)).sum(-1)
    token = torch.tensor(task.answer[1:])[:, None]
    said = log.gather(1, token)[:, 0]
    if not task.needles:
        return {"kl": float(steps.mean()), "nll": float(-said.mean())}
    right = log.argmax(-1) == token[:, 0]
    codes = [slice(span.start - 1, span.stop - 1) for span in task.needles]
    return {
        "kl": float(steps.mean()), "nll": -float(np.mean([float(said[code].sum()) for code in codes])),
        "right": float(np.mean([bool(right[code].all()) for code in codes])),
    }  # fmt: skip


def report(out: Path) -> str:
    """Returns a table of what has been measured, of the tasks on which every case was."""
    rows = [json.loads(line) for line in (out / "measured.jsonl").read_text().splitlines()]
    lines = []
    for kind in dict.fromkeys(row["trace"] for row in rows):
        counts: dict[str, int] = {}
        for row in rows:
            counts[row["prompt"]] = counts.get(row["prompt"], 0) + (row["trace"] == kind)
        whole = [row for row in rows if row["trace"] == kind and counts[row["prompt"]] == len(CASES) + 1]
        prompts = len({row["prompt"] for row in whole})
        columns = "| pages | chosen by | again | times | read | KL | KL minus once | NLL | right |"
        lines += [f"### {kind}, {prompts} prompts", "", columns, "| - " * 9 + "|"]
        of = {(row["prompt"], row["case"]): row["kl"] for row in whole}
        for case in dict.fromkeys(row["case"] for row in whole):
            here = [row for row in whole if row["case"] == case]
            for row in here:
                once = of.get((row["prompt"], case.rsplit(", ", 2)[0] + ", once, " + case.rsplit(", ", 1)[-1]))
                row |= {} if once is None else {"more": row["kl"] - once}
            mean = means_of(here, ("kl", "more", "nll", "right", "rebuilt", "read"))
            told = [f"{mean[n]:.3f} [{mean[n + '_low']:.3f}, {mean[n + '_high']:.3f}]" if mean[n] != "" else ""
                    for n in ("kl", "more", "nll", "right")]  # fmt: skip
            selector, when, share = [*case.split(", "), "", ""][:3]
            counted = f"{mean['rebuilt']:.1f} | {mean['read']:.3f}"
            lines.append(f"| {share} | {selector} | {when} | {counted} | {' | '.join(told)} |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    options = _read_options()
    if not options.report_only:
        _measure(options)
    text = report(options.out)
    (options.out / "figures.md").write_text(text)
    print(text)


def _measure(options: argparse.Namespace) -> None:
    from transformers import AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(options.model), Model(options.model)
    texts = [block["text"] for block in read_lines(options.data / "rag_musique", "blocks")][:400]
    hidden = [needles(tokenizer, texts, seed, options.context) for seed in range(options.prompts)]
    written = list(dialogues(options.data, tokenizer, options.context, options.tokens))[: options.prompts]
    before = {
        "needles": [needles(tokenizer, texts, 100 + seed, options.context // 2) for seed in range(3)],
        "dialogue": list(dialogues(options.data, tokenizer, 2048, 2048))[-3:],
    }
    kept = Measurements(options.out / "measured.jsonl")
    most = {kind: calibrate(model, tasks) for kind, tasks in before.items()}
    print(json.dumps(most), flush=True)
    for task in (one for both in zip(hidden, written, strict=False) for one in both):
        wanted = kept.open_cases(task.kind, task.name, list(CASES))
        if not wanted:
            continue
        reference = full(model, task)
        named = {"trace": task.kind, "prompt": task.name}
        if len(wanted) == len(CASES):
            kept.add({**named, "case": "all pages", "rebuilt": 0, "read": 1, **figures_of(task, reference, reference)})
        for case in wanted:
            log, rebuilt, read = few(model, task, case, most[task.kind].get(case.when, ()))
            kept.add({**named, "case": str(case), "rebuilt": rebuilt, "read": read, **figures_of(task, reference, log)})
        print(f"{task.kind} {task.name}, {len(task.prompt)} tokens, {len(task.answer)} of the answer", flush=True)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quality.pages.rebuild", description=main.__doc__)
    parser.add_argument("data", nargs="?", type=Path, help="folder of traces: memory_locomo, rag_musique")
    parser.add_argument("--model", help="folder of the model")
    parser.add_argument("--out", type=Path, required=True, help="folder for measurements and tables")
    parser.add_argument("--prompts", type=int, default=6, help="of each kind")
    parser.add_argument("--context", type=int, default=3072, help="tokens of a prompt")
    parser.add_argument("--tokens", type=int, default=320, help="of a dialogue's continuation")
    parser.add_argument("--report-only", action="store_true", help="measure nothing")
    return parser.parse_args()


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
