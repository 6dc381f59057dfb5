"""A double of an engine's HTTP server: computes nothing, has a token per word, and records its requests."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """The double's answer at one path."""

    body: str
    status: int = 200


_LOAD = {
    "vllm": ("vllm:num_requests_running", "vllm:num_requests_waiting"),
    "sglang": ("sglang:num_running_reqs", "sglang:num_queue_reqs"),
}


@dataclass
class HttpEngineDouble:
    """Serves the model `double`. `with` starts and ends it."""

    answers: dict[str, Answer] = field(
        default_factory=lambda: {
            "/v1/models": Answer(json.dumps({"data": [{"id": "double"}]})),
            "/v1/completions": Answer("{}"),
        }
    )
    running: list[int] = field(default_factory=list)
    """the number of running requests that `/metrics` reports, one per scrape; zero after the last"""
    engine: str = "vllm"
    """whose metrics it has: `vllm` or `sglang`"""
    refuses: Callable[[str], bool] = lambda prompt: False
    """whether a prompt is too long"""
    asked: list[tuple[str, Any, dict[str, str]]] = field(default_factory=list)
    """path, body and headers, in order"""

    def __enter__(self) -> "HttpEngineDouble":
        double = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                double.asked.append((self.path, None, dict(self.headers)))
                self._say(double.metrics() if self.path == "/metrics" else double.answers.get(self.path))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                double.asked.append((self.path, body, dict(self.headers)))
                if self.path == "/tokenize" and self.path not in double.answers:
                    self._say(Answer(json.dumps({"count": len(body["prompt"].split())})))
                    return
                is_refused = self.path == "/v1/completions" and double.refuses(body["prompt"])
                self._say(Answer("too long", 400) if is_refused else double.answers.get(self.path))

            def _say(self, answer: Answer | None) -> None:
                answer = answer or Answer("no such path", 404)
                self.send_response(answer.status)
                self.end_headers()
                self.wfile.write(answer.body.encode())

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def prompts(self) -> list[str]:
        """The prompts that were sent to be computed."""
        return [body["prompt"] for path, body, _ in self.asked if path == "/v1/completions"]

    def metrics(self) -> Answer:
        """Metrics in the engine's format."""
        if "/metrics" in self.answers:
            return self.answers["/metrics"]
        running = self.running.pop(0) if self.running else 0
        labels = '{engine="0",model_name="double"}'
        runs, waits = _LOAD[self.engine]
        return Answer(
            f"{runs}{labels} {running}.0\n{waits}{labels} 0.0\n"
            f'{self.engine}:reprise_prompt_tokens_total{{engine="0",kind="cold"}} 9.0\n'
        )
