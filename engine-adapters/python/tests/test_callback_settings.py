"""Which URLs and tokens are cleaned up, which are refused in one line, and that no token is ever repeated."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from receiver import Receiver
from test_callback_sender import QUICK

from reprise_callbacks import CallbackClient, CallbackSender, CallbackSettingError

URL = "http://127.0.0.1:9/v1/replicas/gpu-0"


@pytest.mark.parametrize("token", ["sesame\n", " sesame", "sesame\r\n", "\ufeffsesame\n", "\tsesame \n\n"])
def test_what_reading_a_file_leaves_around_a_token_is_not_sent(receiver: Receiver, token: str) -> None:
    sender = CallbackSender(receiver.url + "\n", token, limits=QUICK)
    receiver.wait_until(lambda: receiver.snapshots == 1)
    sender.close()
    assert receiver.tokens == {"Bearer sesame"}


@pytest.mark.parametrize("token", ["", "\n", " \r\n"])
def test_a_token_of_nothing_is_none(receiver: Receiver, token: str) -> None:
    sender = CallbackSender(receiver.url, token, limits=QUICK)
    receiver.wait_until(lambda: receiver.snapshots == 1)
    sender.close()
    assert receiver.tokens == {None}


@given(before=st.text(), bad=st.sampled_from("\n\r\0\x7fäπ\ud800"), after=st.text())
def test_a_token_that_is_no_header_is_refused_in_one_line_that_does_not_repeat_it(
    before: str, bad: str, after: str
) -> None:
    with pytest.raises(CallbackSettingError) as refused:
        CallbackClient(URL, f"sesame{before}{bad}{after}sesame", 1)
    assert "REPRISE_CALLBACK_TOKEN" in str(refused.value)
    assert "sesame" not in str(refused.value)
    assert "\n" not in str(refused.value)
    # a traceback must not show it either
    assert refused.value.__context__ is None


@pytest.mark.parametrize(
    "url",
    [
        *("gpu-0", "ftp://h:1/x", "http://", "http://h:port/x"),
        *("http://h:99999/x", "http://[::1/x", "http://h/a b", "http://h/ä"),
        *("http://exa mple/x", "http://h\x7f/x", "http://a..b:1/x", f"http://{'h' * 64}/x", f"http://{'ä' * 64}/x"),
    ],
)
def test_a_url_that_is_none_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(
        CallbackSettingError, match=r"REPRISE_CALLBACK_URL.*http://HOST:PORT/v1/replicas/NAME"
    ) as refused:
        CallbackClient(url, None, 1)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "host",
    ["gpu-0.example", "gpu_0.example.", "127.0.0.1", "[::1]", "[fe80::1%25eth0]", "b\u00fccher.example", "h" * 63],
)
def test_a_host_that_a_name_server_may_know_is_taken(host: str) -> None:
    CallbackClient(f"http://{host}:9/v1/replicas/gpu-0", None, 1).close()


def test_a_password_in_the_url_is_not_repeated(receiver: Receiver) -> None:
    with pytest.raises(CallbackSettingError) as refused:
        CallbackClient("http://user:sesame@h:port/x", None, 1)
    assert "sesame" not in str(refused.value)
    lines: list[str] = []
    receiver.status = 401
    sender = CallbackSender(receiver.url.replace("//", "//user:sesame@"), limits=QUICK, warn=lines.append)
    receiver.wait_until(lambda: len(lines) == 1)
    sender.close()
    assert "sesame" not in lines[0]


def test_a_fault_while_posting_is_told_once_and_without_its_words(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = 0

    def post(self: CallbackClient, kind: str, body: bytes) -> int:
        nonlocal posts
        posts += 1
        raise ValueError("Invalid header value b'Bearer sesame'")

    monkeypatch.setattr(CallbackClient, "post", post)
    lines: list[str] = []
    sender = CallbackSender(receiver.url, "sesame", limits=QUICK, warn=lines.append)
    receiver.wait_until(lambda: posts > 4)
    sender.close()
    assert len(lines) == 1
    assert "ValueError" in lines[0]
    assert "sesame" not in lines[0]
