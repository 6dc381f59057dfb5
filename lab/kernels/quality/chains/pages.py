"""
Measures answers under page selection: `python -m quality.chains.pages`, from the folder `kernels`.

The question's tokens are decoded one by one, each layer reading only the pages that a selector lists, as in an engine.
`direct` is a needle: a name and its value, in one place of the context; the other tasks need several places.
"""

import argparse
import csv
import datetime
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch

from quality.chains.evaluate import wilson
from quality.chains.model import Cache, ChainModel, attend, put, turn
from quality.chains.reuse import ASKED, Prompts, full
from quality.chains.tasks import TASKS, draw
from quality.chains.train import WEIGHTS, load
from quality.pages.selectors import SELECTORS
from reprise_pages.choice import always_listed, best_pages, budget_pages

RESULTS = Path(__file__).parent / "results"
PAGE, SINKS, RECENT = 8, 1, 2
RATIOS = (0.15, 0.25, 0.5, 1.0)
ORACLE = "true mass"
_PART = 64
Choose = Callable[[int, torch.Tensor], torch.Tensor]
"""layer, its query [batch, 1, heads, size] -> which pages it reads, bool [batch, pages]"""


def answers(model: ChainModel, prompts: Prompts, name: str, ratio: float) -> torch.Tensor:
    """Returns the answers [batch] if every decode step reads this share of the context's complete pages."""
    cache, context = full(model, prompts), prompts.tokens.shape[1]
    choose = _chooser(model, cache, context // PAGE, name, ratio)
    for step in range(ASKED):
        hidden = _decode(model, cache, prompts.questions[:, step], context + step, choose)
    return model.head(hidden[:, -1]).argmax(-1)


def _decode(model: ChainModel, cache: Cache, tokens: torch.Tensor, position: int, choose: Choose) -> torch.Tensor:
    """Computes one token [batch] at `position`, writes its keys and values, and returns its hidden state."""
    config, batch = model.config, len(tokens)
    at = torch.full((batch, 1), position)
    table, x = model.cos_sin[at][:, :, None], model.embedding(tokens[:, None])
    for index, layer in enumerate(model.layers):
        normal = layer.attention_norm(x)
        query = turn(layer.query(normal).view(batch, 1, config.query_heads, config.head_size), table)
        key = turn(layer.key(normal).view(batch, 1, config.kv_heads, config.head_size), table)
        value = layer.value(normal).view(batch, 1, config.kv_heads, config.head_size)
        keys, values = put(cache.keys[index], at, key), put(cache.values[index], at, value)
        listed = choose(index, query)
        sees = (torch.arange(keys.shape[1]) <= position).repeat(batch, 1)
        # what follows the complete pages is always read
        sees[:, : listed.shape[1] * PAGE] &= listed.repeat_interleave(PAGE, 1)
        x = x + layer.out(attend(query, keys, values, sees[:, None, None], with_attention=False)[0])
        x = x + layer.mlp(x)
    return model.norm(x)


def _chooser(model: ChainModel, cache: Cache, pages: int, name: str, ratio: float) -> Choose:
    config, batch = model.config, cache.keys.shape[1]
    of_pages = cache.keys[:, :, : pages * PAGE].unflatten(2, (pages, PAGE))
    count = torch.full((batch,), pages)
    budget = int(budget_pages(np.array([pages]), np.array([ratio]), SINKS, RECENT)[0])
    always = always_listed(count, pages, SINKS, RECENT)

    def marked(scores: torch.Tensor) -> torch.Tensor:
        return torch.zeros(batch, pages, dtype=torch.bool).scatter_(1, best_pages(scores, always, budget), True)

    def heads_of(query: torch.Tensor) -> torch.Tensor:
        return query.view(batch, config.kv_heads, -1, config.head_size) * config.head_size**-0.5

    if name == ORACLE:

        def by_mass(index: int, query: torch.Tensor) -> torch.Tensor:
            logits = torch.einsum("bhgd,bpthd->bhgpt", heads_of(query), of_pages[index])
            return marked(logits.flatten(3).softmax(-1).view_as(logits).sum((1, 2, 4)))

        return by_mass
    kind = SELECTORS[name]
    selector = kind(model.rotation()) if name == "chess-unrotated" else kind()
    first = torch.arange(pages).repeat(batch) * PAGE
    kept = [selector.summarise(one.flatten(0, 1), first).unflatten(0, (batch, pages)) for one in of_pages]
    summaries = torch.stack(kept).permute(0, 1, 3, 4, 2)
    if not selector.per_layer:
        listed = marked(selector.scores(summaries, count, RECENT))
        return lambda *_: listed
    there = torch.ones(batch, pages, dtype=torch.bool)
    return lambda index, query: marked(selector.scores(heads_of(query), summaries[index], there, PAGE))


@torch.inference_mode()
def measure(seed: int, task: str, samples: int) -> Iterator[tuple[str, float, int]]:
    """Yields how many answers of one model are right, by selector and share of pages."""
    model, layout = load(seed)
    random = np.random.default_rng([TASKS.index(task), 3])
    right: dict[tuple[str, float], int] = defaultdict(int)
    for begin in range(0, samples, _PART):
        asked = draw(task, random, min(_PART, samples - begin), layout)
        prompts = Prompts(torch.from_numpy(asked.tokens), torch.from_numpy(asked.questions))
        for name in (*SELECTORS, ORACLE):
            for ratio in RATIOS:
                found = answers(model, prompts, name, ratio)
                right[name, ratio] += int((found == torch.from_numpy(asked.answers)).sum())
    for (name, ratio), count in right.items():
        yield name, ratio, count


def report(counted: dict[tuple[str, str, float], int], samples: int) -> str:
    """Returns Markdown: percent right by task, selector and share of pages, with 95 % intervals."""
    lines = ["# Percent right by the share of pages that a decode step reads", ""]
    lines += [f"Pages of {PAGE} tokens, the first and the last {RECENT} always read. By `pages.py`.", ""]
    for task in dict.fromkeys(task for task, *_ in counted):
        lines += [f"## {task}", "", "| chosen by | " + " | ".join(f"{ratio:.0%}" for ratio in RATIOS) + " |"]
        lines += ["| - |" + " - |" * len(RATIOS)]
        for name in (*SELECTORS, ORACLE):
            cells = []
            for ratio in RATIOS:
                right = counted[task, name, ratio]
                low, high = wilson(right, samples)
                cells.append(f"{100 * right / samples:.1f} [{100 * low:.1f}, {100 * high:.1f}]")
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    """Measures all tasks with all committed models, and writes a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=512, help="questions for each model and task")
    parser.add_argument("--folder", type=Path, default=RESULTS / f"{datetime.date.today()}-pages-{os.cpu_count()}-cpus")
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.folder.mkdir(parents=True, exist_ok=True)
    seeds = sorted(int(path.stem.removeprefix("seed-")) for path in WEIGHTS.glob("*.safetensors"))
    counted: dict[tuple[str, str, float], int] = defaultdict(int)
    with (given.folder / "pages.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("seed", "task", "selector", "ratio", "right", "samples"))
        for task in TASKS:
            for seed in seeds:
                for name, ratio, right in measure(seed, task, given.samples):
                    table.writerow((seed, task, name, ratio, right, given.samples))
                    counted[task, name, ratio] += right
    (given.folder / "pages.md").write_text(report(counted, given.samples * len(seeds)))


if __name__ == "__main__":
    main()
