"""Which approximate turn a prompt continues from."""

from hypothesis import given
from hypothesis import strategies as st

from reprise_vllm.reuse.scheduler.continuations import Continuations, Turn


def public(text: str) -> list[bytes]:
    """Returns hashes that are chained like vLLM's: each covers everything before it."""
    return [text[: end + 1].encode() for end in range(len(text))]


def turn(text: str, prompt: int, private_from: int = 0, ratio: float = 0.2) -> Turn:
    return Turn([f"private {text[: i + 1]}".encode() for i in range(len(text))], prompt, [], private_from, 1, ratio)


texts = st.text("ab", min_size=1, max_size=6)


@given(turns=st.lists(st.tuples(texts, st.integers(1, 6), st.integers(0, 5)), max_size=6), asked=texts)
def test_a_prompt_goes_on_from_a_turn_only_where_it_holds_all_of_that_turns_prompt(turns, asked):
    known = Continuations(1000, block_size=1)
    for text, prompt, private_from in turns:
        known.remember(public(text), turn(text, min(prompt, len(text)), private_from))
    found = known.find(public(asked), [], 0.2)
    if found is None:
        return
    earlier, blocks = found
    assert earlier.prompt_blocks <= blocks <= len(asked)
    assert earlier.hashes[blocks - 1] == f"private {asked[:blocks]}".encode()


def test_it_goes_on_behind_the_answer_and_only_if_as_much_was_computed_again():
    known = Continuations(1000, block_size=1)
    known.remember(public("aabb"), turn("aabb", 2, 1, ratio=0.2))
    assert known.find(public("aabbab"), [], 0.2)[1] == 4
    assert known.find(public("aab"), [], 0.1)[1] == 3
    assert known.find(public("aabbab"), [], 0.3) is None
    assert known.find(public("ab"), [], 0.1) is None


def test_a_prompt_whose_end_fills_no_block_is_held_to_its_last_token():
    known = Continuations(1000, block_size=2)
    known.remember(public("aab"), Turn([b"1", b"2", b"3"], 2, [7], 0, 1, 0.2))
    assert known.find(public("aa"), [1, 2, 3, 4, 7], 0.2)[1] == 2
    assert known.find(public("aab"), [1, 2, 3, 4, 7, 8], 0.2)[1] == 3
    assert known.find(public("aa"), [1, 2, 3, 4, 9], 0.2) is None
    assert known.find(public("aa"), [1, 2, 3, 4], 0.2) is None


def test_no_more_blocks_are_remembered_than_vllm_can_hold():
    known = Continuations(5, block_size=1)
    for text in ("aaaa", "bbbb", "cccc"):
        known.remember(public(text), turn(text, 1))
    assert (
        len(known) == 5 and known.find(public("cccc"), [], 0) is not None and known.find(public("aaaa"), [], 0) is None
    )
    known.clear()
    assert len(known) == 0
