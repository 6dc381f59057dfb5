"""Reads documents from files."""

import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from reprise_reuse.preprocess.errors import FailedError


def read_corpus(paths: Sequence[Path]) -> list[str]:
    """Returns the documents of files and folders in order, without duplicates. Raises `FailedError`."""
    documents = list(dict.fromkeys(text for path in paths for text in _read(path) if text.strip()))
    if not documents:
        raise FailedError(f"no document in {', '.join(map(str, paths))}")
    return documents


def _read(path: Path) -> Iterator[str]:
    if path.is_dir():
        for inner in sorted(one for one in path.rglob("*") if one.is_file()):
            yield from _read(inner)
        return
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise FailedError(f"{path}: {error}") from error
    if ".jsonl" not in path.name:
        yield text
        return
    # `splitlines` would also cut at U+2028 and others, which JSON allows in a string
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _read_line(line, f"{path}:{number}")


def _read_line(line: str, place: str) -> str:
    try:
        block = json.loads(line)
    except ValueError as error:
        raise FailedError(f"{place}: no JSON: {error}") from error
    if not isinstance(block, dict) or not isinstance(block.get("text"), str):
        raise FailedError(f'{place}: not an object with a "text"')
    return block["text"]
