"""HTTP of the eviction callbacks."""

import http.client
import ssl
from urllib.parse import urlsplit


class CallbackClient:
    """Posts bodies to one replica's callback URL (`http://HOST:PORT/v1/replicas/NAME`) over a connection kept open."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"'{url}' is no callback URL: give http://HOST:PORT/v1/replicas/NAME.")
        self._path = parts.path.rstrip("/")
        self._headers = {"content-type": "application/json"}
        if token:
            self._headers["authorization"] = f"Bearer {token}"
        self._connection = _connect(parts.scheme, parts.hostname, parts.port, timeout)

    def post(self, kind: str, body: bytes) -> int:
        """The answer's status; 0 without an answer. Never throws."""
        was_open = self._connection.sock is not None
        try:
            try:
                return self._exchange(kind, body)
            except ConnectionError:
                # the receiver may have closed an idle connection; sequences make a second post harmless
                self._connection.close()
                if not was_open:
                    return 0
                return self._exchange(kind, body)
        except (OSError, http.client.HTTPException):
            self._connection.close()
            return 0

    def close(self) -> None:
        self._connection.close()

    def _exchange(self, kind: str, body: bytes) -> int:
        self._connection.request("POST", f"{self._path}/{kind}", body, self._headers)
        response = self._connection.getresponse()
        response.read()
        return response.status


def _connect(scheme: str, host: str, port: int | None, timeout: float) -> http.client.HTTPConnection:
    if scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=ssl.create_default_context())
    return http.client.HTTPConnection(host, port, timeout=timeout)
