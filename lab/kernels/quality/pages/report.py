"""Tables, CSV and plots of the measurements."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from quality.figures import Rows, draw_kl, means_of, plot_panels, write_figures

WINDOW = 128
"""steps over which the drift of long answers is averaged"""
_FIGURES = ("kl", "late_kl", "top1", "nll", "full_nll", "share")


def write_report(folder: Path) -> str:
    """Writes `figures.csv`, `figures.md` and a plot. Returns the Markdown."""
    rows = [json.loads(line) for line in (folder / "measured.jsonl").read_text().splitlines()]
    unnamed = [one for one in rows if "set" not in one]
    first = _first_five(unnamed)
    sets = {"the first five prompts": [one for one in unnamed if _key(one) in first]}
    sets["other prompts"] = [one for one in unnamed if _key(one) not in first]
    for name in dict.fromkeys(one["set"] for one in rows if "set" in one):
        sets[f"{name}, those measured by every choice"] = _common([one for one in rows if one.get("set") == name])
    figures = [figure for name, given in sets.items() for figure in _figures(name, given)]
    text = "\n\n".join(_table(name, figures) for name, given in sets.items() if given) + "\n"
    text += _drift(rows)
    write_figures(folder, figures, text)
    _plot(folder, [one for one in figures if one["prompts"]])
    return text


def _common(rows: Rows) -> Rows:
    """Keeps the prompts of an interrupted run for which every case is measured: only their means can be compared."""
    cases = {row["case"] for row in rows}
    counts = Counter(map(_key, rows))
    return [row for row in rows if counts[_key(row)] == len(cases)]


def _drift(rows: Rows) -> str:
    """Returns the mean KL of each window of long answers; empty if there is none."""
    long = [row for row in rows if len(row.get("kl_by", ())) > 2]
    if not long:
        return ""
    ends = [WINDOW * (at + 1) for at in range(max(len(row["kl_by"]) for row in long))]
    lines = [
        "",
        "### drift: mean KL of the steps up to each of these",
        "",
        f"| prompt | case | {' | '.join(map(str, ends))} |",
    ]
    lines.append("| - " * (len(ends) + 2) + "|")
    for row in long:
        lines.append(f"| {row['prompt']} | {row['case']} | {' | '.join(f'{one:.4f}' for one in row['kl_by'])} |")
    return "\n".join(lines) + "\n"


def _key(row: dict[str, Any]) -> tuple[str, str]:
    return row["trace"], row["prompt"]


def _first_five(rows: Rows) -> set[tuple[str, str]]:
    """Returns the prompts that were measured first: `first_five` comes before all others."""
    return set(list(dict.fromkeys(map(_key, rows)))[:5])


def _figures(name: str, rows: Rows) -> Rows:
    groups: dict[tuple[str, int, float], Rows] = defaultdict(list)
    for row in rows:
        groups[row["selector"], row["every"], row["ratio"]].append(row)
    return [_figure(name, key, given) for key, given in sorted(groups.items(), key=lambda one: (one[0][2], one[0]))]


def _figure(name: str, key: tuple[str, int, float], rows: Rows) -> dict[str, Any]:
    named = dict(zip(("selector", "every", "ratio"), key, strict=True))
    return {"set": name, **named, "prompts": len(rows), **means_of(rows, _FIGURES)}


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
    def draw(panel: Any, name: str) -> None:
        here = [one for one in figures if one["set"] == name]
        for selector, every in dict.fromkeys((one["selector"], one["every"]) for one in here):
            curve = [one for one in here if (one["selector"], one["every"]) == (selector, every)]
            draw_kl(panel, curve, f"{selector}, every {every}")

    names = list(dict.fromkeys(one["set"] for one in figures))
    plot_panels(
        folder / "pages", names, draw, x="share of pages", y="KL to full attention, decode steps", title="Fewer pages"
    )
