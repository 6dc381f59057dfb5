"""Which ids SGLang's own code gives to requests, and which of them reprise can know."""

from sglang.srt.entrypoints.openai.protocol import ResponsesRequest
from sglang.srt.managers.io_struct import GenerateReqInput


def _generate(**fields: object) -> GenerateReqInput:
    request = GenerateReqInput(sampling_params={"max_new_tokens": 1}, **fields)
    request.normalize_batch_and_arguments()
    return request


def test_a_single_prompt_keeps_the_id_it_was_given_and_those_of_a_list_are_numbered() -> None:
    assert _generate(text="x", rid="r-1").rid == "r-1"
    assert _generate(text=["x", "y"], rid="r-1").rid == ["r-1_0", "r-1_1"]


def test_samples_get_ids_that_nobody_knows_before_the_answer() -> None:
    request = GenerateReqInput(text="x", rid="r-1", sampling_params={"max_new_tokens": 1, "n": 2})
    request.normalize_batch_and_arguments()
    given = {request[0].regenerate_rid() for _ in range(3)}
    assert len(given) == 3
    assert not any("r-1" in one for one in given)


def test_a_response_has_an_id_of_sglangs_own_whatever_rid_says() -> None:
    request = ResponsesRequest(model="m", input="x", rid="r-1")
    assert request.request_id.startswith("resp_")
    assert "r-1" not in request.request_id
