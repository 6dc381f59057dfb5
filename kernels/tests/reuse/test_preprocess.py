"""Preprocessing: each document follows others as often as requested, each prompt once, and runs can be continued."""

import gzip
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprise_reuse.__main__ import main
from reprise_reuse.preprocess.engine import HttpEngine
from reprise_reuse.preprocess.options import make_parts, read_options
from reprise_reuse.preprocess.prompts import (
    FailedError,
    Prompt,
    bm25,
    prompts_of,
    random_windows,
    read_corpus,
    similar_windows,
)
from reprise_reuse.preprocess.run import Done, Outcome, preprocess


@given(count=st.integers(2, 40), contexts=st.integers(1, 5), size=st.integers(1, 12), seed=st.integers(0, 9))
def test_each_document_stands_behind_others_as_often_as_wanted_at_hardly_more_cost(count, contexts, size, seed):
    documents = [f"document {i}" for i in range(count)]
    windows = random_windows(documents, contexts, size, seed)
    assert windows == random_windows(documents, contexts, size, seed)
    behind = {document: sum(document in window[1:] for window in windows) for document in documents}
    assert min(behind.values()) >= contexts
    assert all(len(set(window)) == len(window) <= max(2, min(size, count)) for window in windows)
    per_window = max(2, min(size, count)) - 1
    assert len(windows) <= contexts * -(-count // per_window)


def test_a_document_alone_stands_behind_nothing():
    assert random_windows(["only"], 4, 8, 0) == []


def test_similar_documents_stand_in_front_the_most_similar_next():
    pytest.importorskip("bm25s")
    documents = [
        "the river Seine flows through Paris and on to the sea",
        "the Seine is a river, and Paris lies on the Seine",
        "many rivers flow through many towns to the sea",
        "a kernel is a program that runs on a device",
    ]
    windows = similar_windows(documents, 1, bm25(documents))
    assert windows[0] == [documents[1], documents[0]]
    assert similar_windows(documents, 2, lambda document, count: documents[2:][:count])[0] == [
        documents[3],
        documents[2],
        documents[0],
    ]


def test_mixed_neighbours_are_similar_ones_in_half_of_the_contexts(tmp_path: Path):
    (tmp_path / "by_name.py").write_text(
        "def make(documents):\n    return lambda document, n: [one for one in documents if one != document][:n]\n"
    )
    documents = [f"d{i}" for i in range(9)]
    command = ["preprocess", "x", "--engine", "http://127.0.0.1:9", "--template", "<{}>", "--system", ""]
    sys.path.insert(0, str(tmp_path))
    try:
        options = read_options([*command, "--neighbours", "mixed", "--similar-by", "by_name:make"], "")
        (prompts,) = make_parts(documents, options)
    finally:
        sys.path.remove(str(tmp_path))
    behind = [prompt for prompt in prompts if prompt.before]
    assert behind[8] == Prompt("<d1><d0>", "<d8>") and behind[9 + 8] == Prompt("<d3><d2>", "<d8>")
    assert len(behind) == 18 and prompts[:18] == behind
    # in prompts of eight each document stands behind others twice
    assert 3 <= len(prompts) - 18 <= 4
    assert all(sum(f"><{one}>" in str(prompt) for prompt in prompts[18:]) >= 2 for one in documents)


def test_by_default_similar_ones_are_among_them_where_they_can_be_found(monkeypatch, capsys):
    command = ["preprocess", "x", "--engine", "http://127.0.0.1:9"]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    options = read_options(command, "")
    assert (options.neighbours, options.similar, options.contexts) == ("mixed", 2, 4)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert read_options(command, "").neighbours == "random" and "without bm25s" in capsys.readouterr().err
    assert read_options([*command, "--similar-by", "json:loads"], "").neighbours == "similar"


def test_of_similar_documents_only_the_last_of_each_window_is_kept():
    prompts = prompts_of([["b", "a"], ["a", "b"], ["b", "a"]], "<{}>", "system ", keeps_last=True)
    assert prompts == [Prompt("system <b>", "<a>"), Prompt("system <a>", "<b>")]


def test_what_is_done_is_not_computed_again_by_a_later_run(tmp_path: Path):
    prompts = prompts_of([["a", "b"], ["b", "c"], ["c", "a"]], "<{}>", "system ")
    computed: list[str] = []

    def compute(prompt: Prompt) -> None:
        if len(computed) == 2:
            raise ConnectionError
        computed.append(str(prompt))

    with pytest.raises(ConnectionError):
        preprocess(prompts, compute, Done(tmp_path / "state"))
    said: list[tuple[int, int]] = []
    later: list[Prompt] = []
    outcome = preprocess(prompts, later.append, Done(tmp_path / "state"), lambda *told: said.append(told))
    assert [*computed, *map(str, later)] == ["system <a><b>", "system <b><c>", "system <c><a>"]
    assert outcome == Outcome(1, 2) and said == [(1, 3), (2, 3), (3, 3)]


def test_what_one_tenant_of_a_proxy_has_computed_is_computed_for_another(tmp_path: Path):
    prompts, computed = prompts_of([["a", "b"]], "<{}>", "system "), []
    for key in ["of one", "of another", "of one"]:
        proxy = HttpEngine("http://127.0.0.1:9", "m", None, key, only_idle=False)
        preprocess(prompts, computed.append, Done(tmp_path / "state", proxy.key))
    assert len(computed) == 2 and b"of one" not in (tmp_path / "state").read_bytes()


def test_a_corpus_is_read_from_files_of_any_kind_each_document_once(tmp_path: Path):
    (tmp_path / "a.txt").write_text("plain text")
    (tmp_path / "b.jsonl").write_text('{"id": 1, "text": "first"}\n\n{"text": "plain text"}\n')
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(json.dumps({"text": "packed"}).encode()))
    assert read_corpus([tmp_path]) == ["plain text", "first", "packed"]


@pytest.mark.parametrize(
    ("content", "said"),
    [(b'{"text": 3}', 'a.jsonl:1: not an object with a "text"'), (b"{", "a.jsonl:1: no JSON"), (b"", "no document")],
)
def test_a_corpus_that_cannot_be_read_is_named(tmp_path: Path, content: bytes, said: str, capsys):
    (tmp_path / "a.jsonl").write_bytes(content)
    with pytest.raises(FailedError, match=said):
        read_corpus([tmp_path / "a.jsonl"])
    assert main(["preprocess", str(tmp_path / "a.jsonl"), "--engine", "http://127.0.0.1:9"]) == 1
    assert said in capsys.readouterr().err


def test_an_engine_that_is_not_there_is_named(tmp_path: Path, capsys):
    (tmp_path / "a.txt").write_text("text")
    state = str(tmp_path / "state")
    assert main(["preprocess", str(tmp_path / "a.txt"), "--engine", "http://127.0.0.1:9", "--state", state]) == 1
    assert "http://127.0.0.1:9 cannot be reached" in capsys.readouterr().err
