"""Models that see: prompts with images are served as stock, and those without reuse, also in the same step."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from PIL import Image
from reuse_model import ReusingEngine
from reuse_prompts import DOCUMENTS, FIRST, OTHER, difference, said, tokens
from served_models import SEEING, make_served_model, options_of, start_quickly

from reprise_settings import NotSupportedError
from reprise_vllm.engine.model_parts import _check_what_images_leave
from reprise_vllm.engine.nested_forward import NestedForward, _rest_of

PAD, BEGIN, END = 512, 514, 515
SEES = {
    "prompt_token_ids": [*tokens(1, 20), BEGIN, PAD, END, *DOCUMENTS[1]],
    "multi_modal_data": {"image": Image.effect_noise((64, 64), 90).convert("RGB")},
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReusingEngine]:
    model = tmp_path_factory.mktemp("seeing")
    make_served_model(model, *SEEING["Qwen3-VL"])
    engine = start_quickly(lambda: ReusingEngine(model, {"host_bytes": 8 << 20}, **options_of("Qwen3-VL")))
    yield engine
    start_quickly(engine.core.shutdown)


@pytest.fixture(autouse=True)
def nothing_is_cached(engine: ReusingEngine) -> None:
    engine.reset()


def generate(engine: ReusingEngine, *asked: tuple[dict[str, Any], Any]) -> list[Any]:
    prompts = [{**prompt, "cache_salt": "t"} for prompt, _ in asked]
    outputs = engine.llm.generate(prompts, [engine.sampling(wish) for _, wish in asked], use_tqdm=False)
    return [output.outputs[0] for output in outputs]


def test_of_a_prompt_with_an_image_nothing_is_reused_and_nothing_stored(engine):
    engine.ask([FIRST])
    engine.counts()
    generate(engine, (SEES, None))
    counts = engine.counts()
    assert counts["stock", "multimodal"] == 1 and counts["tokens", "reused"] == 0
    assert counts["segments", "stored"] == 0


def test_an_image_and_a_reused_prompt_in_one_step_do_not_touch_each_other(engine, monkeypatch):
    (alone,) = generate(engine, (SEES, {"reuse": "off"}))
    expected = engine.ask([OTHER], {"reuse": "off"})[0]
    engine.reset()
    engine.ask([FIRST])
    # so that its rows are computed in one step, before the forward of both
    monkeypatch.setattr(engine.reuse, "_limits", engine.reuse._limits._replace(rows_per_step=4096))
    engine.counts()
    seen, read = generate(engine, (SEES, {"reuse": "off"}), ({"prompt_token_ids": OTHER}, {"reuse": 1.0}))
    assert engine.counts()["tokens", "recomputed"] > 400
    for answer, stock in ((seen, alone), (read, expected)):
        assert said(answer) == said(stock) and difference(answer, stock) < 1e-3


def test_our_forwards_give_the_model_what_vllms_runner_gives(engine, monkeypatch):
    model, kinds = engine.worker.forward._model, set()
    forward = model.forward

    def noted(**given: Any) -> Any:
        kinds.add(frozenset((name, kind_of(one)) for name, one in given.items()))
        return forward(**given)

    monkeypatch.setattr(model, "forward", noted)
    engine.ask([FIRST])
    asked, ask = [], engine.worker.forward.ask
    monkeypatch.setattr(engine.worker.forward, "ask", lambda *given: (asked.append(given), ask(*given)))
    engine.ask([OTHER], {"reuse": 0.2})
    # compiled code looks at none of this
    assert len(asked) == 1 and len(kinds) == 1


def test_what_passes_read_in_place_of_images_stays_where_it_is(engine, monkeypatch):
    """Captured passes read it there later."""
    inner, places = engine.worker.forward._model.language_model.model, set()
    read = inner.forward

    def noted(**given: Any) -> Any:
        places.update(one.data_ptr() for one in given["deepstack_input_embeds"].tensors.values())
        return read(**given)

    monkeypatch.setattr(inner, "forward", noted)
    for rows in (8, engine.worker.forward.most_rows):
        at = torch.arange(rows)
        engine.worker.forward.ask(at % 512, at, lambda layer, q, k, v, output: output.zero_())
    assert len(places) == 1


class Words(torch.nn.Module):
    """Stands for MOSS-Audio's language model."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.given = torch.nn.Embedding(16, 4), []

    def embed_input_ids(self, ids: torch.Tensor) -> torch.Tensor:
        return self.table(ids)

    def forward(self, *_: Any, inputs_embeds: Any, deepstack_input_embeds: Any = None, **__: Any) -> Any:
        self.given.append(deepstack_input_embeds)
        return inputs_embeds


def test_what_a_model_has_heard_for_a_step_is_hidden_from_ours_and_kept(monkeypatch):
    from vllm.model_executor.models.moss_audio import MossAudioModel

    monkeypatch.setattr(MossAudioModel, "__init__", torch.nn.Module.__init__)
    model = MossAudioModel()
    model.language_model, model.deepstack_input_embeds = Words(), None
    model.deepstack_audio_merger_list = torch.nn.ModuleList([torch.nn.Identity()])
    model._has_oov_mm_tokens = False
    _check_what_images_leave(model)
    forward = object.__new__(NestedForward)
    forward._model, forward._axes, forward._takes_embeddings, forward._rest = model, 0, True, _rest_of(model, 8)
    model.embed_input_ids(torch.arange(4), (torch.randn(2, 8),), is_multimodal=torch.tensor([0, 1, 1, 0]).bool())
    heard = model.deepstack_input_embeds
    assert heard is not None
    with forward._at_rest():
        model(**forward._inputs(torch.arange(3), torch.arange(3)), intermediate_tensors=None)
    assert model.language_model.given == [None] and model.deepstack_input_embeds is heard


def kind_of(given: Any) -> Any:
    return None if given is None else (given.dtype, given.dim(), given.is_contiguous())


def test_a_model_that_keeps_what_it_sees_in_a_way_that_is_not_known_is_refused():
    model = torch.nn.Module()
    _check_what_images_leave(model)
    model.deepstack_input_embeds = [torch.zeros(3)]
    with pytest.raises(NotSupportedError, match="Module keeps deepstack_input_embeds between"):
        _check_what_images_leave(model)
    model.deepstack_input_embeds_num_tokens = 0
    _check_what_images_leave(model)
    model.seen = [torch.zeros(3)]
    with pytest.raises(NotSupportedError, match="Module keeps seen between"):
        _check_what_images_leave(model)
