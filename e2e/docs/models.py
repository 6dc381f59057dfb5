"""Asks a proxy for two models and an embedder with three frameworks; prints what answered, as JSON.

usage: models.py URL
"""

import json
import sys

from haystack.components.embedders import OpenAITextEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.utils import Secret
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from llama_index.core.llms import ChatMessage as LlamaMessage
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike

url = f"{sys.argv[1]}/v1"
key = Secret.from_token("none")
embedder = {"model": "embedder"}


def langchain(model: str) -> str:
    return ChatOpenAI(base_url=url, api_key="none", model=model).invoke("Hello").response_metadata["model_name"]


def llama_index(model: str) -> str:
    llm = OpenAILike(api_base=url, api_key="none", model=model, is_chat_model=True, context_window=32768)
    return llm.chat([LlamaMessage("Hello")]).raw.model


def haystack(model: str) -> str:
    llm = OpenAIChatGenerator(model=model, api_base_url=url, api_key=key)
    return llm.run([ChatMessage.from_user("Hello")])["replies"][0].meta["model"]


embed = {
    "LangChain": OpenAIEmbeddings(base_url=url, api_key="none", check_embedding_ctx_length=False, **embedder).embed_query,
    "LlamaIndex": OpenAILikeEmbedding(model_name="embedder", api_base=url, api_key="none").get_text_embedding,
    "Haystack": lambda text: OpenAITextEmbedder(api_base_url=url, api_key=key, **embedder).run(text)["embedding"],
}
chat = {"LangChain": langchain, "LlamaIndex": llama_index, "Haystack": haystack}
print(json.dumps({name: [ask("big"), ask("small"), embed[name]("Hello")] for name, ask in chat.items()}))
