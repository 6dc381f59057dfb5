"""Maps vLLM's request ids to the ids that reprise gave them."""

import re

_RANDOM = re.compile(r"-[0-9a-f]{8}$")
_SAMPLE = re.compile(r"(\d+)_(?=(?:chatcmpl|cmpl)-|resp_)")
_PROMPT = re.compile(r"cmpl-(.*)-(\d+)$", re.DOTALL)
_CHAT = "chatcmpl-"


def reported_id(request_id: str, has_random_suffix: bool = True) -> str | None:
    """
    Returns the id that reprise sent as `X-Request-Id`, followed by `-1`, `-2` … for further prompts of one request.

    Returns None for further samples of a prompt (n > 1), which add nothing new. Ids that reprise did not assign are
    returned as the API shows them.
    """
    # `chatcmpl-ID-1a2b3c4d`, `cmpl-ID-0-1a2b3c4d`; samples are `0_chatcmpl-…`
    external = _RANDOM.sub("", request_id) if has_random_suffix else request_id
    sample = _SAMPLE.match(external)
    if sample:
        if int(sample[1]) > 0:
            return None
        external = external[sample.end() :]
    if external.startswith(_CHAT):
        return external[len(_CHAT) :]
    prompt = _PROMPT.match(external)
    if prompt:
        return prompt[1] if prompt[2] == "0" else f"{prompt[1]}-{prompt[2]}"
    return external
