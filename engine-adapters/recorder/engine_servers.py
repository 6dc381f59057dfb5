"""The engines' own servers on a CPU, in the configurations that are recorded."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ADAPTERS = Path(__file__).resolve().parents[1]
_PATIENCE = 600
_READY_EVERY = 1.0

_COMMANDS = {
    "vllm": (
        f"{Path(sys.executable).parent}/vllm",
        "serve model --dtype float32 --max-model-len 512 --block-size 32 --num-gpu-blocks-override 64 --enforce-eager",
    ),
    "sglang": (
        sys.executable,
        "-m sglang.launch_server --model-path model --device cpu --attention-backend torch_native "
        "--sampling-backend pytorch --mem-fraction-static 0.3 --context-length 512 --page-size 16 "
        "--max-total-tokens 2048 --disable-overlap-schedule",
    ),
}
_PLACE = "--served-model-name test --host 127.0.0.1 --port"
_CONNECTOR = {
    "kv_connector": "RepriseConnector",
    "kv_connector_module_path": "reprise_vllm.connector",
    "kv_role": "kv_producer",
}


@dataclass(frozen=True)
class Configuration:
    """One way in which an operator may start an engine."""

    flags: tuple[str, ...] = ()
    has_plugin: bool = False
    has_events: bool = False


CONFIGURATIONS = {
    "vllm": {
        "reporting": Configuration(("--enable-prompt-tokens-details", "--enable-scale-out"), True, True),
        "plain": Configuration(),
        "no-cache": Configuration(("--no-enable-prefix-caching", "--enable-prompt-tokens-details")),
    },
    "sglang": {
        "reporting": Configuration(("--enable-cache-report",), True, True),
        "plain": Configuration(),
        "no-cache": Configuration(("--disable-radix-cache", "--enable-cache-report")),
    },
}


@dataclass(frozen=True)
class Server:
    """The addresses of a running server."""

    url: str
    events_url: str
    replay_url: str


@contextlib.contextmanager
def running(kind: str, configuration: Configuration, model: Path, folder: Path, callback_url: str) -> Iterator[Server]:
    """Yields a server that is ready, then ends all its processes. Run with the Python of the engine's environment."""
    # an engine's description of itself repeats its model's path: use one that reveals nothing about this machine
    with contextlib.suppress(FileExistsError):
        (folder / "model").symlink_to(model)
    ports = [_find_free_port() for _ in range(3)]
    program, flags = _COMMANDS[kind]
    command = [program, *flags.split(), *_PLACE.split(), str(ports[0]), *configuration.flags]
    if configuration.has_plugin and kind == "vllm":
        command += ["--kv-transfer-config", json.dumps(_CONNECTOR)]
    elif configuration.has_plugin:
        command += ["--radix-cache-backend", "reprise"]
    if configuration.has_events:
        events = {"publisher": "zmq", "endpoint": f"tcp://*:{ports[1]}", "replay_endpoint": f"tcp://*:{ports[2]}"}
        enabled = {"enable_kv_cache_events": True} if kind == "vllm" else {}
        command += ["--kv-events-config", json.dumps({**enabled, **events})]
    environment = _environment(kind, configuration, folder, callback_url)
    log = folder / "engine.log"
    with log.open("wb") as file:
        # a separate process group, with which all the engine's processes end
        process = subprocess.Popen(
            ["nice", *command], cwd=folder, env=environment, stdout=file, stderr=file, start_new_session=True
        )
        try:
            _wait_until_ready(f"http://127.0.0.1:{ports[0]}", process, log)
            addresses = (f"tcp://127.0.0.1:{port}" for port in ports[1:])
            yield Server(f"http://127.0.0.1:{ports[0]}", *addresses)
        finally:
            _end(process)


def _environment(kind: str, configuration: Configuration, folder: Path, callback_url: str) -> dict[str, str]:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    packages: list[Path] = []
    if kind == "vllm":
        environment |= {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
    else:
        packages.append(ADAPTERS / "sglang" / "plugin" / "tests" / "engine" / "cpu_shim")
    if configuration.has_plugin:
        environment["REPRISE_CALLBACK_URL"] = callback_url
        packages += _find_plugin(kind, folder)
    environment["PYTHONPATH"] = os.pathsep.join(map(str, packages))
    return environment


def _find_plugin(kind: str, folder: Path) -> list[Path]:
    plugin = ADAPTERS / kind / "plugin"
    if kind == "sglang":
        # SGLang finds the plugin by its entry point, which an installation writes next to the code
        sys.path.append(str(plugin / "tests" / "server"))
        from processes import install_plugin

        install_plugin(folder)
        return [folder / "site"]
    return [plugin, ADAPTERS / "python"]


def _find_free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/health", timeout=5):
            return
        time.sleep(_READY_EVERY)
    raise RuntimeError(f"the engine did not start:\n{log.read_text(errors='replace')[-4000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(15)
