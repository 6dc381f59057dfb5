"""Borders in real engines: the second prompt that shares documents finds them, and answers as without a cache."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
import reuse_model  # noqa: F401  (sets how vLLM starts)
from checkpoint_models import WINDOW, make_checkpoint_model
from receiver import Receiver

SYSTEM, DOCUMENT, QUESTION = 50, 200, 100
CONNECTOR = {
    "kv_connector": "RepriseConnector", "kv_connector_module_path": "reprise_vllm.connector", "kv_role": "kv_both",
}  # fmt: skip


def text(name: str, count: int) -> list[int]:
    words = random.Random(name)
    return [words.randrange(10, 4096) for _ in range(count)]


def prompt(documents: list[int], question: int) -> tuple[list[int], list[int]]:
    """Returns a prompt and where its system text and its documents end."""
    tokens, ends = text("system", SYSTEM), [SYSTEM]
    for document in documents:
        tokens += text(f"document {document}", DOCUMENT)
        ends.append(len(tokens))
    return tokens + text(f"question {question}", QUESTION), ends


class CheckpointEngine:
    """vLLM with the connector and a small model."""

    receiver: Receiver
    request_id: str
    """of the prompt that was asked last"""

    def __init__(self, model: str, dtype: str) -> None:
        from vllm import LLM

        self.llm = LLM(
            model=model, dtype=dtype, block_size=32, enforce_eager=True, skip_tokenizer_init=True, max_model_len=4096,
            kv_transfer_config=CONNECTOR, max_num_batched_tokens=4096, seed=0,
        )  # fmt: skip
        self.dtype = dtype
        self.core = self.llm.llm_engine.engine_core.engine_core
        self.connector = self.core.scheduler.connector

    def ask(self, tokens: list[int], borders: Any = None, key: str | None = None) -> tuple[int, list[int], list[float]]:
        """Returns how many tokens were found cached, the answer, and how likely its words were."""
        from vllm import SamplingParams

        key = self.connector._borders.facts["key"] if borders is not None and key is None else key
        wish = {"kv_transfer_params": {"reprise": {"borders": borders, "key": key}}} if borders is not None else None
        sampling = SamplingParams(temperature=0, max_tokens=4, ignore_eos=True, logprobs=1, extra_args=wish)
        (output,) = self.llm.generate([{"prompt_token_ids": tokens}], sampling, use_tqdm=False)
        self.request_id, answer = output.request_id, output.outputs[0]
        likely = [step[token].logprob for step, token in zip(answer.logprobs, answer.token_ids, strict=True)]
        return output.num_cached_tokens, list(answer.token_ids), likely

    def told(self) -> dict[str, list[int]]:
        """Returns what was reported last of each prompt: the lengths at which others find it."""
        told: dict[str, list[int]] = {}
        for kind, body in list(self.receiver.posts):
            if kind == "snapshot":
                told.clear()
            for report in body["requests" if kind == "snapshot" else "events"]:
                if report.get("type") == "cleared":
                    told.clear()
                elif "checkpoints" in report:
                    told[report["request_id"]] = report["checkpoints"]
        return told

    def reset(self) -> None:
        assert self.llm.reset_prefix_cache()


@pytest.fixture(scope="module", params=[("gemma3", "float32"), ("qwen3_5", "bfloat16")], ids=["windows", "states"])
def engine(request, tmp_path_factory) -> Iterator[CheckpointEngine]:
    kind, dtype = request.param
    model = str(make_checkpoint_model(tmp_path_factory.mktemp(kind), kind))
    receiver = Receiver()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPRISE_CALLBACK_URL", receiver.url)
        engine = CheckpointEngine(model, dtype)
        engine.receiver = receiver
        yield engine
        engine.core.shutdown()
    receiver.stop()


@pytest.fixture(autouse=True)
def nothing_is_cached(engine) -> None:
    engine.reset()


def unit_of(engine: CheckpointEngine) -> int:
    return engine.connector._borders.facts["unit"]


def test_the_proxy_is_told_what_a_checkpoint_is(engine):
    facts = engine.connector._borders.facts
    posts = engine.receiver.posts
    engine.receiver.wait_until(lambda: any(body.get("checkpoints") == facts for _, body in posts))
    # vLLM enlarges blocks until one holds a state, whose precision depends on the processor
    block = engine.llm.llm_engine.vllm_config.cache_config.block_size
    # two groups of two layers with windows beside one of full attention; three states beside one
    expected = {"window": (32, 2 * WINDOW), "state": (block, 3 * block)}[facts["kinds"][0]]
    assert (facts["unit"], facts["room_tokens"]) == expected


def test_the_second_prompt_that_shares_documents_finds_all_their_whole_blocks(engine):
    shared = (SYSTEM + 2 * DOCUMENT) // unit_of(engine) * unit_of(engine)
    asked = [prompt([1, 2, 10 + 2 * i, 11 + 2 * i], i) for i in range(3)]
    uncached = []
    for tokens, _ in asked:
        engine.reset()
        uncached.append(engine.ask(tokens))
    engine.reset()
    answers = [engine.ask(tokens, [ends[2]]) for tokens, ends in asked]
    assert [cached for cached, _, _ in uncached] == [0, 0, 0]
    assert [cached for cached, _, _ in answers] == [0, shared, shared]
    for (_, answer, likely), (_, expected, as_likely) in zip(answers, uncached, strict=True):
        # bfloat16 rounds otherwise where a prefill is split, so the answer to an unsplit one may differ
        if engine.dtype == "float32":
            assert answer == expected
            assert likely == pytest.approx(as_likely, abs=1e-4)
        else:
            assert likely[0] == pytest.approx(as_likely[0], abs=0.1)


def test_a_hit_answers_as_the_prompt_that_was_computed_up_to_the_same_border(engine):
    tokens, ends = prompt([1, 2, 3, 4], 0)
    computed = engine.ask(tokens, [ends[2]])
    engine.reset()
    engine.ask(prompt([1, 2, 5, 6], 1)[0], [ends[2]])
    hit = engine.ask(tokens, [ends[2]])
    assert hit[0] > 0 == computed[0]
    assert hit[1] == computed[1]
    assert hit[2] == pytest.approx(computed[2], abs=1e-5)


def test_prompts_find_what_is_reported_of_those_before_them(engine):
    order = random.Random(0)
    texts: dict[str, list[int]] = {}
    found = []
    for question in range(8):
        tokens, ends = prompt(order.choices([1, 2, 3], k=4), question)
        told = engine.told()
        shared = {name: common(text, tokens) for name, text in texts.items()}
        expected = max((end for name in texts for end in told[name] if end <= shared[name]), default=0)
        cached, answer, _ = engine.ask(tokens, order.choice([None, ends[1:3], ends[4:]]))
        assert cached == expected
        found.append(cached)
        texts[engine.request_id] = tokens + answer
        engine.receiver.wait_until(lambda: engine.request_id in engine.told())
    assert len(set(found)) > 2


def common(one: list[int], other: list[int]) -> int:
    """Returns how many tokens two prompts share at their beginnings."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def test_without_borders_a_prompt_that_ends_at_one_does_the_same(engine):
    shared = (SYSTEM + 2 * DOCUMENT) // unit_of(engine) * unit_of(engine)
    engine.ask(prompt([1, 2], 0)[0][: SYSTEM + 2 * DOCUMENT + 1])
    assert [engine.ask(prompt([1, 2, 3 + i, 4 + i], i)[0])[0] for i in range(2)] == [shared, shared]


