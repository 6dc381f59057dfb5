"""Tables, CSV and plots of what has been measured."""

import csv
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from quality.in_engine.score import bootstrap

_FIGURES = ("kl", "first_kl", "top1", "same_greedy", "f1", "full_f1")
Rows = list[dict[str, Any]]


def write_report(folder: Path) -> str:
    """Writes `figures.csv`, `figures.md` and a plot a trace; returns the Markdown."""
    groups = _grouped(folder / "measured.jsonl")
    figures = [_figure(key, rows) for key, rows in sorted(groups.items())]
    text = "\n\n".join(_table(trace, figures) for trace in dict.fromkeys(one["trace"] for one in figures)) + "\n"
    write_figures(folder, figures, text)
    _plot(folder, figures)
    return text


def write_figures(folder: Path, figures: Rows, text: str) -> None:
    """Writes `figures.csv`, with the members of each figure as columns, and `figures.md`."""
    with (folder / "figures.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(figures[0]))
        writer.writeheader()
        writer.writerows(figures)
    (folder / "figures.md").write_text(text)


def _grouped(path: Path) -> dict[tuple[str, str, str, float], Rows]:
    groups: dict[tuple[str, str, str, float], Rows] = defaultdict(list)
    for line in path.read_text().splitlines():
        row = json.loads(line)
        groups[row["trace"], row["stored"], row["method"], row["ratio"]].append(row)
    return groups


def _figure(key: tuple[str, str, str, float], rows: Rows) -> dict[str, Any]:
    figure: dict[str, Any] = dict(zip(("trace", "stored", "method", "ratio"), key, strict=True), prompts=len(rows))
    for name in _FIGURES:
        values = [float(row[name]) for row in rows if name in row]
        mean, low, high = bootstrap(values) if values else ("", "", "")
        figure |= {name: mean, f"{name}_low": low, f"{name}_high": high}
    return figure


def _table(trace: str, figures: Rows) -> str:
    lines = [
        f"### {trace}",
        "",
        "| stored | method | ratio | prompts | KL [95 %] | top-1 | same answer | F1 (full attention) |",
        "| - | - | - | - | - | - | - | - |",
    ]
    for one in figures:
        if one["trace"] == trace:
            f1 = f"{one['f1']:.3f} ({one['full_f1']:.3f})" if one["f1"] != "" else ""
            lines.append(
                f"| {one['stored']} | {one['method'] if one['ratio'] not in (0, 1) else ''} | {one['ratio']:g} "
                f"| {one['prompts']} | {one['kl']:.4f} [{one['kl_low']:.4f}, {one['kl_high']:.4f}] | {one['top1']:.3f} "
                f"| {one['same_greedy']:.2f} | {f1} |"
            )
    return "\n".join(lines)


def _plot(folder: Path, figures: Rows) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    for trace in dict.fromkeys(one["trace"] for one in figures):
        stored_kinds = list(dict.fromkeys(one["stored"] for one in figures))
        figure, panels = pyplot.subplots(
            1, len(stored_kinds), figsize=(5 * len(stored_kinds), 4), sharey=True, squeeze=False
        )
        for panel, stored in zip(panels[0], stored_kinds, strict=True):
            here = [one for one in figures if one["trace"] == trace and one["stored"] == stored]
            none = [one for one in here if one["ratio"] == 0]
            for method in dict.fromkeys(one["method"] for one in here):
                curve = none + [one for one in here if one["method"] == method and 0 < one["ratio"] < 1]
                if len(curve) > 1:
                    at, kl = [one["ratio"] for one in curve], [one["kl"] for one in curve]
                    panel.plot(at, kl, marker="o", markersize=3, label=method)
                    panel.fill_between(
                        at, [one["kl_low"] for one in curve], [one["kl_high"] for one in curve], alpha=0.1
                    )
            panel.set_title(f"{trace}, stored: {stored}")
            panel.set_xlabel("share computed again")
            panel.set_yscale("log")
            panel.legend(fontsize=7)
        panels[0][0].set_ylabel("KL to full attention, 12 answer tokens")
        figure.tight_layout()
        for kind in ("png", "svg"):
            figure.savefig(folder / f"{trace}.{kind}", metadata={"Title": f"Reuse on {trace}"})
        pyplot.close(figure)
