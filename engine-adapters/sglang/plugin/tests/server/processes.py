"""Runs SGLang and reprise as separate processes."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

_ENGINE = Path(__file__).parents[1] / "engine"
CHECKOUT = Path(__file__).resolve().parents[5]
_PATIENCE = 600

# the generic code path, which needs none of SGLang's kernels
_FLAGS = [
    *("--device", "cpu"),
    *("--attention-backend", "torch_native"),
    *("--sampling-backend", "pytorch"),
    *("--mem-fraction-static", "0.3"),
    *("--radix-cache-backend", "reprise"),
    "--disable-overlap-schedule",
    "--enable-cache-report",
]


def install_plugin(target: Path) -> None:
    """Installs like users do, but from a copy, because a build leaves folders next to its sources."""
    adapters = target / "engine-adapters"
    for part in ("python", "sglang/plugin"):
        ignored = shutil.ignore_patterns("tests", "build", "*.egg-info", "__pycache__", ".*")
        shutil.copytree(CHECKOUT / "engine-adapters" / part, adapters / part, ignore=ignored)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--target", str(target / "site"), str(adapters / "sglang" / "plugin")], check=True)


def find_free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def running_sglang(log: Path, site: Path, callback_url: str, port: int, flags: list[str]) -> Iterator[str]:
    """Runs a server with the plugin installed in `site`; it is ready on entry."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, [site / "site", _ENGINE / "cpu_shim", CHECKOUT / "kernels"])),
        "REPRISE_CALLBACK_URL": callback_url,
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
    }
    model = Path(sys.prefix).parent / "test-model"
    place = ["--model-path", str(model), "--served-model-name", "test", "--host", "127.0.0.1", "--port", str(port)]
    command = [sys.executable, "-m", "sglang.launch_server", *place, *_FLAGS, *flags]
    with _running(command, log, environment) as process:
        url = f"http://127.0.0.1:{port}"
        _wait_until_ready(url, process, log)
        yield url


@contextlib.contextmanager
def running_reprise(log: Path, engine: str, admin_port: int) -> Iterator[str]:
    listen = ["--listen", "127.0.0.1:0", "--admin-listen", f"127.0.0.1:{admin_port}"]
    command = ["node", "bin/reprise", "serve", "--engine", f"{engine},kind=sglang,id=sglang", *listen]
    with _running(command, log, dict(os.environ), subprocess.PIPE) as process:
        assert process.stdout
        line = process.stdout.readline()
        assert line, f"reprise did not start:\n{log.read_text()}"
        yield json.loads(line)["url"]


@contextlib.contextmanager
def _running(
    command: list[str], log: Path, environment: dict[str, str], stdout: int | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as file:
        # a process group, so that SGLang's processes end with it
        process = subprocess.Popen(
            ["nice", *command],
            cwd=CHECKOUT,
            env=environment,
            stdout=stdout or file,
            stderr=file,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=5):
            return
        time.sleep(1)
    raise AssertionError(f"SGLang did not start:\n{log.read_text()[-4000:]}")
