"""Tables, CSV and plots of what has been measured."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from quality.in_engine.report import Rows, write_figures
from quality.in_engine.score import bootstrap

_FIGURES = ("kl", "late_kl", "top1", "nll", "full_nll", "share")


def write_report(folder: Path) -> str:
    """Writes `figures.csv`, `figures.md` and a plot; returns the Markdown."""
    rows = [json.loads(line) for line in (folder / "measured.jsonl").read_text().splitlines()]
    first = _first_five(rows)
    sets = {"the first five prompts": [one for one in rows if _key(one) in first]}
    sets["other prompts"] = [one for one in rows if _key(one) not in first]
    figures = [figure for name, given in sets.items() for figure in _figures(name, given)]
    text = "\n\n".join(_table(name, figures) for name, given in sets.items() if given) + "\n"
    write_figures(folder, figures, text)
    _plot(folder, [one for one in figures if one["prompts"]])
    return text


def _key(row: dict[str, Any]) -> tuple[str, str]:
    return row["trace"], row["prompt"]


def _first_five(rows: Rows) -> set[tuple[str, str]]:
    """The prompts that were measured first: `first_five` comes before all others."""
    return set(list(dict.fromkeys(map(_key, rows)))[:5])


def _figures(name: str, rows: Rows) -> Rows:
    groups: dict[tuple[str, int, float], Rows] = defaultdict(list)
    for row in rows:
        groups[row["selector"], row["every"], row["ratio"]].append(row)
    return [_figure(name, key, given) for key, given in sorted(groups.items(), key=lambda one: (one[0][2], one[0]))]


def _figure(name: str, key: tuple[str, int, float], rows: Rows) -> dict[str, Any]:
    named = dict(zip(("selector", "every", "ratio"), key, strict=True))
    figure: dict[str, Any] = {"set": name, **named, "prompts": len(rows)}
    for one in _FIGURES:
        mean, low, high = bootstrap([row[one] for row in rows])
        figure |= {one: mean, f"{one}_low": low, f"{one}_high": high}
    return figure


def _table(name: str, figures: Rows) -> str:
    lines = [
        f"### {name}",
        "",
        "| pages | chosen by | every | prompts | KL [95 %] | second half | top-1 | NLL (full) | listed |",
        "| - | - | - | - | - | - | - | - | - |",
    ]
    for one in figures:
        if one["set"] == name:
            every = {0: "page", 1: "step"}.get(one["every"], f"{one['every']} steps")
            lines.append(
                f"| {one['ratio']:.0%} | {one['selector']} | {every} | {one['prompts']} "
                f"| {one['kl']:.4f} [{one['kl_low']:.4f}, {one['kl_high']:.4f}] | {one['late_kl']:.4f} "
                f"| {one['top1']:.3f} | {one['nll']:.3f} ({one['full_nll']:.3f}) | {one['share']:.1%} |"
            )
    return "\n".join(lines)


def _plot(folder: Path, figures: Rows) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    names = list(dict.fromkeys(one["set"] for one in figures))
    figure, panels = pyplot.subplots(1, len(names), figsize=(6 * len(names), 4), sharey=True, squeeze=False)
    for panel, name in zip(panels[0], names, strict=True):
        here = [one for one in figures if one["set"] == name]
        for selector, every in dict.fromkeys((one["selector"], one["every"]) for one in here):
            curve = [one for one in here if (one["selector"], one["every"]) == (selector, every)]
            at = [one["ratio"] for one in curve]
            panel.plot(at, [one["kl"] for one in curve], marker="o", markersize=3, label=f"{selector}, every {every}")
            panel.fill_between(at, [one["kl_low"] for one in curve], [one["kl_high"] for one in curve], alpha=0.1)
        panel.set_title(name)
        panel.set_xlabel("share of pages")
        panel.set_yscale("log")
        panel.legend(fontsize=7)
    panels[0][0].set_ylabel("KL to full attention, decode steps")
    figure.tight_layout()
    for kind in ("png", "svg"):
        figure.savefig(folder / f"pages.{kind}", metadata={"Title": "Fewer pages"})
    pyplot.close(figure)
