"""Reads prompts to calibrate on, from request bodies or traces."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reprise_vllm.select_pages.thresholds import CalibrationError

_QUERIES = ("queries", "turns", "questions")


def read_prompts(paths: list[Path]) -> Iterator[Any]:
    """
    Yields the prompts in order. Each is a list of messages, a text, or a list of tokens.

    A path is a JSONL file of request bodies (`messages` or `prompt`), or a trace's folder as written by `reprise serve
    --record`. Files may be gzipped (`.gz`). Raises `CalibrationError` if a file cannot be read.
    """
    for path in paths:
        yield from _read_trace(path) if path.is_dir() else _read_bodies(path)


def _read_bodies(path: Path) -> Iterator[Any]:
    for number, body in _lines(path):
        prompt = body.get("messages", body.get("prompt")) if isinstance(body, dict) else None
        if not isinstance(prompt, str | list) or not prompt:
            raise CalibrationError(f"{path}, line {number}: neither messages nor a prompt")
        yield prompt


def _read_trace(folder: Path) -> Iterator[Any]:
    texts = {block["id"]: block["text"] for _, block in _lines(_file(folder, ("blocks",))) if "text" in block}
    for _, query in _lines(_file(folder, _QUERIES)):
        found = [texts[block] for block in query.get("blocks", []) if block in texts]
        if found:
            question = str(query.get("query") or query.get("question") or "")
            yield [{"role": "user", "content": "\n\n".join([*found, question])}]


def _file(folder: Path, stems: tuple[str, ...]) -> Path:
    for stem in stems:
        for name in (f"{stem}.jsonl", f"{stem}.jsonl.gz"):
            if (folder / name).exists():
                return folder / name
    raise CalibrationError(f"{folder} holds no {stems[0]}.jsonl")


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield number, json.loads(line)
    except (OSError, ValueError) as error:
        raise CalibrationError(f"{path} cannot be read: {error}") from error
