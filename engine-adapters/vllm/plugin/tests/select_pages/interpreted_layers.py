"""
Runs the layers of each step with the metadata of one capture, and with the kernels themselves in Triton's interpreter:
all that a graph does but replay. Fails unless they give what eager layers give that choose by torch.
"""

import pytest
import torch
from graph_double import STEPS, Decoding, start
from reprise_kernels import choose_pages

KERNELS = choose_pages.choose_pages


def main() -> None:
    with pytest.MonkeyPatch.context() as patch:
        eager, graphs = Decoding(patch, in_graphs=False), Decoding(patch, in_graphs=True)
        patch.setattr(choose_pages, "choose_pages", KERNELS)
        captured, _ = graphs.capture(8)
        start(eager), start(graphs)
        for holders in STEPS:
            eager.step(holders)
            graphs.step(holders, lambda _: graphs.forward(captured), bucket=8)
            torch.testing.assert_close(graphs.output, eager.output, rtol=1e-4, atol=1e-5)
        assert graphs.selection.refusal is None and graphs.rows.counts["pages_choices", "made"] > 20


if __name__ == "__main__":
    main()
