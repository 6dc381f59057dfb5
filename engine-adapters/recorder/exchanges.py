"""Requests to an engine and its answers, as sent over the wire."""

import json
import sys
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Any

_KEPT_HEADERS = ("content-type", "x-request-id")
_TIMEOUT = 120


@dataclass(frozen=True)
class Question:
    """One request. `keeps` names the lines, or JSON members, to keep of an answer that is too long for a fixture."""

    name: str
    method: str
    path: str
    body: Any = None
    request_id: str | None = None
    keeps: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Exchange:
    """A question and its answer; a stream's body is its text as received."""

    question: Question
    status: int
    headers: dict[str, str]
    body: str

    def as_json(self) -> dict[str, Any]:
        question = {name: value for name, value in asdict(self.question).items() if value is not None}
        return {**question, "answer": {"status": self.status, "headers": self.headers, "body": self.body}}


def ask(url: str, question: Question) -> Exchange:
    """Sends one request and returns whatever is answered, including errors."""
    headers = {"content-type": "application/json"}
    if question.request_id is not None:
        headers["x-request-id"] = question.request_id
    data = None if question.body is None else json.dumps(question.body).encode()
    request = urllib.request.Request(url + question.path, data, headers, method=question.method)
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:
            status, received, raw = answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        status, received, raw = error.code, error.headers, error.read()
    # an engine's error messages may name its own files
    body = raw.decode().replace(sys.prefix, "ENVIRONMENT")
    if question.keeps is not None and status == HTTPStatus.OK:
        body = _keep(body, question.keeps)
    kept = {name: received[name] for name in _KEPT_HEADERS if received[name] is not None}
    return Exchange(question, status, kept, body)


def _keep(body: str, keeps: tuple[str, ...]) -> str:
    if body.startswith("{"):
        return json.dumps({name: value for name, value in json.loads(body).items() if name in keeps})
    return "".join(line for line in body.splitlines(keepends=True) if any(word in line for word in keeps))
