"""Which borders of a request are set, and what is counted."""

import json
import logging
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from engine_config import make_connector
from vllm.sampling_params import SamplingParams
from vllm.v1.request import Request

from reprise_vllm.checkpoints.borders import Borders
from reprise_vllm.checkpoints.layer_kinds import LayerKinds

UNIT, PROMPT = 160, 1850


@pytest.fixture
def borders() -> Borders:
    kinds = LayerKinds(unit=UNIT, kinds=["state"], room_tokens=480, windows=[])
    return Borders(kinds, logging.getLogger("borders"), Counter())


def request_with(params: Any, name: str = "r-1") -> Request:
    sampling = SamplingParams(max_tokens=1)
    request = Request(request_id=name, prompt_token_ids=[5] * PROMPT, sampling_params=sampling, pooling_params=None)
    request.kv_transfer_params = params
    return request


def ask(borders: Borders, named: Any, **others: Any) -> Request:
    request = request_with({"reprise": {"borders": named, "key": borders.facts["key"], **others}})
    borders.begin(request)
    return request


MALFORMED = [
    [], [160, 320, 480, 640, 800], ["850"], [850.0], [True], "850", {"850": 1}, [900, 850], [850, 851], [159], [-850],
    [1 << 60], [PROMPT], [850, 850], 850, False,
]  # fmt: skip


@pytest.mark.parametrize("named", MALFORMED, ids=json.dumps)
def test_malformed_borders_are_counted_and_ignored(borders: Borders, named: Any) -> None:
    borders.place(ask(borders, named), 0)
    assert borders._counts == {"borders/malformed": 1}
    assert borders._wanted == borders._ahead == {}


@pytest.mark.parametrize("key", [None, "", "0123456789abcdef", 7, ["key"]], ids=json.dumps)
def test_borders_of_another_sender_than_the_proxy_are_counted_and_ignored(borders: Borders, key: Any) -> None:
    ask(borders, [850], key=key)
    assert borders._counts == {"borders/foreign": 1}
    assert borders._wanted == {}


@pytest.mark.parametrize("params", [None, {}, [], {"reprise": None}, {"reprise": "off"}, {"reprise": {"reuse": "off"}}])
def test_a_request_without_borders_leaves_nothing(borders: Borders, params: Any) -> None:
    borders.begin(request_with(params))
    assert borders._counts == borders._wanted == {}


def test_a_state_is_kept_at_one_border_after_the_other(borders: Borders) -> None:
    class Step:
        num_scheduled_tokens: dict[str, int]

    request, step = ask(borders, [330, 850, 1849]), Step()
    borders.place(request, 0)
    assert request.shared_prefix_boundary == 320
    for scheduled, expected in [(320, 800), (200, 800), (280, 1760), (960, 1760)]:
        step.num_scheduled_tokens = {"r-1": scheduled}
        borders.end_step(step)
        request.num_computed_tokens += scheduled
        assert request.shared_prefix_boundary == expected
    assert borders._ahead == {}


def test_borders_in_front_of_what_was_found_are_left_out(borders: Borders) -> None:
    request = ask(borders, [330, 850])
    borders.place(request, 320)
    assert request.shared_prefix_boundary == 800
    request.shared_prefix_boundary = 0
    borders.place(request, 800)
    assert request.shared_prefix_boundary == 0
    assert borders._ahead == {}


def test_a_junction_that_vllm_has_detected_is_one_of_them(borders: Borders) -> None:
    request = ask(borders, [850])
    request.shared_prefix_boundary = 480
    borders.place(request, 0)
    assert [request.shared_prefix_boundary, borders._ahead["r-1"][1]] == [480, [480, 800]]
    borders.finished(request)
    assert borders._wanted == borders._ahead == {}


def test_counts_go_into_vllms_metrics_once(borders: Borders, folder: Path) -> None:
    connector = make_connector(folder)
    borders._counts = connector._counts
    ask(borders, [850])
    ask(borders, [1])
    assert connector.get_kv_connector_stats().data == {"borders/set": 1, "borders/malformed": 1}
    assert connector.get_kv_connector_stats() is None


def test_a_fault_ends_borders_and_not_the_engine(borders: Borders) -> None:
    request = ask(borders, [850])
    borders.end_step(None)
    borders.begin(request)
    borders.place(request, 0)
    assert borders.facts is None
    assert request.shared_prefix_boundary == 0


def test_where_no_border_can_be_set_nothing_is_read() -> None:
    borders = Borders(None, logging.getLogger("borders"), Counter())
    request = request_with({"reprise": {"borders": [850], "key": None}})
    borders.begin(request)
    borders.place(request, 0)
    assert borders.facts is None
    assert borders._counts == borders._wanted == {}
