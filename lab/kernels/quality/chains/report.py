"""Tables and curves for a folder of results: `python -m quality.chains.report FOLDER`, from the folder `kernels`."""

import csv
import sys
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from quality.chains.evaluate import RATIOS, wilson
from quality.chains.reuse import KINDS
from quality.chains.tasks import TASKS
from quality.references import METHODS, REFERENCES


class Point(NamedTuple):
    """A result over all seeds together."""

    mean: float
    low: float
    high: float
    by_seed: list[float]
    """in order of the seeds"""


Points = dict[tuple[str, str, str, float], Point]
"""by task, kind, method and ratio"""


def read(folder: Path) -> Points:
    """Returns the points in `accuracy.csv`; the interval is Wilson's over the questions of all seeds."""
    counted: dict[tuple[str, str, str, float], dict[int, tuple[int, int]]] = defaultdict(dict)
    with (folder / "accuracy.csv").open() as file:
        for row in csv.DictReader(file):
            key = row["task"], row["kind"], row["method"], float(row["ratio"])
            counted[key][int(row["seed"])] = int(row["right"]), int(row["samples"])
    points = {}
    for key, seeds in counted.items():
        right, samples = (sum(one) for one in zip(*seeds.values(), strict=True))
        by_seed = [seeds[seed][0] / seeds[seed][1] for seed in sorted(seeds)]
        points[key] = Point(right / samples, *wilson(right, samples), by_seed)
    return points


def tables(points: Points, folder: Path) -> str:
    """Returns Markdown: each task's accuracy by kind, method and ratio, and the error of stored values."""
    lines = ["# Accuracy against the share of tokens computed again", ""]
    lines += ["Percent, all seeds together; 95 % intervals are at most ± the last column. By `report.py`.", ""]
    for task in _held(points, 0, TASKS):
        kinds = _kinds(points, task)
        whole = points[task, kinds[0], "full attention", 1.0]
        naive = ", ".join(f"{kind} {_percent(points[task, kind, 'prophetkv', 0.0].by_seed)}" for kind in kinds)
        lines += [
            f"## {task}",
            "",
            f"By seed: full attention {_percent(whole.by_seed)}; reused as stored: {naive}.",
            "",
        ]
        rows = [["rows", "method", *(f"{ratio:.0%}" for ratio in RATIOS), "±"]]
        for kind in kinds:
            for method in METHODS:
                row = [points[task, kind, method, ratio] for ratio in RATIOS]
                reach = max((one.high - one.low) / 2 for one in row)
                rows.append([kind, method, *(f"{100 * one.mean:.1f}" for one in row), f"{100 * reach:.1f}"])
        lines += [*table(rows), ""]
    return "\n".join(lines + deviation(folder)) + "\n"


def deviation(folder: Path) -> list[str]:
    """Returns Markdown: relative distance of stored values from those of full attention, by layer, mean over seeds."""
    held: dict[tuple[str, str], dict[int, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    with (folder / "deviation.csv").open() as file:
        for row in csv.DictReader(file):
            held[row["task"], row["kind"]][int(row["layer"])][int(row["seed"])] = float(row["relative"])
    layers = max(len(one) for one in held.values())
    rows = [["task", "rows", *(f"layer {one + 1}" for one in range(layers))]]
    for task, kind in sorted(held, key=lambda one: (TASKS.index(one[0]), KINDS.index(one[1]))):
        by_layer = held[task, kind].values()
        rows.append([task, kind, *(f"{sum(seeds.values()) / len(seeds):.3f}" for seeds in by_layer)])
    intro = "Sum of distances over sum of lengths, all tokens but BOS, mean over the seeds."
    return ["## Deviation of the stored values", "", intro, "", *table(rows)]


def table(rows: list[list[str]]) -> list[str]:
    """Returns Markdown lines with aligned columns; the first row is the header."""
    widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    return [lines[0], "| " + " | ".join("-" * width for width in widths) + " |", *lines[1:]]


def curves(points: Points) -> plt.Figure:
    """One row per task, one column per kind; bands are 95 % intervals."""
    tasks, kinds = _held(points, 0, TASKS), _held(points, 1, KINDS)
    figure, grid = plt.subplots(
        len(tasks), len(kinds), figsize=(3.6 * len(kinds), 2.7 * len(tasks)), sharex=True, sharey=True, squeeze=False
    )
    for task, row in zip(tasks, grid, strict=True):
        for kind, axes in zip(kinds, row, strict=True):
            if kind in _kinds(points, task):
                _draw(axes, points, task, kind)
    for axes in grid[-1]:
        axes.set_xlabel("share of tokens recomputed")
    for axes in grid[:, 0]:
        axes.set_ylabel("accuracy")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=4, frameon=False)
    figure.tight_layout(rect=(0, 0.2 / len(tasks), 1, 1))
    return figure


def _draw(axes: Axes, points: Points, task: str, kind: str) -> None:
    for place, method in enumerate(METHODS):
        colour = f"C{place}"
        row = [points[task, kind, method, ratio] for ratio in RATIOS]
        style = "--" if method in REFERENCES else "-"
        axes.plot(RATIOS, [one.mean for one in row], style, color=colour, marker=".", lw=1.4, label=method)
        axes.fill_between(RATIOS, [one.low for one in row], [one.high for one in row], color=colour, alpha=0.12, lw=0)
    axes.set_title(f"{task}, chunks {kind}", fontsize=10)
    # at 1 all methods equal full attention
    axes.set_xlim(-0.01, 0.52)
    axes.set_ylim(0, 1.02)
    axes.grid(alpha=0.25)


def _held(points: Points, part: int, order: tuple[str, ...]) -> list[str]:
    held = {key[part] for key in points}
    return [one for one in order if one in held]


def _kinds(points: Points, task: str) -> list[str]:
    return [kind for kind in KINDS if (task, kind, "full attention", 1.0) in points]


def _percent(shares: list[float]) -> str:
    return " / ".join(f"{100 * share:.1f}" for share in shares)


def write(folder: Path) -> None:
    """Writes `accuracy.md`, `accuracy.png` and `accuracy.svg` next to the tables."""
    points = read(folder)
    (folder / "accuracy.md").write_text(tables(points, folder))
    mpl.rcParams["svg.hashsalt"] = "chains"
    figure = curves(points)
    figure.savefig(folder / "accuracy.png", dpi=110, metadata={"Software": None})
    figure.savefig(folder / "accuracy.svg", metadata={"Date": None, "Title": "accuracy against recompute"})
    plt.close(figure)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
