"""Token types as hints for eviction: pages, and what they make of a cache."""

import json
from pathlib import Path

import pytest

from quality.token_types import DOCUMENT, PAGE, QUESTION, SYSTEM, Part, _pages, hit_ratio, read_requests


def test_pages_are_equal_as_far_as_texts_are_and_have_the_type_given_up_first() -> None:
    system, document = Part(SYSTEM, "system", PAGE), Part(DOCUMENT, "a", 2 * PAGE + 1)
    one, other = (_pages([system, document, Part(QUESTION, name, PAGE)]) for name in "xy")
    assert [kind for _, kind in one] == [SYSTEM, DOCUMENT, DOCUMENT, QUESTION]
    assert one[:3] == other[:3] and one[3] != other[3]


def test_questions_that_go_first_leave_room_for_documents(tmp_path: Path) -> None:
    for name, rows in {
        "blocks": [{"id": one, "text": 480 * one} for one in "abc"],
        "queries": [{"query_id": str(at), "query": "what? " * 100} for at in range(30)],
    }.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    orders = tmp_path / "orders"
    orders.write_text("".join(f'{{"query_id": "{at}", "blocks": ["{"abc"[at % 3]}"]}}\n' for at in range(30)))
    requests = read_requests(tmp_path, orders, is_chat=False)
    assert hit_ratio(requests, 64, "lru, types") > hit_ratio(requests, 64, "lru")
    assert hit_ratio(requests, 10_000, "lru") == pytest.approx(hit_ratio(requests, 10_000, "lru, types"))
