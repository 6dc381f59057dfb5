"""question_scores against its specification, and the sums that it must give."""

import pytest
import torch
from cases import DTYPES, generator
from chunked_requests import Requests, Shape, draw_requests
from comparison import assert_close
from hypothesis import given
from hypothesis import strategies as st

from reprise_kernels.question_scores import naive_question_scores, question_scores
from reprise_kernels.sparse_prefill_attention import sparse_prefill_attention

shapes = st.builds(
    Shape,
    seed=st.integers(0, 2**32 - 1),
    page_size=st.sampled_from([16, 32]),
    kv_heads=st.sampled_from([1, 2]),
    group=st.sampled_from([1, 3, 4, 8]),
    head_dim=st.sampled_from([16, 32, 40]),
    requests=st.integers(1, 3),
    recompute=st.just(0.0),
    question=st.integers(0, 9),
)


def draw(shape: Shape, dtype: torch.dtype) -> tuple[Requests, dict[str, torch.Tensor]]:
    """Draws a batch without recomputed tokens, and the attention of its question over all keys."""
    case = draw_requests(shape, dtype)
    where = {"slot_table": case.slot_table, "kv_len": case.kv_len}
    question = {"q": case.q, "q_pos": case.q_pos, "cu_q": case.cu_q}
    _, lse = sparse_prefill_attention(**question, k=case.k, v=case.v, **where)
    return case, question | {"lse": lse, "k": case.k} | where


@pytest.mark.parametrize("dtype", DTYPES)
@given(shape=shapes, weight=st.sampled_from([1.0, 0.25]))
def test_scores_are_the_questions_mean_weights_as_specified(dtype, shape, weight):
    _, arguments = draw(shape, dtype)
    cpu = {name: tensor.cpu() for name, tensor in arguments.items()}
    scores = question_scores(**arguments, weight=weight)
    assert_close("scores", scores, naive_question_scores(**cpu, weight=weight), dtype)


@given(shape=shapes)
def test_the_scores_of_a_request_add_up_to_one_and_to_nothing_without_a_question(shape):
    _, arguments = draw(shape, torch.float32)
    sums = question_scores(**arguments).double().sum(1)
    expected = torch.full_like(sums, 1.0 if shape.question else 0.0)
    torch.testing.assert_close(sums, expected, rtol=1e-4, atol=1e-5)


@given(shape=shapes, layers=st.integers(2, 3))
def test_layers_added_one_by_one_are_their_mean(shape, layers):
    drawn = []
    for layer in range(layers):
        case, arguments = draw(shape, torch.float32)
        case.k.mul_(0.5 + layer)
        drawn.append(arguments)
    fused = torch.zeros(drawn[0]["slot_table"].shape, dtype=torch.float32, device=drawn[0]["q"].device)
    for arguments in drawn:
        assert question_scores(**arguments, weight=1 / layers, out=fused) is fused
    each = [naive_question_scores(**{name: tensor.cpu() for name, tensor in one.items()}) for one in drawn]
    assert_close("fused", fused, torch.stack(each).mean(0))


@given(shape=shapes)
def test_a_batch_is_its_requests_one_by_one(shape):
    _, arguments = draw(shape, torch.float32)
    whole = question_scores(**arguments)
    starts = arguments["cu_q"].tolist()
    for b in range(shape.requests):
        rows = slice(starts[b], starts[b + 1])
        alone = {name: arguments[name][rows] for name in ("q", "q_pos", "lse")}
        alone |= {name: arguments[name][b : b + 1] for name in ("slot_table", "kv_len")}
        alone["cu_q"] = arguments["cu_q"][b : b + 2] - starts[b]
        assert_close("scores", question_scores(**alone, k=arguments["k"]), whole[b : b + 1].double())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda given: {"lse": given["lse"].half()}, "lse is torch.float16"),
        (lambda given: {"lse": given["lse"][1:]}, "lse has shape"),
        (lambda given: {"q": given["q"][:, :3], "lse": given["lse"][:, :3]}, "q has 3 heads, k has 2"),
        (lambda given: {"slot_table": given["slot_table"][:1]}, "slot_table has shape"),
        (lambda given: {"out": torch.zeros(1, 1)}, "out has shape"),
    ],
)
def test_what_the_kernel_cannot_take_is_refused_in_one_line(change, message):
    _, arguments = draw(Shape(generator(1).initial_seed(), 16, 2, 4, 32, 2, 0.0, 3), torch.float32)
    with pytest.raises(ValueError, match=message) as refused:
        question_scores(**(arguments | change(arguments)))
    assert "\n" not in str(refused.value)
