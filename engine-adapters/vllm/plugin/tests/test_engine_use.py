"""Whether vLLM has what the plugin uses, in each version that it is said to be tested with."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import vllm
from engine_use import find_engine_use

from reprise_vllm.engine import TESTED

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "reprise" / "engine-versions"


def test_the_vllm_that_runs_has_what_is_used() -> None:
    assert find_engine_use("reprise_vllm", "vllm").faults == []


@pytest.mark.parametrize("version", [one for one in TESTED if one != vllm.__version__])
def test_another_tested_vllm_has_what_is_used(version: str) -> None:
    other = CACHE / f"vllm-{version}"
    if not other.exists():
        pytest.skip(f"vLLM {version} is not at hand: npm run test:engine-versions -- vllm {version}")
    found = find_apart(str(other))
    assert found["version"] == version
    assert found["faults"] == []
    # a method that one of them does not have is never called there
    assert set(found["overridden"]) == set(find_apart()["overridden"])


def find_apart(*first: str) -> dict[str, Any]:
    """Returns what is found in a process of its own: tests of this one have made further classes."""
    ran = subprocess.run(
        [sys.executable, "-m", "engine_use", "reprise_vllm", "vllm"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*first, *sys.path])},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return json.loads(ran.stdout.splitlines()[-1])


WRONG = """
from typing import TYPE_CHECKING
from vllm.v1.core.block_pool import BlockPool
from vllm.v1.kv_offload.cpu.policies.base import CachePolicy
if TYPE_CHECKING:
    from vllm.v1.request import NoRequest

class Policy(CachePolicy):
    def evict(self, n):
        return super().evict(n)

def free(pool: "BlockPool | None") -> int:
    pool.free_blocks()
    return pool.number_of_blocks
"""


def test_what_does_not_fit_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wrong_plugin").mkdir()
    (tmp_path / "wrong_plugin" / "__init__.py").write_text(WRONG)
    monkeypatch.syspath_prepend(tmp_path)
    said = "\n".join(find_engine_use("wrong_plugin", "vllm").faults)
    assert "wrong_plugin:6: No module named 'vllm.v1.request.NoRequest'" in said
    assert "wrong_plugin: Policy lacks" in said
    assert "wrong_plugin: Policy.evict: too many positional arguments; the engine's is (self, n: int, protected" in said
    assert "wrong_plugin:10: super().evict: missing a required argument: 'protected'" in said
    assert "wrong_plugin:13: pool.free_blocks: missing a required argument: 'ordered_blocks'" in said
    assert "wrong_plugin:14: BlockPool has no number_of_blocks" in said
