"""Tables, CSV and plots of the measurements."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

from quality.figures import Rows, draw_kl, means_of, plot_panels, write_figures

_FIGURES = ("kl", "first_kl", "top1", "same_greedy", "gold", "full_gold", "gold_lost")


def write_report(folder: Path) -> str:
    """Writes `figures.csv`, `figures.md` and one plot per trace. Returns the Markdown."""
    groups = _grouped(folder / "measured.jsonl")
    figures = [_figure(key, rows) for key, rows in sorted(groups.items())]
    text = "\n\n".join(_table(trace, figures) for trace in dict.fromkeys(one["trace"] for one in figures)) + "\n"
    write_figures(folder, figures, text)
    _plot(folder, figures)
    return text


def _grouped(path: Path) -> dict[tuple[str, str, str, float], Rows]:
    groups: dict[tuple[str, str, str, float], Rows] = defaultdict(list)
    for line in path.read_text().splitlines():
        row = json.loads(line)
        groups[row["trace"], row["stored"], row["method"], row["ratio"]].append(row)
    return groups


def _figure(key: tuple[str, str, str, float], rows: Rows) -> dict[str, Any]:
    named = dict(zip(("trace", "stored", "method", "ratio"), key, strict=True))
    return {**named, "prompts": len(rows), **means_of(rows, _FIGURES)}


def _table(trace: str, figures: Rows) -> str:
    lines = [
        f"### {trace}",
        "",
        "| stored | method | ratio | prompts | KL [95 %] | top-1 | same answer | log p of gold (full), lost [95 %] |",
        "| - | - | - | - | - | - | - | - |",
    ]
    for one in figures:
        if one["trace"] == trace:
            gold = ""
            if one["gold"] != "":
                lost = f"{one['gold_lost']:.3f} [{one['gold_lost_low']:.3f}, {one['gold_lost_high']:.3f}]"
                gold = f"{one['gold']:.3f} ({one['full_gold']:.3f}), {lost}"
            lines.append(
                f"| {one['stored']} | {one['method'] if one['ratio'] not in (0, 1) else ''} | {one['ratio']:g} "
                f"| {one['prompts']} | {one['kl']:.4f} [{one['kl_low']:.4f}, {one['kl_high']:.4f}] | {one['top1']:.3f} "
                f"| {one['same_greedy']:.2f} | {gold} |"
            )
    return "\n".join(lines)


def _plot(folder: Path, figures: Rows) -> None:
    kinds = list(dict.fromkeys(one["stored"] for one in figures))
    for trace in dict.fromkeys(one["trace"] for one in figures):
        here = [one for one in figures if one["trace"] == trace]

        def draw(panel: Any, stored: str, here: Rows = here) -> None:
            kind = [one for one in here if one["stored"] == stored]
            none = [one for one in kind if one["ratio"] == 0]
            for method in dict.fromkeys(one["method"] for one in kind):
                curve = none + [one for one in kind if one["method"] == method and 0 < one["ratio"] < 1]
                if len(curve) > 1:
                    draw_kl(panel, curve, method)

        plot_panels(
            folder / trace, kinds, draw, x="share computed again", y="KL to full attention, 12 answer tokens",
            title=f"Reuse on {trace}",
        )  # fmt: skip
