"""Patches beyond the mean, and what methods choose: the parts their figures depend on."""

import pytest
import torch

pytest.importorskip("transformers")

from quality.overlap import SHARE, overlaps
from quality.patches import Foretold, cut, nearest
from quality.references import METHODS
from quality.similar import Context
from quality.stored_rows import Rows
from reprise_reuse.methods import Evidence


def test_a_patch_of_the_rank_it_has_is_whole_and_one_of_less_is_nearer_than_none() -> None:
    patch = torch.rand(2, 12, 3) @ torch.rand(2, 3, 8)
    torch.testing.assert_close(cut(patch, 3), patch, atol=1e-4, rtol=1e-4)
    assert 0 < (cut(patch, 1) - patch).norm() < patch.norm()


def test_the_nearest_mix_finds_the_shares_a_goal_was_mixed_by() -> None:
    parts, shares = torch.rand(2, 3, 40), torch.rand(2, 3)
    torch.testing.assert_close(nearest(torch.einsum("lc,lcn->ln", shares, parts), parts), shares, atol=1e-2, rtol=1e-2)


def test_a_map_foretells_rows_that_follow_linearly_from_what_stands_before() -> None:
    random = torch.Generator().manual_seed(0)
    by = torch.randn(2, 6, 6, generator=random)

    def context(document: torch.Tensor) -> Context:
        before = torch.randn(2, 3, 2, generator=random)
        moved = torch.einsum("lf,lfd->ld", before.flatten(1), by).unflatten(1, (3, 2))
        rows = document + moved[:, :, None]
        return Context(Rows(rows, rows, torch.arange(20)), before, 1)

    documents = [[context(document) for _ in range(4)] for document in torch.randn(60, 2, 3, 20, 2, generator=random)]
    *known, (now, *contexts) = documents
    middle = torch.stack([one.rows.keys for one in contexts]).mean(0)
    goal = (now.rows.keys - middle).transpose(1, 2).flatten(2)
    assert (Foretold(known).patch("keys", contexts, now) - goal).norm() < 0.4 * goal.norm()


def test_cacheblend_sees_keys_that_moved_as_well_as_values() -> None:
    still = torch.zeros(2, 4)
    keys, values = (still.index_fill(1, torch.tensor([at]), by) for at, by in ((1, 4.0), (2, 3.0)))
    more = {"key_deviation": keys, "deviation": values, "context_attention": torch.ones(2, 4)}
    evidence = Evidence(None, still[0], still[0], more)
    assert METHODS["cacheblend"].score(evidence).tolist() == [0, 4, 3, 0]
    assert METHODS["kvshare"].score(evidence).tolist() == [0, 0, 3, 0]
    assert METHODS["kvshare-keys"].score(evidence).tolist() == [0, 4, 3, 0]


def test_the_ideal_choice_overlaps_with_itself_and_tokens_that_may_not_be_chosen_do_not_count() -> None:
    attention = torch.rand(3, 40)
    more = {"output_deviation": attention, "full_attention": attention.flip(1)}
    evidence = Evidence(attention, torch.zeros(40), torch.arange(40).float(), more)
    assert overlaps(evidence, "prophetkv")["ideal"] == 1
    best = torch.isin(attention[:, 10:].sum(0).topk(round(30 * SHARE)).indices, torch.arange(30))
    assert overlaps(evidence, "prophetkv", 10)["ideal"] == best.float().mean()
