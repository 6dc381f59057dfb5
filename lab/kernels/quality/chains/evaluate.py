"""
Measures every method over every kind of stored rows: `python -m quality.chains.evaluate`, from the folder `kernels`.

Writes a folder of results and continues where it was stopped: it does not measure again what is in its tables.
"""

import argparse
import csv
import datetime
import math
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from quality.chains.reuse import CONTEXTS, KINDS, PREDECESSORS, Case, Prompts, Strangers
from quality.chains.tasks import BOS, CHAINS, TASKS, TOGETHER, Layout, chain_texts, draw
from quality.chains.train import WEIGHTS, load
from quality.references import METHODS

RESULTS = Path(__file__).parent / "results"
RATIOS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
ACCURACY = ("seed", "task", "kind", "method", "ratio", "right", "samples", "low", "high")
DEVIATION = ("seed", "task", "kind", "layer", "relative")
_PART = 64
_POOL = 256
_STRANGERS = 128


def cases(seed: int, task: str, kind: str, samples: int) -> Iterator[tuple[Case, torch.Tensor]]:
    """Yields prompts and their answers in parts, the same for every kind and every seed of the model."""
    model, layout = load(seed)
    random = np.random.default_rng([TASKS.index(task), 2])
    pool = chain_texts(random, _POOL, max(CHAINS), layout).context.reshape(-1, layout.tokens)
    for first in range(0, samples, _PART):
        asked = draw(task, random, min(_PART, samples - first), layout)
        prompts = Prompts(torch.from_numpy(asked.tokens), torch.from_numpy(asked.questions))
        behind = strangers(random, pool, len(asked.tokens), layout)
        case = Case(model, prompts, layout, kind, behind, first_seed=first, together=TOGETHER.get(task, 1))
        yield case, torch.from_numpy(asked.answers)


def strangers(random: np.random.Generator, pool: np.ndarray, batch: int, layout: Layout) -> Strangers:
    """Returns random contexts made of chunks of other texts; pool [chunks, tokens]."""
    chunks = pool[random.integers(len(pool), size=(_STRANGERS, PREDECESSORS))].reshape(_STRANGERS, -1)
    tokens = np.concatenate((np.full((_STRANGERS, 1), BOS), chunks), 1)
    picked = random.integers(_STRANGERS, size=(CONTEXTS, batch * layout.chunks))
    return Strangers(torch.from_numpy(tokens), torch.from_numpy(picked))


@torch.inference_mode()
def measure(seed: int, task: str, kind: str, samples: int) -> tuple[list[tuple], list[tuple]]:
    """Returns the rows of both tables for one model, task and kind."""
    right: dict[tuple[str, float], int] = {}
    moved, size = 0, 0
    for case, answers in cases(seed, task, kind, samples):
        everything = case.repaired(case.held.spread, 1.0)
        for method in METHODS:
            scores = case.scores(method)
            for ratio in RATIOS:
                # if all tokens are chosen, the score does not matter
                found = {0.0: case.naive.answers, 1.0: everything}.get(ratio)
                found = case.repaired(scores, ratio) if found is None else found
                right[method, ratio] = right.get((method, ratio), 0) + case.count(found, answers)
        moved, size = moved + case.deviation.sum((1, 2)), size + case.size.sum((1, 2))
        whole = case.count(case.whole.answers, answers)
        right["full attention", 1.0] = right.get(("full attention", 1.0), 0) + whole
    samples //= TOGETHER.get(task, 1)
    accuracy = [
        (seed, task, kind, method, ratio, count, samples, *(f"{bound:.4f}" for bound in wilson(count, samples)))
        for (method, ratio), count in right.items()
    ]
    return accuracy, [(seed, task, kind, layer, f"{one:.4f}") for layer, one in enumerate((moved / size).tolist())]


def wilson(right: int, samples: int) -> tuple[float, float]:
    """Returns the 95 % interval of a share."""
    z, share = 1.96, right / samples
    middle = share + z * z / (2 * samples)
    reach = z * math.sqrt(share * (1 - share) / samples + z * z / (4 * samples * samples))
    return (middle - reach) / (1 + z * z / samples), (middle + reach) / (1 + z * z / samples)


def append(path: Path, header: tuple[str, ...], rows: list[tuple]) -> None:
    """Appends rows to a table atomically: later runs see all of them or none."""
    held = path.read_text() if path.exists() else ",".join(header) + "\n"
    draft = path.with_suffix(".part")
    draft.write_text(held + "".join(",".join(map(str, row)) + "\n" for row in rows))
    draft.replace(path)


def done(path: Path) -> set[tuple[str, str, str]]:
    """Returns the cases that a table already contains."""
    if not path.exists():
        return set()
    with path.open() as file:
        return {(row["seed"], row["task"], row["kind"]) for row in csv.DictReader(file)}


def main() -> None:
    """Measures what is missing, then writes the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+")
    parser.add_argument("--tasks", nargs="+", default=TASKS, choices=TASKS)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--samples", type=int, default=512)
    parser.add_argument("--folder", type=Path, default=RESULTS / f"{datetime.date.today()}-{os.cpu_count()}-cpus")
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.folder.mkdir(parents=True, exist_ok=True)
    accuracy, deviation = given.folder / "accuracy.csv", given.folder / "deviation.csv"
    seeds = given.seeds or sorted(int(path.stem.removeprefix("seed-")) for path in WEIGHTS.glob("*.safetensors"))
    for task in given.tasks:
        for seed in seeds:
            for kind in given.kinds:
                if (str(seed), task, kind) in done(accuracy):
                    continue
                rows, moved = measure(seed, task, kind, given.samples)
                append(deviation, DEVIATION, moved)
                append(accuracy, ACCURACY, rows)
                print(f"seed {seed} {task} {kind}", flush=True)
    from quality.chains.report import write  # matplotlib is wanted only here

    write(given.folder)


if __name__ == "__main__":
    main()
