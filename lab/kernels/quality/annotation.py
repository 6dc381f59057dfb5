"""`python -m quality.annotation`: what the order of documents and the annotated ranking do to a gold answer.

Prompts whose documents hold the gold answer, with labels before the documents, as ranked and in another order, each
with and without ContextPilot's sentence (§5.3) before the question. Prints the log-probability of the gold answer's
tokens (mean over them), without an engine.
"""

import random
from collections.abc import Sequence

import torch

from quality.command import holds_answer, open_traces, parser_of, publish
from quality.in_engine.measure import Measurements
from quality.in_engine.prompts import QUESTION, SYSTEM, Asked, Trace
from quality.stored_rows import Model

RANKED, MOVED, ANNOTATED = "as ranked", "another order", "{}, annotated"
SENTENCE = "Please read the context in the following priority order: {} and answer the question.\n"


def text_of(asked: Asked, order: Sequence[int], *, is_annotated: bool) -> str:
    """Returns a prompt whose documents stand in an order, each labelled by its place."""
    listed = "".join(f"[Doc_{place + 1}] {asked.documents[rank]}\n\n" for place, rank in enumerate(order))
    labels = [f"[Doc_{place + 1}]" for place in sorted(range(len(order)), key=lambda place: order[place])]
    sentence = SENTENCE.format(" > ".join(labels)) if is_annotated else ""
    return SYSTEM + listed + sentence + QUESTION.format(asked.question)


def log_probability(model: Model, trace: Trace, text: str, answer: str) -> float:
    """Returns the mean over the answer's tokens."""
    prompt, gold = trace.tokens_of(text), trace.tokens_of(answer)
    tokens = prompt + gold[:-1]
    hidden = model.compute(tokens, torch.arange(len(tokens)), None).hidden[-len(gold) :]
    return float(model.log_probabilities(hidden).gather(1, torch.tensor(gold)[:, None]).mean())


def main() -> None:
    options = parser_of("quality.annotation", __doc__, prompts=40).parse_args()
    kept = Measurements(options.out / "measured.jsonl")
    for model, trace in open_traces(options):
        for asked in [one for one in trace.asked if holds_answer(one)][: options.prompts]:
            ranked = list(range(len(asked.documents)))
            moved, chance = ranked.copy(), random.Random(asked.name)
            while moved == ranked:
                chance.shuffle(moved)
            ways = {RANKED: (ranked, False), MOVED: (moved, False)}
            ways |= {ANNOTATED.format(way): (order, True) for way, (order, _) in ways.items()}
            for way in kept.open_cases(trace.name, asked.name, list(ways)):
                order, is_annotated = ways[way]
                text = text_of(asked, order, is_annotated=is_annotated)
                gold = log_probability(model, trace, text, asked.answers[0])
                kept.add({"trace": trace.name, "prompt": asked.name, "case": way, "gold": gold})
            print(f"{trace.name} {asked.name}", flush=True)
    publish(kept, options.out, RANKED)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
