"""Figures with their intervals, as CSV, Markdown and curves."""

import csv
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

Rows = list[dict[str, Any]]
_RESAMPLES = 4000


def bootstrap(values: Sequence[float], seed: int = 0) -> tuple[float, float, float]:
    """Returns the mean and the ends of its 95 % interval, by resampling."""
    given = np.asarray(values, dtype=float)
    picks = np.random.default_rng(seed).integers(0, len(given), (_RESAMPLES, len(given)))
    low, high = np.percentile(given[picks].mean(1), [2.5, 97.5])
    return float(given.mean()), float(low), float(high)


def means_of(rows: Rows, names: Sequence[str]) -> dict[str, Any]:
    """Returns each name's mean over the rows that have it, and the ends of its interval; "" if no row has it."""
    figure: dict[str, Any] = {}
    for name in names:
        values = [float(row[name]) for row in rows if name in row]
        mean, low, high = bootstrap(values) if values else ("", "", "")
        figure |= {name: mean, f"{name}_low": low, f"{name}_high": high}
    return figure


def write_figures(folder: Path, figures: Rows, text: str) -> None:
    """Writes `figures.csv`, with a column per member of a figure, and `figures.md`."""
    with (folder / "figures.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(figures[0]))
        writer.writeheader()
        writer.writerows(figures)
    (folder / "figures.md").write_text(text)


def plot_panels(
    path: Path, names: Sequence[str], draw: Callable[[Any, str], None], *, x: str, y: str, title: str
) -> None:
    """Writes a PNG and an SVG with a panel per name side by side and a logarithmic KL axis, if matplotlib is there."""
    if find_spec("matplotlib") is None:
        return
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(names), figsize=(5.5 * len(names), 4), sharey=True, squeeze=False)
    for panel, name in zip(panels[0], names, strict=True):
        draw(panel, name)
        panel.set_title(name)
        panel.set_xlabel(x)
        panel.set_yscale("log")
        if panel.has_data():
            panel.legend(fontsize=7)
    panels[0][0].set_ylabel(y)
    figure.suptitle(title)
    figure.tight_layout()
    for kind in ("png", "svg"):
        figure.savefig(path.with_suffix(f".{kind}"), metadata={"Title": title})
    pyplot.close(figure)


def draw_kl(panel: Any, curve: Rows, label: str) -> None:
    """Draws a curve of KL over `ratio`, with its intervals."""
    at = [one["ratio"] for one in curve]
    panel.plot(at, [one["kl"] for one in curve], marker="o", markersize=3, label=label)
    panel.fill_between(at, [one["kl_low"] for one in curve], [one["kl_high"] for one in curve], alpha=0.1)
