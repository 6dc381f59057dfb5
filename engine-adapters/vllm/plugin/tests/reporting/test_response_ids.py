"""How vLLM names the requests of its Responses API, which ignores reprise's id, checked against vLLM's own code."""

from vllm.entrypoints.openai.responses.protocol import ResponsesRequest

from reprise_vllm.reporting.step_report import reported_id


def test_a_response_has_an_id_of_vllms_own_and_its_turns_are_numbered() -> None:
    request = ResponsesRequest(model="m", input="x")
    assert request.request_id.startswith("resp_")
    # the name that `serving.py` gives the first turn, plus the engine's eight digits
    assert reported_id(f"{request.request_id}_0-0a1b2c3d") == f"{request.request_id}_0"


def test_an_id_in_the_body_is_the_only_one_that_is_taken() -> None:
    assert ResponsesRequest(model="m", input="x", request_id="mine-7").request_id == "mine-7"
