"""HTTP of the eviction callbacks."""

import http.client
import re
import ssl
from urllib.parse import urlsplit

_HEADER_TEXT = re.compile(r"[\x20-\x7e]+")
_HOST = re.compile(r"[^\x00-\x20\x7f]+")
_PATH = re.compile(r"[\x21-\x7e]*")
# what a byte-order mark at a file's beginning becomes
_BYTE_ORDER_MARK = "\ufeff"


class CallbackSettingError(ValueError):
    """A URL or a token that cannot be used; its text is one line, and holds no secret."""


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


def clean_setting(text: str) -> str:
    """The text of a setting without what reading it from a file or the environment leaves around it."""
    return text.strip().strip(_BYTE_ORDER_MARK).strip()


def without_credentials(url: str) -> str:
    """The URL as it may be logged."""
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}{separator}{authority.rpartition('@')[2]}{slash}{path}"


def _read_url(url: str) -> tuple[str, str, int | None, str]:
    """Scheme, host, port and path."""
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
    """Whether it can be looked up: what cannot be written as a name for that fails at every post."""
    try:
        text.encode("idna")
    except UnicodeError:
        return False
    return _HOST.fullmatch(text) is not None


def _connect(scheme: str, host: str, port: int | None, timeout: float) -> http.client.HTTPConnection:
    if scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=ssl.create_default_context())
    return http.client.HTTPConnection(host, port, timeout=timeout)
