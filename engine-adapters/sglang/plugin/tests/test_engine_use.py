"""Whether SGLang has what the plugin uses."""

from engine_use import find_engine_use


def test_the_sglang_that_runs_has_what_is_used() -> None:
    use = find_engine_use("reprise_sglang", "sglang")
    assert use.faults == []
    assert {"ReportingRadixCache.checkpoint", "HotFullComponent.redistribute_on_node_split"} <= use.overridden
