"""Passes over the model that a GPU replays as one graph: launched one by one, they wait for the processor."""

from collections.abc import Callable

import numpy as np
import torch

from reprise_reuse.device import copy_to
from reprise_reuse.pieces import Load
from reprise_reuse.prompts.claims import QUESTION_TOKENS
from reprise_reuse.question_attention import SplitQuestionAttention
from reprise_reuse.rows.evidence import PromptPages, asked_at, attend_by
from reprise_reuse.rows.row_choice import OpenLoad
from reprise_reuse.rows.row_pass import attend_rows

Run = Callable[[], None]
Capture = Callable[[Run], Run]
"""returns what does the same again, with what the tensors that the function has read hold by then"""

MOST_ROWS = 1024
"""with more rows, the device takes longer than the processor does to launch their pass"""
_STEP = 64
_LONGEST = 131_072
"""contexts beyond it are rare, and tables for them large"""


def as_graphs(device: torch.device) -> Capture:
    """Returns what captures CUDA graphs, which share their memory. They must be replayed on one stream."""
    pool, stream = torch.cuda.graph_pool_handle(), torch.cuda.Stream(device)

    def capture(run: Run) -> Run:
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize(device)
        with torch.cuda.stream(stream):
            # compiles what is not compiled yet
            run()
            graph.capture_begin(pool=pool, capture_error_mode="thread_local")
            try:
                run()
            finally:
                graph.capture_end()
        torch.cuda.synchronize(device)
        return graph.replay

    return capture


class CapturedPasses:
    """
    Asks one question, or computes rows of one load, by a graph in place of some 20 launches a layer.

    A graph has a fixed shape: a question is padded to `QUESTION_TOKENS`, rows to the next multiple of 64, contexts to
    the longest one. What differs from load to load lies in tensors that the graph reads.
    """

    def __init__(self, prompt: PromptPages, device: torch.device, longest: int, capture: Capture) -> None:
        """longest: tokens of the longest prompt"""
        longest = min(longest, _LONGEST)
        most = min(MOST_ROWS, prompt.forward.most_rows) // _STEP * _STEP
        self.rows = CapturedRows(prompt, most, longest, device, capture)
        self.question = CapturedQuestion(prompt, longest, device, capture)


class CapturedQuestion:
    """The pass of a single question."""

    def __init__(self, prompt: PromptPages, longest: int, device: torch.device, capture: Capture) -> None:
        self._prompt, self._longest = prompt, longest
        size = QUESTION_TOKENS
        # side by side, so that one copy sets both
        self._given = torch.zeros(2, size, dtype=torch.int32, device=device)
        self._attention = SplitQuestionAttention(size, longest, prompt.scale, device)
        self._scores = torch.zeros(prompt.layers, 1, self._attention.longest, device=device)
        attend = attend_by(prompt, self._attention, self._scores)

        def run() -> None:
            self._scores.zero_()
            tokens, positions = self._given
            prompt.forward.ask(tokens, positions.long(), attend)

        self._replay = capture(run)

    def takes(self, load: Load) -> bool:
        """Whether `ask` can ask this load's question."""
        return len(load.question) <= QUESTION_TOKENS and load.end <= self._longest

    def ask(self, opened: OpenLoad) -> torch.Tensor:
        """Returns a question's attention to the known rows; float32 [layers, n]. The next call overwrites it."""
        load, places = opened.load, self._prompt.places(opened.slots[opened.known]).astype(np.int32)
        given = np.zeros(self._given.shape, np.int32)
        given[:, : len(load.question)] = load.tokens[load.question], asked_at(load, self._prompt.positions)
        copy_to(self._given, given)
        self._attention.set(len(load.question), places)
        self._replay()
        return self._scores[:, 0, : len(places)]


class CapturedRows:
    """The pass of rows of a single load."""

    def __init__(self, prompt: PromptPages, most: int, longest: int, device: torch.device, capture: Capture) -> None:
        self._prompt, self._most, self._longest = prompt, most, longest
        self._table = torch.zeros(1, longest, dtype=torch.int32, device=device)
        self._tokens = torch.zeros(most, dtype=torch.int32, device=device)
        # of rows that only fill a graph up, nothing is written
        self._positions, self._slots = torch.zeros(2, most, dtype=torch.int64, device=device).unbind()
        self._slots.fill_(-1)
        self._sizes = torch.zeros(3, dtype=torch.int32, device=device)
        cu_q, kv_len = self._sizes.split([2, 1])

        def pass_of(size: int) -> Run:
            def run() -> None:
                positions = self._positions[:size]
                attend = attend_rows(prompt, positions.int(), cu_q, kv_len, self._table)
                prompt.forward.write(self._tokens[:size], positions, self._slots[:size], attend)

            return run

        # the largest first, so that the others find its memory in the pool
        self._replay = {size: capture(pass_of(size)) for size in range(most, 0, -_STEP)}

    def takes(self, opened: OpenLoad, rows: torch.Tensor) -> bool:
        """Whether `compute` can compute so many rows of this load."""
        return 0 < len(rows) <= self._most and opened.load.end <= self._longest

    def compute(self, opened: OpenLoad, rows: torch.Tensor) -> None:
        """Does what `compute_rows` does, for rows (int64 [n], ascending) of one load."""
        count = len(rows)
        size = -(-count // _STEP) * _STEP
        # what fills it up repeats the last row, so that all numbers are a row's
        for target, values in (
            (self._tokens, opened.tokens[rows]), (self._positions, rows), (self._slots, opened.device_slots[rows]),
        ):  # fmt: skip
            target[:count] = values
            target[count:size] = values[-1:]
        self._slots[count:size] = -1
        copy_to(self._table[0, : opened.load.end], self._prompt.places(opened.slots).astype(np.int32))
        copy_to(self._sizes, np.array([0, size, opened.load.end], np.int32))
        self._replay[size]()
