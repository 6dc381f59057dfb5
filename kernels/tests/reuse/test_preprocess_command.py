"""`python -m reprise_reuse preprocess` against a double of an engine's server: its requests and its output."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from http_engine_double import Answer, HttpEngineDouble

from reprise_reuse.__main__ import main
from reprise_reuse.preprocess import engine as http_engine
from reprise_reuse.preprocess import options

DOCUMENTS = ["the first text", "the second text", "the third text"]


@pytest.fixture
def double() -> Iterator[HttpEngineDouble]:
    with HttpEngineDouble() as double:
        yield double


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in DOCUMENTS))
    return path


class Run:
    """Runs the command on a corpus and an engine."""

    def __init__(self, corpus: Path, double: HttpEngineDouble, capsys: Any) -> None:
        self._corpus, self._double, self._capsys = corpus, double, capsys
        self.state = corpus.parent / "state"

    def __call__(self, *options: str, engine: str | None = None) -> tuple[int, str, str]:
        """Returns exit code, output and errors."""
        given = ["--engine", engine or self._double.url, "--state", str(self.state), *options]
        if not {"--neighbours", "--similar-by"} & set(options):
            given += ["--neighbours", "random"]
        code = main(["preprocess", str(self._corpus), *given])
        said = self._capsys.readouterr()
        return code, said.out, said.err


@pytest.fixture
def run(corpus: Path, double: HttpEngineDouble, capsys: Any) -> Run:
    return Run(corpus, double, capsys)


def test_an_engine_is_asked_to_compute_each_prompt_by_full_attention(run, double):
    code, said, _ = run("--salt", "tenant", "--api-key", "secret", "--contexts", "1", "--window", "3")
    prompts = double.prompts
    assert code == 0 and f"3 documents, {len(prompts)} prompts computed" in said
    assert all(text in "".join(prompts) for text in DOCUMENTS)
    _, body, headers = double.asked[-1]
    assert body == {
        "model": "double", "prompt": prompts[-1], "max_tokens": 1, "cache_salt": "tenant",
        "kv_transfer_params": {"reprise": {"reuse": "off"}},
        "custom_params": {"reprise": {"reuse": "off"}},
    }  # fmt: skip
    assert {name.lower(): value for name, value in headers.items()}["authorization"] == "Bearer secret"


def test_whose_it_is_goes_with_each_prompt_and_what_is_done_is_done_for_one_tenant(run, double, monkeypatch):
    monkeypatch.setenv("REPRISE_API_KEY", "of one")
    assert run("--tenant", "one")[0] == 0
    headers = {name.lower(): value for name, value in double.asked[-1][2].items()}
    assert (headers["authorization"], headers["x-reprise-tenant"]) == ("Bearer of one", "one")
    assert " 0 prompts computed" in run("--tenant", "one")[1]
    assert " 0 prompts computed" not in run("--tenant", "other")[1]
    monkeypatch.setenv("REPRISE_API_KEY", "of other")
    assert " 0 prompts computed" not in run("--tenant", "one")[1]


def test_the_engines_key_goes_with_each_prompt_and_what_was_computed_without_it_is_computed_again(run, double):
    assert run()[0] == 0
    computed = len(double.prompts)
    assert run("--key", "secret")[0] == 0
    wishes = [body["kv_transfer_params"]["reprise"] for path, body, _ in double.asked if path == "/v1/completions"]
    assert wishes[computed:] == [{"reuse": "off", "preprocess": "secret"}] * computed
    assert " 0 prompts computed" in run("--key", "secret")[1] and "secret" not in run.state.read_text()


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_with_idle_nothing_is_computed_while_the_engine_has_other_work(run, double, monkeypatch, engine):
    double.engine = engine
    monkeypatch.setattr(http_engine, "_PAUSE_SECONDS", 0.001)
    double.running = [1, 3, 0, 2]
    assert run("--idle")[0] == 0
    paths = [path for path, _, _ in double.asked]
    assert paths[0] == "/v1/models"
    # the first scrape checks whether the engine reports the metric at all
    assert paths[1:8] == [*["/metrics"] * 3, "/v1/completions", *["/metrics"] * 2, "/v1/completions"]


def test_an_engine_that_keeps_nothing_is_told_after_the_first_prompt(run, double):
    double.answers["/metrics"] = Answer("vllm:num_requests_running 0.0\n")
    code, _, said = run()
    assert code == 2 and len(double.prompts) == 1
    missing = "vllm:reprise_ or sglang:reprise_"
    assert said == f"reprise_reuse: {double.url} reuses nothing: {double.url}/metrics tells no {missing}\n"


def test_of_a_server_without_metrics_it_is_said_that_nobody_knows_what_it_keeps(run, double):
    double.answers["/metrics"] = Answer("no such path", 404)
    code, _, said = run()
    assert code == 0 and said.endswith("has no metrics, so whether it keeps them is unknown\n")


def test_prompts_that_are_refused_are_told_and_the_others_computed(run, double):
    double.refuses = lambda prompt: DOCUMENTS[0] in prompt
    code, said, errors = run("--window", "2", "--contexts", "1")
    assert code == 1 and 0 < int(said.split(" documents, ")[1].split()[0]) < len(double.prompts)
    assert "prompts were refused (if they are too long, a smaller --window makes them shorter, unless" in errors
    double.refuses = lambda prompt: False
    assert run("--window", "2", "--contexts", "1")[0] == 0


def test_it_can_be_interrupted(run, double, monkeypatch):
    monkeypatch.setattr(http_engine.HttpEngine, "compute", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    code, _, said = run()
    assert code == 130 and said.endswith("reprise_reuse: interrupted; the same command goes on from here\n")


def test_what_json_lines_may_hold_is_no_line_end(run, double, corpus):
    corpus.write_text(json.dumps({"text": "one\u2028two\u0085three"}, ensure_ascii=False) + "\n" + corpus.read_text())
    assert run()[0] == 0
    assert "one\u2028two\u0085three" in "".join(double.prompts)


def test_a_failure_midway_is_one_line_and_the_next_run_goes_on(run, double):
    double.answers["/v1/completions"] = Answer("out of memory", 500)
    code, _, said = run()
    assert code == 1
    assert said == f"reprise_reuse: {double.url}/v1/completions answers 500: out of memory\n"
    double.answers["/v1/completions"] = Answer("{}")
    assert run()[0] == 0
    computed = len(double.prompts)
    code, said, _ = run()
    assert code == 0 and len(double.prompts) == computed
    assert f"0 prompts computed, {computed - 1} were before: --again computes them again" in said


@pytest.mark.parametrize("other", ["url", "model", "salt"])
def test_what_one_engine_model_or_salt_has_is_not_there_for_another(run, double, other):
    double.answers["/v1/models"] = Answer(json.dumps({"data": [{"id": "double"}, {"id": "another"}]}))
    assert run("--model", "double")[0] == 0
    computed = len(double.prompts)
    with HttpEngineDouble(double.answers) as second:
        given = {
            "url": (["--model", "double"], second.url),
            "model": (["--model", "another"], None),
            "salt": (["--model", "double", "--salt", "tenant"], None),
        }
        options, engine = given[other]
        assert f" {computed} prompts computed" in run(*options, engine=engine)[1]
    # everything from the first run is done
    assert " 0 prompts computed" in run("--model", "double", engine=double.url + "/v1/")[1]
    assert "tenant" not in run.state.read_text()


def test_again_computes_all_and_goes_on_where_that_was_ended(run, double):
    assert run()[0] == 0
    computed = len(double.prompts)
    assert f" {computed} prompts computed" in run("--again")[1]
    double.answers["/v1/completions"] = Answer("gone", 500)
    assert run("--again")[0] == 1
    double.answers["/v1/completions"] = Answer("{}")
    assert f" {computed} prompts computed" in run()[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--contexts", "0"], "--contexts is 0, it must be a whole number from 1 on"),
        (["--window", "1"], "--window is 1, it must be a whole number from 2 on"),
        (["--neighbours", "similar", "--similar", "0"], "--similar is 0, it must be a whole number from 1 on"),
        (["--template", "{x}"], "--template is '{x}', it must hold {}"),
        (["--template", "Document:"], "--template is 'Document:', it must hold {}"),
        (["--similar-by", "embeddings"], "--similar-by is 'embeddings', it must be MODULE:FUNCTION"),
        (["--similar-by", "no_such_module:find"], "--similar-by: No module named 'no_such_module'"),
        (["--similar-by", "json:no_such_function"], "--similar-by: module 'json' has no attribute 'no_such_function'"),
        (["--similar-by", "json:loads"], "--similar-by json:loads: TypeError: "),
        (["--engine", "127.0.0.1:8000"], "--engine is '127.0.0.1:8000', it must be an http or https URL"),
        (["--share", "/mnt/share"], "--share is '/mnt/share', it must be file:///FOLDER or mooncake://HOST:PORT"),
        (["--share", "file:///mnt/share", "--again"], "name another place with --share"),
        (["--model", "large"], "serves double, not large"),
    ],
)
def test_an_option_that_cannot_be_used_is_one_line(run, options, said):
    code, _, errors = run(*options)
    assert code == 2
    assert errors.startswith("reprise_reuse: ") and said in errors and errors.count("\n") == 1


def test_braces_in_a_template_are_themselves(run, double):
    assert run("--template", '{"text": "{}"}')[0] == 0
    assert f'{{"text": "{DOCUMENTS[0]}"}}' in "".join(double.prompts)


@pytest.mark.parametrize("answer", ["<html>", "[]", '{"data": [3]}', '{"data": []}'])
def test_what_is_no_engine_is_one_line(run, double, answer):
    double.answers["/v1/models"] = Answer(answer)
    code, _, errors = run()
    assert code == 2
    assert errors == f"reprise_reuse: {double.url}/v1/models names no model: {answer}\n"


def test_idle_needs_an_engine_that_tells_what_it_does(run, double):
    double.answers["/metrics"] = Answer("something_else 1")
    code, _, errors = run("--idle")
    assert code == 2
    missing = "vllm:num_requests_running or sglang:num_running_reqs"
    assert errors == f"reprise_reuse: --idle: {double.url}/metrics tells no {missing}\n"
    assert double.prompts == []


@pytest.mark.parametrize("neighbours", ["similar", "mixed"])
def test_a_missing_package_is_one_line(run, monkeypatch, neighbours):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    code, _, errors = run("--neighbours", neighbours)
    assert code == 2
    assert errors == f"reprise_reuse: --neighbours {neighbours} needs bm25s: pip install './kernels[preprocess]'\n"


def test_a_check_finds_what_cannot_be_used_without_the_corpus_and_computes_nothing(run, double):
    run._corpus.unlink()
    assert run("--check") == (0, "", "") and double.prompts == [] and not run.state.exists()
    for given in (["--similar-by", "no_such_module:find"], ["--model", "large"], ["--idle"]):
        double.answers["/metrics"] = Answer("something_else 1")
        code, _, errors = run("--check", *given)
        assert (code, errors.count("\n")) == (2, 1)
    double.answers["/metrics"] = Answer('{"error": {"message": "allowed in keys.allow_engine_paths"}}', 403)
    code, _, errors = run("--check", "--idle")
    assert code == 1 and "/metrics answers 403" in errors and "keys.allow_engine_paths" in errors


@pytest.mark.parametrize("kind", ["folder", "below a file", "no text"])
def test_a_state_that_cannot_be_used_is_one_line_before_anything_is_computed(run, double, tmp_path, kind):
    (tmp_path / "file").write_bytes(b"\xff\xfe")
    run.state = {"folder": tmp_path, "below a file": tmp_path / "file" / "state", "no text": tmp_path / "file"}[kind]
    code, _, errors = run()
    assert code == 2 and double.prompts == []
    assert errors.startswith(f"reprise_reuse: --state {run.state}: ") and errors.count("\n") == 1


def test_neighbours_are_found_by_a_function_of_the_users(run, double, tmp_path, monkeypatch):
    (tmp_path / "my_embeddings.py").write_text(
        "def make_find(documents):\n"
        "    return lambda document, count: [one for one in documents if one != document][:count]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    code, _, _ = run("--similar-by", "my_embeddings:make_find", "--similar", "1", "--template", "<{}>", "--system", "")
    assert code == 0
    first, second, third = (f"<{text}>" for text in DOCUMENTS)
    assert double.prompts == [second + first, first + second, first + third]
    # only the last document is kept, which the others stand in front of
    wishes = [body["kv_transfer_params"]["reprise"] for path, body, _ in double.asked if path == "/v1/completions"]
    assert wishes == 3 * [{"reuse": "off", "kept_from": 3}]


def test_an_engine_that_counts_no_tokens_is_named(run, double):
    pytest.importorskip("bm25s")
    double.answers["/tokenize"] = Answer("not found", 404)
    code, _, errors = run("--neighbours", "similar")
    assert code == 1 and errors == f"reprise_reuse: {double.url}/tokenize answers 404: not found\n"


def test_a_worker_that_is_terminated_leaves_its_part_to_others(corpus, double, tmp_path):
    is_asked = threading.Event()
    double.refuses = lambda prompt: is_asked.set() or time.sleep(60)
    share, state = (tmp_path / "share").as_uri(), str(tmp_path / "state")
    command = ["preprocess", str(corpus), "--engine", double.url, "--state", state, "--share", share]
    command += ["--neighbours", "random"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    worker = subprocess.Popen([sys.executable, "-m", "reprise_reuse", *command], env=environment)
    assert is_asked.wait(60)
    worker.terminate()
    assert worker.wait(30) == 128 + signal.SIGTERM
    assert [one.read_bytes() for one in (tmp_path / "share").rglob("*") if one.is_file()] == [b"null"]


def test_what_the_engine_has_not_written_to_its_store_is_told(run, double, tmp_path, monkeypatch):
    real, counts = double.metrics, iter([3, 5])

    def metrics() -> Answer:
        unwritten = next(counts, 5)
        return Answer(real().body + f'vllm:reprise_remote_total{{engine="0",event="unwritten"}} {unwritten}.0\n')

    double.metrics = metrics
    _, _, errors = run("--share", (tmp_path / "share").as_uri())
    assert errors.count("2 segments were not written to the engine's store") == 1


def test_workers_that_share_a_corpus_compute_it_once_and_another_tenants_again(run, double, tmp_path, monkeypatch):
    share = ("--share", (tmp_path / "share").as_uri(), "--contexts", "2", "--window", "2")
    monkeypatch.setattr(options, "PART", 2)
    code, said, _ = run(*share)
    computed = list(double.prompts)
    # documents of one part stand behind each other only
    assert code == 0 and f"3 documents, {len(computed)} prompts computed" in said
    assert not any("first" in one and "third" in one for one in computed)
    run.state = tmp_path / "another worker's"
    code, said, _ = run(*share)
    assert code == 0 and "3 documents, 0 prompts computed" in said and double.prompts == computed
    assert "2 of 2 parts were done before, or by other workers: another --share and --state compute them again" in said
    run(*share, "--salt", "tenant")
    assert len(double.prompts) == 2 * len(computed)
    run(*share, "--key", "secret")
    assert len(double.prompts) == 3 * len(computed)
