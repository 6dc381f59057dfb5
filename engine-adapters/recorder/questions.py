"""The recorded requests: small, and each shows a different part of an engine's dialect."""

from collections.abc import Iterator
from typing import Any

from exchanges import Question

MODEL = "test"
TEXT = "The ferry leaves at nine and the crossing takes two hours, dogs travel free of charge. " * 8
CHAT = [{"role": "user", "content": TEXT + "When does it arrive?"}]
TINY = {"temperature": 0, "max_tokens": 3, "model": MODEL}
SERVER_INFO = tuple(
    "version page_size max_total_num_tokens disable_radix_cache enable_cache_report radix_cache_backend "
    "kv_events_config kv_events dp_size enable_dp_attention enable_hierarchical_cache enable_lmcache enable_flexkv "
    "enable_unified_cache_external_linker".split()
)
WITH_USAGE = {"stream": True, "stream_options": {"include_usage": True}}
SAMPLES = {"n": 2, "temperature": 1, "seed": 1}


def ask_probes() -> Iterator[Question]:
    """What `reprise doctor` asks, in its order: the probes differ in what is cached when they are sent."""
    for path in ("/v1/models", "/version", "/get_model_info"):
        yield Question(f"doctor {path}", "GET", path)
    yield Question("doctor /server_info", "GET", "/server_info", keeps=SERVER_INFO)
    yield Question("doctor /metrics", "GET", "/metrics", keeps=("cache_config_info",))
    chat = {"model": MODEL, "max_tokens": 1, "temperature": 0}
    greeting = {**chat, "messages": [{"role": "user", "content": "Hi"}]}
    yield Question("doctor greeting", "POST", "/v1/chat/completions", greeting)
    probe = {**chat, "messages": [{"role": "user", "content": "Probe. " + TEXT}]}
    for name, salt in (("first", "a"), ("repeat", "a"), ("second repeat", "a"), ("other salt", "b")):
        yield Question(f"doctor {name}", "POST", "/v1/chat/completions", {**probe, "cache_salt": f"probe-{salt}"})
    rendered = {"model": MODEL, "messages": greeting["messages"]}
    yield Question("doctor render", "POST", "/v1/chat/completions/render", rendered)
    yield Question("doctor tokenize", "POST", "/tokenize", rendered)


def ask_everything(kind: str) -> Iterator[Question]:
    """Requests to all APIs, streamed and not, cached and not, and faulty requests."""
    yield Question("health", "GET", "/health")
    if kind == "sglang":
        yield Question("health by generating", "GET", "/health_generate")
    yield from _tag(kind, _ask_chats())
    yield from _tag(kind, _ask_other_apis())
    if kind == "sglang":
        yield from _ask_generate()
    yield from _ask_faults(kind)
    yield from _ask_tokens(kind)


def _tag(kind: str, questions: Iterator[tuple[str, str, Any]]) -> Iterator[Question]:
    """Tags requests as the adapters' `tagRequest` does: by a header for vLLM, in the body for SGLang."""
    for number, (name, path, body) in enumerate(questions):
        request_id = f"r-{path.removeprefix('/v1/').replace('/', '-')}-{number}"
        tagged = {**body, "rid": request_id} if kind == "sglang" else body
        yield Question(name, "POST", path, {**tagged, "cache_salt": "salt"}, request_id)


def _ask_chats() -> Iterator[tuple[str, str, Any]]:
    path = "/v1/chat/completions"
    chat = {**TINY, "messages": CHAT}
    all_along = {"stream": True, "stream_options": {"include_usage": True, "continuous_usage_stats": True}}
    yield "chat", path, chat
    yield "chat, cached", path, chat
    yield "chat, two samples", path, {**chat, **SAMPLES}
    yield "chat, streamed", path, {**chat, "stream": True}
    yield "chat, streamed with usage", path, {**chat, **WITH_USAGE}
    yield "chat, streamed two samples with usage", path, {**chat, **WITH_USAGE, **SAMPLES}
    yield "chat, streamed with usage all along", path, {**chat, **all_along}


