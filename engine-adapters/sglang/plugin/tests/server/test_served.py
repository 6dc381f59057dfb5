"""A real SGLang server with the plugin, and a real reprise: the engine hits exactly what was reported."""

import json
import os
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from callback_tap import CallbackTap
from processes import find_free_port, install_plugin, running_reprise, running_sglang
from prompts import requests

pytestmark = pytest.mark.server

PAGE = 16
# about five prompts, so evictions are the rule
POOL_TOKENS = 12_000
QUIET = 0.15
COUNT = int(os.environ.get("REPRISE_TEST_REQUESTS", "60"))


@dataclass
class Answer:
    rid: str
    prompt: list[int]
    cached: int
    predicted: int
    believed_before: int


@dataclass
class Served:
    """One engine behind one proxy, and every prompt sent to it."""

    start_proxy: Callable[[], AbstractContextManager[str]]
    engine: str
    admin: str
    tap: CallbackTap
    log: Path
    proxy: str = ""
    prompts: dict[str, list[int]] = field(default_factory=dict)

    @contextmanager
    def behind_reprise(self) -> Iterator[None]:
        """Starts a fresh reprise in front of the engine, and waits until it knows what is cached."""
        with self.start_proxy() as self.proxy:
            wait_until(lambda: self.mirror()["mode"] == "exact")
            yield

    def ask(self, body: dict[str, Any]) -> Answer:
        believed = dict(self.tap.lengths)
        answer, headers = post(f"{self.proxy}/v1/chat/completions", body)
        prompt = answer["choices"][0]["prompt_token_ids"]
        # SGLang omits the member if nothing was cached
        details = answer["usage"].get("prompt_tokens_details") or {}
        before = self.believed_prefix(prompt, believed)
        self.prompts[answer["id"]] = prompt
        predicted = int(headers["x-reprise-predicted-cached-tokens"] or 0)
        return Answer(answer["id"], prompt, details.get("cached_tokens", 0), predicted, before)

    def believed_prefix(self, prompt: list[int], lengths: dict[str, int]) -> int:
        """What the engine should take from its cache if the reports are right; the last token is always computed."""
        held = [
            min(length, shared(self.prompts[rid], prompt)) for rid, length in lengths.items() if rid in self.prompts
        ]
        return min(max(held, default=0), len(prompt) - 1) // PAGE * PAGE

    def settle(self) -> None:
        """Waits until nothing has been reported for a while."""
        seen = -1
        while seen != len(self.tap.events):
            seen = len(self.tap.events)
            time.sleep(QUIET)

    def mirror(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.admin}/v1/mirror") as response:
            return json.load(response)["replicas"][0]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    install_plugin(folder)
    engine_port, admin_port = find_free_port(), find_free_port()
    admin, engine = f"http://127.0.0.1:{admin_port}", f"http://127.0.0.1:{engine_port}"
    tap = CallbackTap(admin)
    flags = ["--page-size", str(PAGE), "--max-total-tokens", str(POOL_TOKENS)]
    log = folder / "sglang.log"
    served = Served(lambda: running_reprise(folder / "reprise.log", engine, admin_port), engine, admin, tap, log)
    with running_sglang(log, folder, tap.url, engine_port, flags):
        yield served
    tap.stop()


@pytest.fixture
def proxied(served: Served) -> Iterator[Served]:
    with served.behind_reprise():
        yield served


def test_the_plugin_is_loaded_on_the_rust_core(proxied: Served) -> None:
    log = proxied.log.read_text()
    assert "the prefix cache is reported to" in log
    assert "impl=ReportingRadixCache" in log
    assert "Tree Core: RustUnifiedTreeCore" in log
    assert proxied.mirror()["mode"] == "exact"


def test_one_by_one_the_engine_hits_what_was_told(proxied: Served) -> None:
    answers = []
    for body in requests(COUNT):
        answers.append(proxied.ask(body))
        proxied.settle()
    report(answers)
    assert proxied.tap.evictions() > 0
    assert sum(answer.cached for answer in answers) > 0
    assert [answer.cached for answer in answers] == [answer.believed_before for answer in answers]
    # every answer's id was reported
    told = {event["request_id"] for event in proxied.tap.events if event["type"] == "stored"}
    assert {answer.rid for answer in answers} <= told


def test_four_at_a_time_leave_nothing_believed_that_is_lost(proxied: Served) -> None:
    bodies = requests(COUNT)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(proxied.ask, bodies))
    proxied.settle()
    probes = []
    # the newest first: these are still cached
    for body in reversed(bodies[-12:]):
        probes.append(proxied.ask({**body, "max_tokens": 1}))
        proxied.settle()
    report(probes)
    assert sum(probe.cached for probe in probes) > 0
    assert [probe.cached for probe in probes] == [probe.believed_before for probe in probes]
    mirror = proxied.mirror()
    assert mirror["mode"] == "exact"
    assert mirror["generation"] in proxied.tap.generations
    assert 0 < mirror["requests"] <= len(proxied.tap.lengths)
    # down, or restarted; never a body that reprise rejects
    assert {status for status, _ in proxied.tap.refused} <= {409, 502}


def test_health_probes_are_nobodys_requests(proxied: Served) -> None:
    with urllib.request.urlopen(f"{proxied.engine}/health_generate"):
        pass
    proxied.settle()
    assert not [event for event in proxied.tap.events if event.get("request_id", "").startswith("HEALTH_CHECK")]


def test_an_idle_engine_that_flushes_is_believed_empty(proxied: Served) -> None:
    body = requests(1)[0]
    proxied.ask(body)
    proxied.settle()
    assert proxied.mirror()["requests"] > 0
    with urllib.request.urlopen(urllib.request.Request(f"{proxied.engine}/flush_cache", method="POST")):
        pass
    wait_until(lambda: not proxied.tap.lengths)
    assert proxied.mirror()["requests"] == 0
    assert proxied.ask(body).cached == 0
    proxied.settle()
    again = proxied.ask(body)
    assert again.cached == again.believed_before > 0


def test_a_reprise_that_begins_anew_is_told_everything_again(served: Served) -> None:
    with served.behind_reprise():
        served.ask(requests(2)[1])
        served.settle()
        held = dict(served.tap.lengths)
    with served.behind_reprise():
        assert served.tap.lengths == held
        again = served.ask(requests(2)[1])
        assert again.cached == again.believed_before > 0


def wait_until(holds: Callable[[], bool], seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"waited {seconds} s in vain"
        time.sleep(0.02)


def post(url: str, body: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as response:
        return json.load(response), response.headers


def shared(a: list[int], b: list[int]) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def report(answers: list[Answer]) -> None:
    """Shown with `pytest -s`. What reprise predicted does not matter here."""
    prompt, cached = (sum(values) for values in zip(*((len(a.prompt), a.cached) for a in answers), strict=True))
    off = [abs(answer.predicted - answer.cached) for answer in answers]
    print(
        f"\n{len(answers)} requests, {prompt} tokens, {cached} of them cached, "
        f"{sum(answer.cached == answer.believed_before for answer in answers)} exactly as told; reprise's prediction "
        f"was off by {sum(off) / len(off):.0f} tokens on average, {max(off)} at most, exact {off.count(0)} times"
    )
