"""An engine with the plugin, over HTTP."""

import json
import re
import time
import urllib.error
import urllib.request
from typing import Any

_BUSY = re.compile(r"^vllm:num_requests_(?:running|waiting)(?:\{[^}]*\})? ([0-9.e+]+)$", re.MULTILINE)
_PAUSE_SECONDS = 0.2
_PATIENCE_SECONDS = 600


class EngineError(Exception):
    """An engine that cannot be used; says why."""


class HttpEngine:
    """Has prompts computed by `/v1/completions`, without reuse, so that what is stored of them is exact."""

    def __init__(self, url: str, model: str | None, salt: str | None, api_key: str | None, *, only_idle: bool) -> None:
        self._url = url.rstrip("/").removesuffix("/v1")
        self._model = model
        self._salt = salt
        self._headers = {"content-type": "application/json"}
        if api_key:
            self._headers["authorization"] = f"Bearer {api_key}"
        self._only_idle = only_idle

    def check(self) -> None:
        """Raises `EngineError` unless the engine answers and serves the model."""
        models = [one["id"] for one in json.loads(self._send("/v1/models"))["data"]]
        if self._model is None:
            self._model = models[0]
        elif self._model not in models:
            raise EngineError(f"{self._url} serves {', '.join(models)}, not {self._model}")

    def compute(self, prompt: str) -> None:
        """Returns when the engine has computed the prompt."""
        if self._only_idle:
            self._wait_until_idle()
        body: dict[str, Any] = {
            "model": self._model, "prompt": prompt, "max_tokens": 1,
            "kv_transfer_params": {"reprise": {"reuse": "off"}},
        }  # fmt: skip
        if self._salt:
            body["cache_salt"] = self._salt
        self._send("/v1/completions", body)

    def _wait_until_idle(self) -> None:
        while any(float(count) > 0 for count in _BUSY.findall(self._send("/metrics"))):
            time.sleep(_PAUSE_SECONDS)

    def _send(self, path: str, body: dict[str, Any] | None = None) -> str:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, self._headers)
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE_SECONDS) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            said = error.read(300).decode(errors="replace")
            raise EngineError(f"{self._url}{path} answers {error.code}: {said}") from error
        except OSError as error:
            raise EngineError(f"{self._url} cannot be reached: {error}") from error
