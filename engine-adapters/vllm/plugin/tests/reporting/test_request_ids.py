import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprise_vllm.reporting.step_report import reported_id

_ids = st.text(min_size=1, max_size=20)
_random = st.text("0123456789abcdef", min_size=8, max_size=8)


@pytest.mark.parametrize(
    ("engine_id", "reported"),
    [
        ("chatcmpl-r-17-0a1b2c3d", "r-17"),
        ("cmpl-r-17-0-0a1b2c3d", "r-17"),
        ("cmpl-r-17-2-0a1b2c3d", "r-17-2"),
        ("0_chatcmpl-r-17-0a1b2c3d", "r-17"),
        ("1_chatcmpl-r-17-0a1b2c3d", None),
        ("3_cmpl-r-17-1-0a1b2c3d", None),
        ("resp_4f5e_0-0a1b2c3d", "resp_4f5e_0"),
        ("generate-tokens-r-17-0a1b2c3d", "generate-tokens-r-17"),
        ("chatcmpl-chatcmpl-r-0a1b2c3d", "chatcmpl-r"),
        ("chatcmpl-r-0badcafe-0a1b2c3d", "r-0badcafe"),
        ("7_of_9-0a1b2c3d", "7_of_9"),
    ],
)
def test_the_engines_ids_become_those_that_reprise_gave(engine_id: str, reported: str | None) -> None:
    assert reported_id(engine_id) == reported


def test_without_a_random_suffix_nothing_is_cut_off() -> None:
    assert reported_id("chatcmpl-r-0badcafe", has_random_suffix=False) == "r-0badcafe"


@given(name=_ids, suffix=_random)
def test_whatever_a_client_calls_its_request_comes_back(name: str, suffix: str) -> None:
    assert reported_id(f"chatcmpl-{name}-{suffix}") == name
    assert reported_id(f"cmpl-{name}-0-{suffix}") == name
