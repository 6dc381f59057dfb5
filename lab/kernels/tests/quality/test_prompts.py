"""Prompts of a trace fit the model, and splitting them loses no document."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quality.in_engine.prompts import SYSTEM, TURN, Asked, Trace
from quality.in_engine.question import PLACES, Placed


class Characters:
    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        return [ord(character) for character in text]


def trace_of(folder: Path, lengths: list[list[int]], longest: int) -> Trace:
    queries = [
        {"query_id": f"q{at}", "query": "Who?", "blocks": [f"{at}-{n}" for n in range(len(documents))]}
        for at, documents in enumerate(lengths)
    ]
    blocks = [
        {"id": f"{at}-{n}", "text": "x" * length}
        for at, documents in enumerate(lengths)
        for n, length in enumerate(documents)
    ]
    for name, lines in (("queries", queries), ("blocks", blocks)):
        (folder / f"{name}.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    return Trace(folder, Characters(), documents=8, seed=1, longest=longest)


def test_questions_whose_documents_do_not_fit_are_left_out(tmp_path):
    trace = trace_of(tmp_path, [[100, 100], [900, 900], [700]], longest=1000)
    assert sorted(asked.name for asked in trace.asked) == ["q0", "q2"]


@given(lengths=st.lists(st.integers(1, 600), min_size=1, max_size=12))
def test_documents_stand_in_prompts_that_fit_in_order(tmp_path_factory, lengths):
    trace = trace_of(tmp_path_factory.mktemp("trace"), [[1]], longest=1000)
    documents = ["x" * length for length in lengths]
    asked = Asked("q", "Who?", documents, [])
    windows = list(trace.windows(asked, documents))
    assert [document for window in windows for document in window] == documents
    assert all(window and len(trace.prompt(asked, window)) <= 1000 for window in windows)
    # none of them has room for the first document of the next
    for window, following in pairwise(windows):
        assert len(trace.prompt(asked, [*window, following[0]])) > 1000


@pytest.mark.parametrize("longest", [10_000, None])
def test_one_prompt_is_enough_where_all_fit(tmp_path, longest):
    trace = trace_of(tmp_path, [[100, 100, 100]], longest)
    asked = trace.asked[0]
    assert list(trace.windows(asked, asked.documents)) == [asked.documents]


def test_a_conversations_next_turn_begins_with_all_that_was_said_and_names_the_system_prompt_once(tmp_path):
    trace = trace_of(tmp_path, [[100, 100], [70]], None)
    first, second = trace.asked
    prompt, answer = trace.prompt(first), [7, 8, 9]
    following = trace.next_turn(prompt, answer, second)
    said = [*prompt, *answer]
    assert following[: len(said)] == said
    rest = "".join(map(chr, following[len(said) :]))
    assert rest == TURN + "".join(map(chr, trace.prompt(second))).removeprefix(SYSTEM)


@pytest.mark.parametrize("place", PLACES)
def test_the_position_of_a_question_is_known_wherever_it_stands(tmp_path, place):
    trace = trace_of(tmp_path, [[100, 100]], None)
    placed = Placed(tmp_path, Characters(), documents=8, seed=1)
    placed.place = place
    prompt, at, _ = placed.parts(trace.asked[0], None, "Who wrote it?")
    assert "".join(map(chr, prompt[at.start : at.stop])) == "Who wrote it?"
    assert "".join(map(chr, prompt)).count("x" * 100) == 2
    assert (at.start < "".join(map(chr, prompt)).index("xxx")) == (place == "first")
