"""The documents of a corpus, and the prompts in which they are computed together, each one after others."""

import gzip
import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

Window = Sequence[str]
"""documents that are computed together, in order"""
Similar = Callable[[str, int], Sequence[str]]
"""(document, count) -> the most similar documents of the corpus, most similar first, without the document itself"""


class UnusableError(Exception):
    """What was given cannot be used: an option, a state file, a server that is not the engine. The messages of errors
    say what, where and, if something can be done about it, what."""


class FailedError(Exception):
    """The corpus cannot be read, or the engine or the place of leases failed."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What an engine is to compute."""

    before: str
    """it keeps nothing of this"""
    kept: str

    def __str__(self) -> str:
        return self.before + self.kept


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
        try:
            block = json.loads(line) if line.strip() else {"text": ""}
        except ValueError as error:
            raise FailedError(f"{path}:{number}: no JSON: {error}") from error
        if not isinstance(block, dict) or not isinstance(block.get("text"), str):
            raise FailedError(f'{path}:{number}: not an object with a "text"')
        yield block["text"]


def random_windows(documents: Sequence[str], contexts: int, size: int, seed: int) -> list[Window]:
    """Returns prompts of `size` documents in which each document follows others at least `contexts` times.

    One prompt gives a context to all of its documents but the first. So this costs little more than `contexts` prefills
    of the corpus; one prompt per document and context would cost several times as much.
    """
    order = random.Random(seed)
    size = max(2, min(size, len(documents)))
    missing = dict.fromkeys(documents, contexts)
    windows: list[Window] = []
    while len(documents) > 1 and any(count > 0 for count in missing.values()):
        left = [document for document, count in missing.items() if count > 0]
        order.shuffle(left)
        for start in range(0, len(left), size - 1):
            wanted = left[start : start + size - 1]
            others = [document for document in order.sample(documents, size) if document not in wanted]
            # if too few documents still need a context, others fill the window, starting with its first place
            windows.append([*others[: size - len(wanted)], *wanted])
            for document in windows[-1][1:]:
                missing[document] -= 1
    return windows


def similar_windows(documents: Sequence[str], count: int, similar: Similar, skipped: int = 0) -> list[Window]:
    """Returns a prompt per document, after its `count` most similar ones, the most similar next to it (FusionRAG §3.1).

    skipped  of the most similar documents, so many are left out
    """
    return [[*reversed(similar(document, skipped + count)[skipped:]), document] for document in documents]


def bm25(documents: Sequence[str]) -> Similar:
    """Similarity by words, with BM25."""
    import bm25s

    retriever = bm25s.BM25(corpus=list(documents))
    retriever.index(bm25s.tokenize(list(documents), show_progress=False), show_progress=False)

    def find(document: str, count: int) -> Sequence[str]:
        wanted = min(count + 1, len(documents))
        found, _ = retriever.retrieve(bm25s.tokenize([document], show_progress=False), k=wanted, show_progress=False)
        return [one for one in found[0] if one != document][:count]

    return find


def prompts_of(windows: Iterable[Window], template: str, system: str, *, keeps_last: bool = False) -> list[Prompt]:
    """Returns the prompts of the windows, without duplicates; each document replaces `{}` in the template.

    keeps_last  only a window's last document is to be kept, as computed behind the others (FusionRAG, equation 10)
    """
    prompts: dict[str, Prompt] = {}
    for window in windows:
        *others, last = (template.replace("{}", document) for document in window)
        front = system + "".join(others)
        prompt = Prompt(front, last) if keeps_last else Prompt("", front + last)
        prompts.setdefault(str(prompt), prompt)
    return list(prompts.values())
