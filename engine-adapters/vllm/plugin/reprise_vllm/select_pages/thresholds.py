"""Recorded pages, kept so that a run can resume where the last one ended, and the thresholds derived from them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

FILE = "thresholds.json"


class CalibrationError(ValueError):
    """Calibration is not possible; the message says why."""


class Recorded:
    """A JSONL file: the first line describes the run's settings, then one line follows for each prompt."""

    def __init__(self, path: Path, of: dict[str, Any]) -> None:
        self._path = path
        self._prompts: dict[str, list[list[float]]] = {}
        if not path.exists() or path.stat().st_size == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(of) + "\n")
            return
        first, *lines = path.read_text().splitlines(keepends=True)
        if json.loads(first) != of:
            raise CalibrationError(f"{path} is of {first.strip()}, not of {json.dumps(of)}: name another folder")
        # a killed run may have left an incomplete last line
        whole = [line for line in lines if line.endswith("\n")]
        if len(whole) < len(lines):
            path.write_text(first + "".join(whole))
        for row in map(json.loads, whole):
            self._prompts[row["prompt"]] = row["pages"]

    def has(self, prompt: str) -> bool:
        return prompt in self._prompts

    def add(self, prompt: str, pages: Sequence[Sequence[float]]) -> None:
        """Records a prompt's pages, of which there may be none, and appends them to the file."""
        self._prompts[prompt] = [list(page) for page in pages]
        with self._path.open("a") as lines:
            lines.write(json.dumps({"prompt": prompt, "pages": self._prompts[prompt]}) + "\n")

    @property
    def prompts(self) -> int:
        return len(self._prompts)

    @property
    def pages(self) -> np.ndarray:
        """float64 [pages, 2]: mean and variance of the entropies of each page's tokens."""
        return np.array([page for pages in self._prompts.values() for page in pages], dtype=float).reshape(-1, 2)


def thresholds_of(pages: np.ndarray, percentile: float) -> dict[str, Any]:
    """
    Returns the percentiles of both figures, and the share of pages above both: each such page would be a backtrack.

    Raises `CalibrationError` for fewer than two pages.
    """
    if len(pages) < 2:
        raise CalibrationError("fewer than two pages were recorded: give more prompts, or longer answers (--tokens)")
    most = np.percentile(pages, percentile, axis=0)
    return {
        "max_entropy": float(most[0]),
        "max_varentropy": float(most[1]),
        "percentile": percentile,
        "recorded_pages": len(pages),
        "pages_above_both": float((pages > most).all(axis=1).mean()),
    }


def read_thresholds(path: str) -> tuple[float, float]:
    """Reads `max_entropy` and `max_varentropy` from a file the command wrote. Raises `CalibrationError` if invalid."""
    try:
        given = json.loads(Path(path).read_text())
        most = given["max_entropy"], given["max_varentropy"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CalibrationError(f"{path} cannot be read as thresholds: {error!r}") from error
    if not all(isinstance(one, int | float) and not isinstance(one, bool) and 0 <= one < np.inf for one in most):
        raise CalibrationError(f"{path} holds no thresholds: {most}")
    return float(most[0]), float(most[1])
