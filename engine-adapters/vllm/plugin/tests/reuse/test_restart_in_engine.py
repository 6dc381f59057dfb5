"""A restarted engine: its first request is reused as the last one of its predecessor would have been."""

from pathlib import Path

from reuse_model import ReusingEngine, make_model
from reuse_prompts import QUESTION, SYSTEM, full_attention, said, tokens

from reprise_vllm.engine.nested_forward import NestedForward

DOCUMENT = tokens(5000, 300)


def test_the_first_request_finds_what_lies_on_disk_and_is_compared_with_the_engine(tmp_path: Path, monkeypatch):
    model = make_model(tmp_path / "model")
    reuse = {"host_bytes": 8 << 20, "disk": str(tmp_path / "disk"), "disk_bytes": 16 << 20}
    before = ReusingEngine(model, reuse)
    before.ask([[*tokens(0, SYSTEM), *DOCUMENT, *tokens(1, QUESTION)]])
    before.core.shutdown()
    assert list((tmp_path / "disk").iterdir())

    after = ReusingEngine(model, reuse)
    try:
        moved = [*tokens(0, SYSTEM), *tokens(8, 77), *DOCUMENT, *tokens(2, QUESTION)]
        answer = after.ask([moved], {"reuse": 1.0})[0]
        assert after.tokens_by_kind()["recomputed"] >= 250
        assert said(answer) == said(full_attention(after, moved))
        assert after.worker.is_compared and after.reuse.refusal is None
        # as if it were the first: its rows were loaded, and the engine computes otherwise than we do
        after.worker.is_compared, ask = False, NestedForward.ask
        monkeypatch.setattr(NestedForward, "ask", lambda self, given, at, attend: ask(self, given, at + 1, attend))
        after.ask([[*moved[:200], *DOCUMENT, *tokens(3, QUESTION)]], {"reuse": 1.0})
        assert "come out different here" in after.reuse.refusal
    finally:
        after.core.shutdown()
