"""A receiver of eviction callbacks that follows the protocol, over real sockets."""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """Applies reports as reprise does: generations, sequences, repeats, gaps and snapshots."""

    def __init__(self, port: int = 0) -> None:
        self.generation: str | None = None
        self.sequence = 0
        self.lengths: dict[str, int] = {}
        self.posts: list[tuple[str, dict[str, Any]]] = []
        self.tokens: set[str | None] = set()
        self.paths: set[str] = set()
        self.status: int | None = None
        self.delay = 0.0
        self.answers = threading.Event()
        self.answers.set()
        self.answered = 0
        self.lose_answers = 0
        self.largest_snapshot = 0
        self._connections: set[socket.socket] = set()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/v1/replicas/gpu-0"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        # a process that exits closes its connections, but a server that is shut down does not
        for connection in list(self._connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for kind, body in self.posts if kind == "events" for event in body["events"]]

    @property
    def snapshots(self) -> int:
        return sum(kind == "snapshot" for kind, _ in self.posts)

    def wait_until(self, holds: Callable[[], bool], seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"waited {seconds} s in vain; lengths are {self.lengths}"
            time.sleep(0.005)

    def take(self, kind: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.posts.append((kind, body))
        return self._take_snapshot(body) if kind == "snapshot" else self._take_events(body)

    def _take_snapshot(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if body["generation"] == self.generation and body["sequence"] < self.sequence:
            return 200, {"sequence": self.sequence}
        self.generation, self.sequence = body["generation"], body["sequence"]
        self.lengths = {entry["request_id"]: entry["cached_tokens"] for entry in body["requests"]}
        return 200, {"sequence": self.sequence}

    def _take_events(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if body["generation"] != self.generation:
            return 409, {"expected": 0}
        if body["sequence"] <= self.sequence:
            return 200, {"sequence": body["sequence"]}
        if body["sequence"] > self.sequence + 1:
            return 409, {"expected": self.sequence + 1}
        self.sequence = body["sequence"]
        for event in body["events"]:
            if event["type"] == "cleared":
                self.lengths.clear()
            elif event["cached_tokens"] == 0:
                self.lengths.pop(event["request_id"], None)
            else:
                self.lengths[event["request_id"]] = event["cached_tokens"]
        return 200, {"sequence": self.sequence}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def setup(self) -> None:
                super().setup()
                receiver._connections.add(self.connection)

            def finish(self) -> None:
                receiver._connections.discard(self.connection)
                super().finish()

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["content-length"]))
                if self.path.endswith("/snapshot"):
                    receiver.largest_snapshot = max(receiver.largest_snapshot, len(raw))
                receiver.tokens.add(self.headers["authorization"])
                receiver.paths.add(self.path)
                time.sleep(receiver.delay)
                receiver.answers.wait()
                status, answer = receiver.status, {}
                if status is None:
                    status, answer = receiver.take(self.path.rsplit("/", 1)[1], json.loads(raw))
                if receiver.lose_answers > 0:
                    receiver.lose_answers -= 1
                    self.close_connection = True
                    return
                receiver.answered += 1
                text = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
