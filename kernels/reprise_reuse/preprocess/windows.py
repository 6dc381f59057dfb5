"""Which documents are computed together, so that each one is computed after others."""

import random
from collections.abc import Callable, Sequence

Window = Sequence[str]
"""documents that are computed together, in order"""
Similar = Callable[[str, int], Sequence[str]]
"""(document, count) -> the most similar documents of the corpus, most similar first, without the document itself"""


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
            window = [*others[: size - len(wanted)], *wanted]
            windows.append(window)
            for document in window[1:]:
                missing[document] -= 1
    return windows


def similar_windows(
    documents: Sequence[str], count: int, similar: Similar | None = None, skipped: int = 0
) -> list[Window]:
    """Returns a prompt per document, after its `count` most similar ones, the most similar next to it (FusionRAG §3.1).

    similar  BM25 by default; embeddings can be plugged in with the same signature
    skipped  of the most similar documents, so many are left out
    """
    find = similar or bm25(documents)
    return [[*reversed(find(document, skipped + count)[skipped:]), document] for document in documents]


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
