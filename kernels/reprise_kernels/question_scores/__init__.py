"""How much a request's question attends to each token of its context: `question_scores` and its specification."""

from reprise_kernels.question_scores.dispatch import question_scores
from reprise_kernels.question_scores.naive import naive_question_scores

__all__ = ["naive_question_scores", "question_scores"]
