"""Prompts of random tokens, like those of a retrieval pipeline."""

import random


class Documents:
    """Some documents, and prompts that hold them in any order."""

    def __init__(self, seed: int = 1, count: int = 5, tokens: int = 80, vocabulary: int = 4000) -> None:
        self._vocabulary = range(10, vocabulary)
        self._chance = random.Random(seed)
        self.texts = [self.tokens(tokens) for _ in range(count)]
        self.head, self.question = self.tokens(40), self.tokens(36)

    def tokens(self, count: int) -> list[int]:
        return self._chance.choices(self._vocabulary, k=count)

    def prompt(self, *order: int, question: list[int] | None = None) -> list[int]:
        """Returns the prompt with the documents in this order; all of them, as they are, without any."""
        order = order or tuple(range(len(self.texts)))
        texts = [token for at in order for token in self.texts[at]]
        return [*self.head, *texts, *(question or self.question)]
