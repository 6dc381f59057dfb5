"""
Records the answers of an engine's version as fixtures; see README.md.

    python engine-adapters/recorder/record.py {vllm,sglang} MODEL [--only NAME] [--serve]

Run with the Python of the engine's environment. MODEL is a folder made by `vllm/test-model/make_test_model.py`.
With --serve nothing is recorded: the server runs, for manual tests, until standard input ends.
"""

import argparse
import importlib.metadata
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from engine_servers import ADAPTERS, CONFIGURATIONS, Configuration, Server, running
from exchanges import Exchange, ask
from questions import ask_everything, ask_probes

sys.path.append(str(ADAPTERS / "python" / "tests"))

from receiver import Receiver

# the plugins report within a second, even when idle
_SETTLE = 2.0


def record(kind: str, server: Server, configuration: Configuration, receiver: Receiver) -> dict[str, Any]:
    """Asks everything that applies to this configuration. Returns the exchanges and the plugin's reports meanwhile."""
    questions = [*ask_probes(), *(ask_everything(kind) if configuration.has_plugin else ())]
    exchanges: list[Exchange] = []
    for question in questions:
        exchanges.append(ask(server.url, question))
        print(f"  {exchanges[-1].status} {question.name}", file=sys.stderr)
    time.sleep(_SETTLE)
    reports = {"reports": receiver.events} if configuration.has_plugin else {}
    return {"exchanges": [exchange.as_json() for exchange in exchanges], **reports}


def write(kind: str, version: str, name: str, configuration: Configuration, recorded: dict[str, Any]) -> None:
    folder = ADAPTERS / kind / "fixtures" / version
    folder.mkdir(parents=True, exist_ok=True)
    head = {"engine": kind, "version": version, "flags": list(configuration.flags)}
    switches = {"plugin": configuration.has_plugin, "events": configuration.has_events}
    text = json.dumps({**head, **switches, **recorded}, indent=1, ensure_ascii=False)
    (folder / f"{name}.json").write_text(f"{text}\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="records what an engine answers")
    parser.add_argument("kind", choices=sorted(CONFIGURATIONS))
    parser.add_argument("model", type=Path)
    parser.add_argument("--only", help="one configuration")
    parser.add_argument("--serve", action="store_true", help="serve it, and record nothing")
    parser.add_argument("--callback-url", help="with --serve: where the plugin reports to")
    options = parser.parse_args()
    version = importlib.metadata.version(options.kind).split("+")[0]
    for name, configuration in CONFIGURATIONS[options.kind].items():
        if options.only not in (None, name):
            continue
        receiver = Receiver()
        url = options.callback_url or receiver.url
        with (
            tempfile.TemporaryDirectory() as folder,
            running(options.kind, configuration, options.model.resolve(), Path(folder), url) as server,
        ):
            print(f"{options.kind} {version}, {name}: {server}", file=sys.stderr, flush=True)
            if options.serve:
                sys.stdin.read()
            else:
                write(options.kind, version, name, configuration, record(options.kind, server, configuration, receiver))
        receiver.stop()


if __name__ == "__main__":
    main()
