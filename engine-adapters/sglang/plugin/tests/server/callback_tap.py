"""Sits between the plugin and reprise: forwards every post, and records what reprise accepted."""

import json
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _QuietServer(ThreadingHTTPServer):
    """Stays silent if an engine ends in the middle of a post."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        pass


class CallbackTap:
    """What the plugin has reported so far, as accepted by reprise."""

    def __init__(self, target: str) -> None:
        self.lengths: dict[str, int] = {}
        self.events: list[dict[str, Any]] = []
        self.refused: list[tuple[int, str]] = []
        self.generations: set[str] = set()
        self._server = _QuietServer(("127.0.0.1", 0), self._handler(target))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1/replicas/sglang"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def evictions(self) -> int:
        return sum(event["type"] == "evicted" for event in self.events)

    def _take(self, kind: str, body: dict[str, Any]) -> None:
        self.generations.add(body["generation"])
        if kind == "snapshot":
            self.lengths = {entry["request_id"]: entry["cached_tokens"] for entry in body["requests"]}
            return
        for event in body["events"]:
            self.events.append(event)
            if event["type"] == "cleared":
                self.lengths = {}
            elif event["cached_tokens"] == 0:
                self.lengths.pop(event["request_id"], None)
            else:
                self.lengths[event["request_id"]] = event["cached_tokens"]

    def _handler(self, target: str) -> type[BaseHTTPRequestHandler]:
        tap = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                status, answer = _forward(f"{target}{self.path}", body)
                if status == 200:
                    tap._take(self.path.rsplit("/", 1)[1], json.loads(body))
                else:
                    tap.refused.append((status, answer.decode()))
                self.send_response(status)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def _forward(url: str, body: bytes) -> tuple[int, bytes]:
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError as error:
        return 502, str(error).encode()
