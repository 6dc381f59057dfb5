"""Reuse at any position in a real SGLang server: usage of every API, and what the proxy is told."""

import json
import random
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from processes import find_free_port, install_plugin, running_sglang
from receiver import Receiver

pytestmark = pytest.mark.server

WORDS = [f"{first}{last}" for first in ("river", "stone", "window") for last in ("", "s", "side", "bed")]


class Told(Receiver):
    """Keeps what snapshots say of the engine."""

    reuse: Any = None

    def take(self, kind: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if kind == "snapshot":
            self.reuse = body.get("reuse")
        return super().take(kind, body)


class Server:
    def __init__(self, url: str, told: Told) -> None:
        self.url, self.told = url, told

    def post(self, path: str, **body: Any) -> str:
        data = json.dumps({"model": "test", "temperature": 0, "cache_salt": "tenant", **body}).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=300) as response:
            return response.read().decode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("reuse")
    install_plugin(folder)
    told = Told()
    flags = ["--page-size", "16", "--max-total-tokens", "12000", "--enable-metrics"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPRISE_REUSE", '{"ratio": 0.15, "when": "always"}')
        with running_sglang(folder / "sglang.log", folder, told.url, find_free_port(), flags) as url:
            yield Server(url, told)
    told.stop()


def documents(seed: int) -> list[str]:
    return [" ".join(random.Random(seed + at).choices(WORDS, k=90)) for at in range(5)]


def test_the_proxy_is_told_what_is_reused(server: Server) -> None:
    server.told.wait_until(lambda: server.told.reuse is not None)
    assert server.told.reuse == {"ratio": 0.15, "min_ratio": 0.0, "max_ratio": 1.0, "users": True, "question": True}


def test_chats_say_what_was_reused(server: Server) -> None:
    texts = documents(10)

    def chat(order: list[int], **more: Any) -> dict[str, int]:
        content = "\n".join(texts[at] for at in order) + "\nWhat of the river and the window in all of these texts?"
        messages = [{"role": "user", "content": content}]
        return usage_in(server.post("/v1/chat/completions", messages=messages, max_tokens=2, **more))

    chat([0, 1, 2, 3, 4])
    details = chat([3, 1, 4, 0, 2])
    assert details["reused_tokens"] > 5 * details["recomputed_tokens"] > 0
    stock = chat([2, 1, 0, 4, 3], custom_params={"reprise": {"reuse": "off"}})
    assert "reused_tokens" not in stock and stock["cached_tokens"] <= 64


def test_requests_without_a_salt_reuse_nothing(server: Server) -> None:
    texts = documents(30)
    for order in ([0, 1, 2, 3, 4], [3, 1, 4, 0, 2]):
        content = "\n".join(texts[at] for at in order) + "\nWhat of the river and the window?"
        messages = [{"role": "user", "content": content}]
        details = usage_in(server.post("/v1/chat/completions", messages=messages, max_tokens=2, cache_salt=None))
        assert "reused_tokens" not in details


def test_generated_texts_say_it_among_their_details(server: Server) -> None:
    draw = random.Random(5)
    texts = [draw.choices(range(10, 4000), k=100) for _ in range(5)]
    for order, is_reused in (([0, 1, 2, 3, 4], False), ([3, 1, 4, 0, 2], True)):
        prompt = [token for at in order for token in texts[at]] + draw.choices(range(10, 4000), k=36)
        answer = json.loads(server.post("/generate", input_ids=prompt, sampling_params={"max_new_tokens": 2}))
        details = answer["meta_info"].get("cached_tokens_details") or {}
        assert (details.get("reused_tokens", 0) > 300) == is_reused


def usage_in(answer: str) -> dict[str, int]:
    return json.loads(answer)["usage"]["prompt_tokens_details"]
