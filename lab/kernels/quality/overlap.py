"""`python -m quality.overlap`: whether the tokens that methods choose are those that matter (ProphetKV).

Of the 15 % of tokens that each method would compute again, the share that is among as many (figures 3 and 7)

ideal           by equation 5, summed over layers
ideal, a layer  by equation 5 in one layer, the mean over layers
attended        that the question looks at most under full attention
prophetkv       that ProphetKV chooses as it is served here

`prophetkv over …` is ProphetKV with a soft-max as in its Algorithm 1, without the question's own tokens: over all rows
before the question, over those of documents, or over those that may be computed again, all but the first document's.
Documents are stored alone. Without traces, the small trained models answer two-hop questions. `--chunks`: in place of
documents, the 1,024 tokens behind the first 128 are cut into chunks, and KL is measured (figure 10).
"""

from dataclasses import replace

import torch

from quality.chains.evaluate import cases
from quality.command import open_traces, parser_of, publish, report
from quality.in_engine.measure import Measurements
from quality.in_engine.prompts import Asked, Trace
from quality.references import METHODS
from quality.similar import Prompt, Store
from quality.stored_rows import Model
from reprise_reuse.methods import Evidence

SHARE = 0.15
COMPARED = ("attention-spread", "prophetkv", "fusionrag", "epic", "cacheblend", "kvshare", "kvshare-keys", "random")
WITHIN = ("prophetkv over rows", "prophetkv over documents", "prophetkv over stored rows")
FIRST, REUSED = 128, 1024
CHUNKS = (128, 256, 512, 1024)


def overlaps(
    evidence: Evidence, method: str, begin: int = 0, attention: torch.Tensor | None = None
) -> dict[str, float]:
    """Returns the shares; tokens before `begin` cannot be chosen. attention: what the method looks at in its place."""
    served = METHODS["prophetkv"].score(evidence)[begin:]
    moved, attended = evidence.more["output_deviation"][:, begin:], evidence.more["full_attention"][:, begin:]
    count = round(SHARE * moved.shape[1])
    seen = evidence if attention is None else replace(evidence, attention=attention)
    chosen = METHODS[method].score(seen)[begin:].topk(count).indices

    def share(goal: torch.Tensor) -> float:
        return float(torch.isin(chosen, goal.topk(count).indices).float().mean())

    return {
        "ideal": share(moved.sum(0)),
        "ideal, a layer": sum(map(share, moved)) / len(moved),
        "attended": share(attended.sum(0)),
        "prophetkv": share(served),
    }


@torch.inference_mode()
def of_chains(samples: int) -> list[dict]:
    """Measures the small trained models."""
    rows = []
    for seed in range(3):
        for part, (case, _) in enumerate(cases(seed, "two-hop", "alone", samples)):
            for index in range(len(case.prompts.tokens)):
                evidence = case.evidence(index, is_reference=True)
                name = {"trace": "chains", "prompt": f"{seed} {part} {index}"}
                for method in COMPARED:
                    found = overlaps(evidence, method, case.first)
                    rows.append({**name, "case": method, **found})
    return rows


@torch.inference_mode()
def of_documents(model: Model, trace: Trace, asked: Asked, kept: Measurements) -> None:
    """Measures one prompt."""
    if not kept.open_cases(trace.name, asked.name, [*COMPARED, *WITHIN]):
        return
    store = Store(model, trace)
    prompt = Prompt(model, store, trace, asked)
    rows = prompt.stitched({document: store.alone(document) for document in asked.documents[1:]})
    evidence = prompt.evidence(rows, is_reference=True)
    for method in COMPARED:
        kept.add({"trace": trace.name, "prompt": asked.name, "case": method, **overlaps(evidence, method)})
    for case, within in zip(WITHIN, (0, len(store.system.positions), prompt.begin), strict=True):
        found = overlaps(evidence, "prophetkv", attention=prompt.looked(rows, within))
        kept.add({"trace": trace.name, "prompt": asked.name, "case": case, **found})


class Pieces(Store):
    """Tokens by name in place of documents."""

    def __init__(self, model: Model, trace: Trace, pieces: dict[str, list[int]]) -> None:
        super().__init__(model, trace)
        self._pieces = pieces

    def tokens(self, document: str) -> list[int]:
        return self._pieces[document]


@torch.inference_mode()
def of_chunks(model: Model, trace: Trace, asked: Asked, kept: Measurements) -> None:
    """Measures KL with the tokens of one prompt cut into chunks of several sizes."""
    name, wanted = f"{trace.name}, chunks", [f"{size} {method}" for size in CHUNKS for method in _CUT]
    wanted = kept.open_cases(name, asked.name, wanted)
    tokens = [token for document in asked.documents for token in trace.tokens_of(document)]
    if not wanted or len(tokens) < FIRST + REUSED:
        return
    pieces = {"first": tokens[:FIRST], "rest": tokens[FIRST : FIRST + REUSED]}
    pieces |= {f"{at} {size}": pieces["rest"][at : at + size] for size in CHUNKS for at in range(0, REUSED, size)}
    store = Pieces(model, trace, pieces)
    prompt = Prompt(model, store, trace, replace(asked, documents=["first", "rest"]))
    for size in CHUNKS:
        prompt.cut(["first", *(f"{at} {size}" for at in range(0, REUSED, size))])
        rows = prompt.stitched({piece: store.alone(piece) for piece in pieces if piece.endswith(f" {size}")})
        for method in _CUT:
            kl = prompt.divergence(rows, prompt.chosen(rows, SHARE if method != "none" else 0, method))
            kept.add({"trace": name, "prompt": asked.name, "case": f"{size} {method}", "kl": kl})


_CUT = ("none", "attention-spread", "prophetkv", "fusionrag", "epic", "cacheblend")


def main() -> None:
    parser = parser_of("quality.overlap", __doc__, prompts=8, needs_model=False)
    parser.add_argument("--chunks", action="store_true")
    options = parser.parse_args()
    if not options.traces:
        print(report(of_chains(options.prompts)))
        return
    kept = Measurements(options.out / "measured.jsonl")
    for model, trace in open_traces(options):
        for asked in trace.asked[: options.prompts]:
            (of_chunks if options.chunks else of_documents)(model, trace, asked, kept)
            print(f"{trace.name} {asked.name}", flush=True)
    publish(kept, options.out)


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
