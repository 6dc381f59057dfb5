"""An engine with the plugin, over HTTP."""

import http.client
import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from typing import Any

from reprise_reuse.preprocess.prompts import FailedError, Prompt, UnusableError

_RUNNING = "vllm:num_requests_running", "sglang:num_running_reqs"
_REUSING = "vllm:reprise_", "sglang:reprise_"
_BUSY = r"(?:vllm:num_requests_(?:running|waiting)|sglang:num_(?:running|queue)_reqs)(?:\{[^}]*\})?"
_UNWRITTEN = r'(?:vllm|sglang):reprise_remote_total\{[^}]*event="unwritten"[^}]*\}'
_PAUSE_SECONDS = 0.2
_PATIENCE_SECONDS = 600


class RefusedError(FailedError):
    """A prompt that the engine refuses, as one that is too long. The message has its answer."""


class HttpEngine:
    """Computes prompts through `/v1/completions`, without reuse, so that the stored results are exact."""

    def __init__(
        self, url: str, model: str | None, salt: str | None, api_key: str | None, *, only_idle: bool,
        preprocess_key: str | None = None, tenant: str | None = None,
    ) -> None:  # fmt: skip
        """
        preprocess_key  the engine's setting of that name, by which it trusts what is computed here
        tenant          for whom, if a proxy trusts whoever says so
        """
        self._url = url.rstrip("/").removesuffix("/v1")
        self._model = model
        self._salt = salt
        self._headers = {"content-type": "application/json"}
        if api_key:
            self._headers["authorization"] = f"Bearer {api_key}"
        if tenant:
            self._headers["x-reprise-tenant"] = tenant
        self._only_idle = only_idle
        self._wish = {"reuse": "off", **({"preprocess": preprocess_key} if preprocess_key else {})}
        self.stores: bool | None = None
        """whether it keeps what it computes; None: not known, since it has no metrics, or has computed nothing yet"""

    @property
    def key(self) -> tuple[str, ...]:
        """What determines for whom results are found: URL, model, salt, the tenant or its key, and the engine's key."""
        caller = self._headers.get("authorization", "")
        more = self._headers.get("x-reprise-tenant"), self._wish.get("preprocess")
        return self._url, self._model or "", self._salt or "", caller, *filter(None, more)

    def check(self) -> None:
        """Raises `FailedError` if the engine does not answer, `UnusableError` if it is not an engine with the model."""
        said = self._send("/v1/models")
        try:
            models = [one["id"] for one in json.loads(said)["data"]]
        except (ValueError, TypeError, KeyError):
            models = []
        if not models:
            raise UnusableError(f"{self._url}/v1/models names no model: {' '.join(said[:200].split())}")
        self._model = self._model or models[0]
        if self._model not in models:
            raise UnusableError(f"{self._url} serves {', '.join(models)}, not {self._model}")
        if self._only_idle and not _tells(self._send("/metrics"), _RUNNING):
            raise UnusableError(f"--idle: {self._url}/metrics tells no {' or '.join(_RUNNING)}")

    def compute(self, prompt: Prompt) -> None:
        """Returns after the engine has computed the prompt.

        Raises `RefusedError` if it refuses the prompt, and `UnusableError` if it does not keep what it computes.
        """
        while self._only_idle and _total(self._send("/metrics"), _BUSY) > 0:
            time.sleep(_PAUSE_SECONDS)
        wish = {**self._wish, **({"kept_from": self._count(prompt.before)} if prompt.before else {})}
        body: dict[str, Any] = {
            "model": self._model, "prompt": str(prompt), "max_tokens": 1,
            # vLLM reads the first of these, and SGLang the second
            "kv_transfer_params": {"reprise": wish}, "custom_params": {"reprise": wish},
        }  # fmt: skip
        if self._salt:
            body["cache_salt"] = self._salt
        self._send("/v1/completions", body)
        if self.stores is None:
            self._check_that_it_stores()

    def unwritten(self) -> int:
        """Returns how many segments the engine has not written to a shared store, as far as it tells."""
        try:
            return int(_total(self._send("/metrics"), _UNWRITTEN))
        except FailedError:
            return 0

    def _count(self, text: str) -> int:
        """Returns how many tokens a text has."""
        said = self._send("/tokenize", {"model": self._model, "prompt": text})
        try:
            return int(json.loads(said)["count"])
        except (ValueError, TypeError, KeyError) as error:
            raise FailedError(f"{self._url}/tokenize tells no count: {' '.join(said[:200].split())}") from error

    def _check_that_it_stores(self) -> None:
        try:
            metrics = self._send("/metrics")
        except FailedError:
            return
        if _tells(metrics, _REUSING):
            self.stores = True
        elif _tells(metrics, _RUNNING):
            raise UnusableError(f"{self._url} reuses nothing: {self._url}/metrics tells no {' or '.join(_REUSING)}")

    def _send(self, path: str, body: dict[str, Any] | None = None) -> str:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._url + path, data, self._headers)
        try:
            with urllib.request.urlopen(request, timeout=_PATIENCE_SECONDS) as answer:
                return answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            said = error.read(300).decode(errors="replace")
            kind = RefusedError if error.code in (400, 413) and path == "/v1/completions" else FailedError
            raise kind(f"{self._url}{path} answers {error.code}: {said}") from error
        except (OSError, http.client.HTTPException) as error:
            raise FailedError(f"{self._url} cannot be reached: {error}") from error


def _tells(metrics: str, names: Iterable[str]) -> bool:
    return any(name in metrics for name in names)


def _total(metrics: str, sample: str) -> float:
    """Returns the sum of the samples whose name and labels match a regular expression."""
    return sum(map(float, re.findall(rf"^{sample} ([0-9.e+]+)$", metrics, re.MULTILINE)))
