"""Which documents are computed together, so that each is computed behind others."""

import random
from collections.abc import Callable, Sequence

Window = Sequence[str]
Similar = Callable[[str, int], Sequence[str]]
"""a document and how many -> those of the corpus most similar to it, without itself, most similar first"""


def random_windows(documents: Sequence[str], contexts: int, size: int, seed: int) -> list[Window]:
    """Prompts of `size` documents in which each document comes at least `contexts` times behind others.

    One prompt gives a context to all of its documents but the first, so this costs hardly more than `contexts` prefills
    of the corpus, where a prompt for each document and context would cost several times as much.
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
            # short of documents that still want a context, others fill up, the first above all
            window = [*others[: size - len(wanted)], *wanted]
            windows.append(window)
            for document in window[1:]:
                missing[document] -= 1
    return windows


def similar_windows(documents: Sequence[str], count: int, similar: Similar | None = None) -> list[Window]:
    """A prompt for each document, behind the `count` most similar ones, the most similar next to it (FusionRAG §3.1).

    similar  BM25 where none is given; embeddings fit in by the same signature
    """
    find = similar or bm25(documents)
    return [[*reversed(find(document, count)), document] for document in documents]


def bm25(documents: Sequence[str]) -> Similar:
    """Similarity by words."""
    import bm25s

    retriever = bm25s.BM25(corpus=list(documents))
    retriever.index(bm25s.tokenize(list(documents), show_progress=False), show_progress=False)

    def find(document: str, count: int) -> Sequence[str]:
        wanted = min(count + 1, len(documents))
        found, _ = retriever.retrieve(bm25s.tokenize([document], show_progress=False), k=wanted, show_progress=False)
        return [one for one in found[0] if one != document][:count]

    return find