def test_without_borders_the_third_is_the_first_to_find_something(engine):
    found = [engine.ask(prompt([1, 2, 10 + 2 * i, 11 + 2 * i], i)[0])[0] for i in range(3)]
    assert found == [0, 0, (SYSTEM + 2 * DOCUMENT) // unit_of(engine) * unit_of(engine)]


def test_four_borders_serve_prompts_that_leave_at_each_of_them(engine):
    unit = unit_of(engine)
    tokens, ends = prompt([1, 2, 3, 4], 0)
    engine.ask(tokens, ends[1:])
    # each would also be found by what an earlier one of them left
    for shared in (1, 2, 3, 4):
        documents = [*range(1, shared + 1), *range(20 + 4 * shared, 24 + 3 * shared)]
        assert engine.ask(prompt(documents, shared)[0])[0] == ends[shared] // unit * unit


def test_a_junction_that_vllm_detects_is_kept_beside_our_borders(engine):
    unit = unit_of(engine)
    engine.ask(prompt([1, 2, 3, 4], 0)[0])
    tokens, ends = prompt([1, 2, 5, 6], 1)
    assert engine.ask(tokens, [ends[3]])[0] == 0
    assert engine.ask(prompt([1, 2, 7, 8], 2)[0])[0] == ends[2] // unit * unit
    assert engine.ask(prompt([1, 2, 5, 9], 3)[0])[0] == ends[3] // unit * unit


def test_prompts_that_share_documents_and_come_at_once_find_them_too(engine):
    from vllm import SamplingParams

    facts = engine.connector._borders.facts
    asked = [prompt([1, 2, 10 + 2 * i, 11 + 2 * i], i) for i in range(4)]
    wishes = [{"kv_transfer_params": {"reprise": {"borders": [ends[2]], "key": facts["key"]}}} for _, ends in asked]
    outputs = engine.llm.generate(
        [{"prompt_token_ids": tokens} for tokens, _ in asked],
        [SamplingParams(temperature=0, max_tokens=2, ignore_eos=True, extra_args=wish) for wish in wishes],
        use_tqdm=False,
    )
    shared = (SYSTEM + 2 * DOCUMENT) // facts["unit"] * facts["unit"]
    assert [output.num_cached_tokens for output in outputs] == [0, shared, shared, shared]


def test_nothing_is_left_of_ended_requests(engine):
    for i in range(3):
        tokens, ends = prompt([1, 2, 10 + i, 20 + i], i)
        engine.ask(tokens, ends[1:])
    assert engine.connector._borders._wanted == engine.connector._borders._ahead == {}
