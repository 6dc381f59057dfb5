"""Writes block hashes as the installed engine computes them.

    python record_block_hashes.py vllm|sglang   # prints the engine's part of block-hashes.fixture.json
"""

import json
import os
import sys
from array import array
from importlib.metadata import version
from types import SimpleNamespace

TOKENS = [0, 1, 23, 24, 255, 256, 65535, 65536, 151643, *range(1000, 1063)]


def record_vllm() -> dict:
    from vllm.utils.hashing import get_hash_fn_by_name
    from vllm.v1.core import kv_cache_utils as utils

    cases = []
    for algorithm, seed, salt, block_size in [
        ("sha256_cbor", None, None, 16),
        ("sha256_cbor", None, "pepper", 16),
        ("sha256_cbor", "0", None, 16),
        ("sha256_cbor", "0", "Bäume", 32),
        ("sha256_cbor", "42", "a" * 64, 8),
        ("sha256", None, None, 16),
        ("sha256", None, None, 3),
        ("sha256", None, "Bäume", 32),
        ("sha256", "0", "Bäume", 32),
        ("sha256", "42", "a" * 300, 8),
    ]:
        os.environ.pop("PYTHONHASHSEED", None)
        if seed is not None:
            os.environ["PYTHONHASHSEED"] = seed
        hash_function = get_hash_fn_by_name(algorithm)
        utils.init_none_hash(hash_function)
        hashes, before = [], None
        for start in range(0, len(TOKENS) - block_size + 1, block_size):
            request = SimpleNamespace(mm_features=[], lora_request=None, cache_salt=salt, prompt_embeds=None)
            extra, _ = utils.generate_block_hash_extra_keys(request, start, start + block_size, 0)
            before = utils.hash_block_tokens(hash_function, before, TOKENS[start : start + block_size], extra)
            hashes.append(before.hex())
        of = {"algorithm": algorithm, "seed": utils.get_none_hash_seed(), "salt": salt, "block_size": block_size}
        cases.append({**of, "tokens": TOKENS, "hashes": hashes})
    return {"version": version("vllm").split("+")[0], "cases": cases}


def record_sglang() -> dict:
    from sglang.srt.mem_cache.radix_cache import RadixKey
    from sglang.srt.mem_cache.utils import compute_node_event_hash_values, hash_str_to_int64

    cases = []
    for salt, page_size in [(None, 1), (None, 4), (None, 16), ("pepper", 16), ("Bäume", 4)]:
        root = SimpleNamespace(key=RadixKey(array("q", [])), parent=None, hash_value=None, event_hash_value=None)
        whole = len(TOKENS) // page_size * page_size
        key = RadixKey(array("q", TOKENS[:whole]), cache_salt=salt)
        node = SimpleNamespace(key=key, parent=root, hash_value=None, event_hash_value=None)
        # as text: these numbers exceed what JSON keeps exactly
        hashes = [str(hash_str_to_int64(value)) for value in compute_node_event_hash_values(node, page_size)]
        cases.append({"salt": salt, "page_size": page_size, "tokens": TOKENS, "hashes": hashes})
    return {"version": version("sglang"), "cases": cases}


if __name__ == "__main__":
    record = {"vllm": record_vllm, "sglang": record_sglang}[sys.argv[1]]
    print(json.dumps(record()))
