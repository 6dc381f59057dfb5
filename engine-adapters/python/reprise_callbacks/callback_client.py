"""The HTTP client for the eviction callbacks."""

import http.client
import re
import ssl
from urllib.parse import urlsplit

_HEADER_TEXT = re.compile(r"[\x20-\x7e]+")
_HOST = re.compile(r"[^\x00-\x20\x7f]+")
_PATH = re.compile(r"[\x21-\x7e]*")
# a byte-order mark at the start of a file, once decoded
_BYTE_ORDER_MARK = "\ufeff"


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
