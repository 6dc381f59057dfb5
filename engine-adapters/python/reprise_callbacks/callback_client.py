"""The HTTP client for the eviction callbacks, and what it posts."""

import http.client
import json
import re
import ssl
import time
from collections.abc import Iterable
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

_HEADER_TEXT = re.compile(r"[\x20-\x7e]+")
_HOST = re.compile(r"[^\x00-\x20\x7f]+")
_PATH = re.compile(r"[\x21-\x7e]*")
# a byte-order mark at the start of a file, once decoded
_BYTE_ORDER_MARK = "\ufeff"
_ITEMS_PER_PIECE = 200
_BREATH = 0.0005


class CallbackSettingError(ValueError):
    """A URL or a token that cannot be used. The message is one line and contains no secret."""


class CallbackClient:
    """Posts bodies to one replica's callback URL (`http://HOST:PORT/v1/replicas/NAME`) over a connection kept open."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        url = clean_setting(url)
        scheme, host, port, self._path = _read_url(url)
        self._headers = {"content-type": "application/json"}
        token = clean_setting(token or "")
        if token:
            if not _HEADER_TEXT.fullmatch(token):
                raise CallbackSettingError(
                    "the token in REPRISE_CALLBACK_TOKEN holds characters that no HTTP header can carry: "
                    "give reprise's admin token, one line of printable ASCII"
                )
            self._headers["authorization"] = f"Bearer {token}"
        self._connection = _connect(scheme, host, port, timeout)

    def post(self, kind: str, body: bytes) -> int:
        """Posts a body. Returns the response's status, or 0 if there was no response. Never throws."""
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


def encode_body(head: dict[str, Any], member: str, items: Iterable[dict[str, Any]]) -> bytes:
    """Returns `{…head, member: [items]}` as JSON. Made in pieces: never holds the interpreter's lock (GIL) for long."""
    encoder = json.JSONEncoder(separators=(",", ":"))
    pieces = [f"{encoder.encode(head)[:-1]},{encoder.encode(member)}:[".encode()]
    rest = iter(items)
    while piece := list(islice(rest, _ITEMS_PER_PIECE)):
        if len(pieces) > 1:
            pieces.append(b",")
            # a real pause: otherwise this thread takes the lock back before the other one wakes
            time.sleep(_BREATH)
        pieces.append(encoder.encode(piece)[1:-1].encode())
    pieces.append(b"]}")
    return b"".join(pieces)


def clean_setting(text: str) -> str:
    """Strips white space and a byte-order mark, which files and the environment may leave around a setting."""
    return text.strip().strip(_BYTE_ORDER_MARK).strip()


def without_credentials(url: str) -> str:
    """Returns the URL without user and password, so that it may be logged."""
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"


def _read_url(url: str) -> tuple[str, str, int | None, str]:
    """Returns scheme, host, port and path. Raises `CallbackSettingError` if it is no callback URL."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = parts.hostname or ""
    if parts.scheme not in ("http", "https") or not _is_host(host) or not _PATH.fullmatch(parts.path):
        raise CallbackSettingError(
            f"{without_credentials(url)!r} in REPRISE_CALLBACK_URL is no callback URL: "
            "give http://HOST:PORT/v1/replicas/NAME"
        )
    return parts.scheme, host, port, parts.path.rstrip("/")


def _is_host(text: str) -> bool:
    """Whether the host name can be encoded for a DNS lookup; otherwise every post would fail."""
    try:
        text.encode("idna")
    except UnicodeError:
        return False
    return _HOST.fullmatch(text) is not None


def _connect(scheme: str, host: str, port: int | None, timeout: float) -> http.client.HTTPConnection:
    if scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=ssl.create_default_context())
    return http.client.HTTPConnection(host, port, timeout=timeout)