def _ask_other_apis() -> Iterator[tuple[str, str, Any]]:
    path = "/v1/completions"
    yield "completion", path, {**TINY, "prompt": TEXT}
    yield "completion, cached", path, {**TINY, "prompt": TEXT}
    yield "completions of two prompts", path, {**TINY, "prompt": [TEXT, "Another"]}
    yield "completions of two prompts, two samples", path, {**TINY, "prompt": [TEXT, "Another"], **SAMPLES}
    yield "completion, streamed with usage", path, {**TINY, **WITH_USAGE, "prompt": TEXT}
    path = "/v1/responses"
    response = {"model": MODEL, "input": TEXT, "max_output_tokens": 3, "temperature": 0, "store": False}
    yield "response", path, response
    yield "response, cached", path, response
    yield "response, streamed", path, {**response, "stream": True}
    path = "/v1/messages"
    message = {**TINY, "messages": CHAT}
    yield "message", path, message
    yield "message, cached", path, message
    yield "message, streamed", path, {**message, "stream": True}


def _ask_generate() -> Iterator[Question]:
    sampling = {"sampling_params": {"max_new_tokens": 3, "temperature": 0}, "cache_salt": "salt"}
    one = {"text": TEXT, "rid": "r-generate-0", **sampling}
    yield Question("generate", "POST", "/generate", one)
    yield Question("generate, cached", "POST", "/generate", {**one, "rid": "r-generate-1"})
    two = {**sampling, "text": [TEXT, "Another"], "rid": "r-generate-2"}
    yield Question("generate of two prompts", "POST", "/generate", two)
    yield Question("generate, streamed", "POST", "/generate", {**one, "rid": "r-generate-3", "stream": True})
    samples = {"rid": "r-generate-4", "sampling_params": {"n": 2, "max_new_tokens": 3}}
    yield Question("generate, two samples", "POST", "/generate", {**one, **samples})


def _ask_faults(kind: str) -> Iterator[Question]:
    path = "/v1/chat/completions"
    chat = {**TINY, "messages": [{"role": "user", "content": "Hi"}]}
    # over-long prompts are token ids where the API takes them: only their number matters, whatever the tokenizer
    for name, body in {
        "too long an answer": {**chat, "max_tokens": 100_000},
        "a field of the wrong type": {**chat, "temperature": "warm"},
        "a value out of range": {**chat, "temperature": -1},
        "no messages": {"model": MODEL},
        "unknown model": {**chat, "model": "nobody"},
        "streamed, unknown model": {**chat, "model": "nobody", "stream": True},
        "streamed, too long an answer": {**chat, "max_tokens": 100_000, "stream": True},
    }.items():
        yield Question(f"fault: {name}", "POST", path, body)
    long = {**TINY, "prompt": [7] * 600}
    yield Question("fault: too long a prompt", "POST", "/v1/completions", long)
    yield Question("fault: streamed, too long a prompt", "POST", "/v1/completions", {**long, "stream": True})
    yield Question("fault: no such path", "POST", "/v1/nothing", {})
    message = {**chat, "messages": [{"role": "user", "content": TEXT * 6}]}
    yield Question("fault: too long a message", "POST", "/v1/messages", message)
    response = {"model": MODEL, "input": TEXT * 6, "max_output_tokens": 3, "store": False}
    yield Question("fault: too long a response", "POST", "/v1/responses", response)
    if kind == "sglang":
        generate = {"input_ids": [7] * 600, "sampling_params": {"max_new_tokens": 3}}
        yield Question("fault: too long a generate", "POST", "/generate", generate)
        yield Question("fault: streamed, too long a generate", "POST", "/generate", {**generate, "stream": True})


def _ask_tokens(kind: str) -> Iterator[Question]:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    chat = {"model": MODEL, "messages": messages}
    prompt = {"model": MODEL, "prompt": "Hello there"}
    two = {**prompt, "prompt": ["Hello there", "Hi"]}
    yield Question("tokens of a chat", "POST", "/tokenize", chat)
    yield Question("tokens of a prompt", "POST", "/tokenize", prompt)
    if kind == "sglang":
        yield Question("tokens of two prompts", "POST", "/tokenize", two)
        return
    yield Question("rendered chat", "POST", "/v1/chat/completions/render", chat)
    yield Question("rendered completion", "POST", "/v1/completions/render", prompt)
    yield Question("rendered completions", "POST", "/v1/completions/render", two)
    message = {**chat, "messages": messages[1:], "max_tokens": 3}
    yield Question("rendered message", "POST", "/v1/messages/render", message)
    yield Question("rendered response", "POST", "/v1/responses/render", {"model": MODEL, "input": "Hi"})
