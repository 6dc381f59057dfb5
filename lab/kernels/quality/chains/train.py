"""
Trains one seed of the model on one thread: `python -m quality.chains.train --seed 0`, from the folder `kernels`.

The model always sees whole texts. Nothing masks chunks from each other, so chunks encoded alone are as unfamiliar to it
as they are to a model in production.
"""

import argparse
import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch.nn import functional

from quality.chains.initialise import initialise
from quality.chains.model import ChainModel, ModelConfig
from quality.chains.tasks import BOS, STATEMENTS, VOCABULARY, Layout, Texts, training_texts

WEIGHTS = Path(__file__).parent / "weights"
_IGNORED = -100


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to train, and with what."""

    steps: int = 500
    batch: int = 32
    rate: float = 3e-3
    warm_up: int = 20
    decay: float = 0.4
    """share of the steps, at the end, over which the learning rate falls to a hundredth"""
    weight_decay: float = 0.01
    last_hops: int = 2
    mastered: float = 0.95
    """running accuracy at which texts get one more hop"""


class Packed:
    """Contexts, each followed by all its questions, which see the context but not each other."""

    def __init__(self, layout: Layout) -> None:
        context = 1 + layout.context
        question = torch.arange(2 * STATEMENTS) // 2
        self.positions = torch.cat((torch.arange(context), context + torch.arange(2 * STATEMENTS) % 2))
        owner = torch.cat((torch.full((context,), -1), question))
        order = torch.arange(len(owner))
        seen = (owner[None, :] == -1) | (owner[None, :] == owner[:, None])
        self.visible = seen & (order[None, :] <= order[:, None])
        self.context = context

    def tokens(self, texts: Texts) -> torch.Tensor:
        """int64 [batch, BOS + context + questions]"""
        batch = len(texts.context)
        parts = (np.full((batch, 1), BOS), texts.context, texts.questions.reshape(batch, -1))
        return torch.from_numpy(np.concatenate(parts, 1))

    def targets(self, texts: Texts) -> torch.Tensor:
        """int64 like tokens: the answer at each question's name and at each name's right-hand side."""
        targets = np.full((len(texts.context), len(self.positions)), _IGNORED)
        targets[:, self.context + 1 :: 2] = texts.answers
        np.put_along_axis(targets, texts.bound + 1, texts.answers, 1)
        return torch.from_numpy(targets)


def step_loss(model: ChainModel, packed: Packed, texts: Texts) -> tuple[torch.Tensor, float]:
    """
    Returns the loss, and the share of correct answers to the questions with the most hops.

    The loss at right-hand sides asks each alias for its value. This makes the context's own keys and values carry
    information from other chunks; without it a model may leave all work to the question.
    """
    tokens, targets = packed.tokens(texts), packed.targets(texts)
    hidden = model(tokens, packed.positions, visible=packed.visible).hidden
    asked = targets != _IGNORED
    loss = functional.cross_entropy(model.head(hidden[asked]), targets[asked])
    answers = model.head(hidden[:, packed.context + 1 :: 2].detach()).argmax(-1).numpy()
    hardest = texts.hops == texts.hops.max()
    return loss, float((answers == texts.answers)[hardest].mean())


def train(
    seed: int, plan: Plan, layout: Layout, say: Callable[[str], None] = print, stop_after: int | None = None
) -> tuple[ChainModel, dict]:
    """Returns the trained model and facts about it; the same for the same seed on the same machine."""
    torch.set_num_threads(1)
    random = np.random.default_rng(seed)
    model = ChainModel(ModelConfig(VOCABULARY))
    initialise(model, seed)
    decayed = [p for p in model.parameters() if p.dim() == 2]
    rest = [p for p in model.parameters() if p.dim() != 2]
    groups = [{"params": decayed, "weight_decay": plan.weight_decay}, {"params": rest, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=plan.rate, betas=(0.9, 0.98))
    packed, hops, running, began = Packed(layout), 0, 0.0, time.monotonic()
    reached: dict[int, int] = {}
    for step in range(min(plan.steps, stop_after or plan.steps)):
        for group in optimizer.param_groups:
            group["lr"] = plan.rate * rate_at(step, plan)
        loss, share = step_loss(model, packed, training_texts(random, plan.batch, hops, layout))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        running = 0.9 * running + 0.1 * share
        if step % 25 == 0:
            say(f"seed {seed} step {step} hops {hops} loss {loss.item():.4f} right {running:.3f} "
                f"{time.monotonic() - began:.0f} s")  # fmt: skip
        if running > plan.mastered and hops < plan.last_hops:
            hops, running, reached[hops] = hops + 1, 0.0, step
    return model, {
        "seed": seed,
        "steps": plan.steps,
        "mastered_at_step": reached,
        "model": asdict(model.config),
        "plan": asdict(plan),
        "layout": asdict(layout),
        "parameters": sum(p.numel() for p in model.parameters()),
    }


def rate_at(step: int, plan: Plan) -> float:
    """Returns the factor on the learning rate."""
    left = (plan.steps - step) / (plan.decay * plan.steps)
    return min(1.0, (step + 1) / plan.warm_up) * (1 if left >= 1 else 0.01 + 0.99 * (1 - math.cos(math.pi * left)) / 2)


def save(model: ChainModel, about: dict, folder: Path) -> None:
    """Writes the weights in float16, and a description next to them."""
    folder.mkdir(parents=True, exist_ok=True)
    name = f"seed-{about['seed']}"
    save_file({key: value.half() for key, value in model.state_dict().items()}, folder / f"{name}.safetensors")
    (folder / f"{name}.json").write_text(json.dumps(about, indent=2) + "\n")


def load(seed: int, folder: Path = WEIGHTS) -> tuple[ChainModel, Layout]:
    """Returns a committed model, in float32."""
    about = json.loads((folder / f"seed-{seed}.json").read_text())
    model = ChainModel(ModelConfig(**about["model"]))
    weights = load_file(folder / f"seed-{seed}.safetensors")
    model.load_state_dict({key: value.float() for key, value in weights.items()})
    return model.eval().requires_grad_(False), Layout(**about["layout"])


@torch.no_grad()
def accuracy(model: ChainModel, layout: Layout, hops: int, seed: int, batches: int = 16) -> float:
    """Returns the share of correct answers to questions with this many hops, over fresh texts like the training's."""
    random, packed = np.random.default_rng([seed, 1]), Packed(layout)
    texts = (training_texts(random, 32, hops, layout) for _ in range(batches))
    return float(np.mean([step_loss(model, packed, one)[1] for one in texts]))


def main() -> None:
    """Trains, saves, and reports the accuracy of the saved weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--steps", type=int, default=Plan().steps)
    parser.add_argument("--folder", type=Path, default=WEIGHTS)
    given = parser.parse_args()
    began = time.monotonic()
    plan, layout = Plan(steps=given.steps), Layout()
    model, about = train(given.seed, plan, layout, lambda line: print(line, flush=True))
    about["minutes"] = round((time.monotonic() - began) / 60, 1)
    save(model, about, given.folder)
    saved, _ = load(given.seed, given.folder)
    hops = range(plan.last_hops + 1)
    about["accuracy"] = {str(one): round(accuracy(saved, layout, one, given.seed), 4) for one in hops}
    save(model, about, given.folder)
    print(json.dumps(about["accuracy"]), flush=True)


if __name__ == "__main__":
    main()
