"""Makes a small model for a real engine to serve: a Llama with random weights and a tokenizer trained on this checkout.

    python make_test_model.py FOLDER

Needs torch, transformers and tokenizers (an engine's environment has them), but no network. The same checkout gives the
same tokenizer, and the same seed gives the same weights. The model's text is nonsense, but it computes like any Llama.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

CHECKOUT = Path(__file__).resolve().parents[3]
CORPUS = ("docs", "index", "scheduler", "proxy", "replay", "e2e", "engine-adapters")
CORPUS_BYTES = 4_000_000
VOCABULARY = 4096
POSITIONS = 16_384
BEGIN, END = "<|im_start|>", "<|im_end|>"
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def read_corpus() -> Iterator[str]:
    """Yields the checkout's prose and code in a stable order, up to `CORPUS_BYTES` characters."""
    files = sorted(
        file
        for folder in CORPUS
        for file in (CHECKOUT / folder).rglob("*")
        if file.suffix in (".md", ".ts")
    )
    left = CORPUS_BYTES
    for file in files:
        if "node_modules" in file.parts:
            continue
        text = file.read_text(errors="ignore")[:left]
        left -= len(text)
        yield text
        if left <= 0:
            return


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Trains a byte-level BPE tokenizer, so that every text can be encoded and decodes unchanged."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[BEGIN, END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(read_corpus(), trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=END, pad_token=END
    )
    fast.chat_template = CHAT_TEMPLATE
    return fast


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """Makes a model of 1.3 million parameters, with heads of size 64, which every attention backend supports."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=64,
        max_position_embeddings=POSITIONS,
        bos_token_id=tokenizer.convert_tokens_to_ids(BEGIN),
        eos_token_id=tokenizer.eos_token_id,
        tie_word_embeddings=False,
        dtype="float32",
    )
    return LlamaForCausalLM(config)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: make_test_model.py FOLDER")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer()
    tokenizer.save_pretrained(folder)
    make_model(tokenizer).save_pretrained(folder)


if __name__ == "__main__":
    main()
