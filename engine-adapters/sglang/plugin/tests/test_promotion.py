"""Hot nodes on the host replace cold ones on the GPU, and the next prefill waits for the copies."""

import random
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
import torch
from copied_host import HostedCache, hosted_caches
from hypothesis import given, settings
from hypothesis import strategies as st
from mirror_double import MirrorDouble
from scheduled_cache import build_context
from sglang.srt.mem_cache.base_prefix_cache import EvictParams
from sglang.srt.mem_cache.radix_cache import RadixKey

from reprise_sglang.create_cache import create_cache
from reprise_sglang.hotness.hot_radix_cache import HotRadixCache
from reprise_sglang.hotness.promotion import Limits, plan_promotions
from reprise_sglang.hotness.settings import HotnessSettingError
from reprise_sglang.reporting.cache_reporter import CacheReporter

HOT = {"REPRISE_EVICTION": "hotprefix", "REPRISE_ADMISSION_FREQUENCY": "2"}
ON = HOT | {"REPRISE_PROMOTION_TOKENS": "4096"}


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., HostedCache]]:
    with hosted_caches(monkeypatch) as build:
        yield build


def prompt(task: int, question: int, shared: int = 16, own: int = 4) -> list[int]:
    return [*(1000 * task + i for i in range(shared)), *(10**6 + 100 * question + i for i in range(own))]


def rows(served: HostedCache, tokens: list[int]) -> torch.Tensor:
    """Returns the GPU's rows for the cached prefix of a prompt."""
    length, node, *_ = served.cache.tree_core.match_full_device_prefix(RadixKey(array("q", tokens), None))
    pool = served.cache.token_to_kv_pool_allocator.get_kvcache()
    return pool.k_buffer[0][served.cache.path_device_indices(node)[:length].long()].clone()


def common_length(asked: list[int], held: list[int], length: int) -> int:
    """Returns how much of a prompt is shared with a request that holds `length` tokens, in whole pages."""
    same = next(
        (i for i, (a, b) in enumerate(zip(asked, held[:length], strict=False)) if a != b), min(len(asked), length)
    )
    return same - same % 4


def demote_hot_task(served: HostedCache) -> torch.Tensor:
    """Leaves a task that was requested four times only on the host. Returns its rows."""
    for question in range(4):
        served.serve(f"hot-{question}", prompt(1, question))
    pool = served.cache.token_to_kv_pool_allocator.get_kvcache()
    pool.k_buffer[0].copy_(torch.arange(pool.k_buffer[0].numel()).reshape(pool.k_buffer[0].shape))
    kept = rows(served, prompt(1, 0))[:16]
    served.cache.evict(EvictParams(num_tokens=1 << 20))
    assert served.cached_length(prompt(1, 0)) == 0
    pool.k_buffer[0].zero_()
    return kept


@pytest.mark.parametrize("name", ["_plan", "_free_tokens", "_is_admitted"])
def test_a_fault_is_not_the_engines(build, monkeypatch, name):
    served = build(**ON)
    monkeypatch.setattr(HotRadixCache, name, lambda *arguments: 1 / 0)
    demote_hot_task(served)
    served.serve("next", prompt(2, 0))
    served.cache.check_hicache_events()
    served.serve("hot", prompt(1, 9))
    assert served.cached_length(prompt(1, 9)) == 20


def test_the_engine_goes_on_after_no_copy_that_did_not_begin(build, monkeypatch):
    served = build(**ON)
    demote_hot_task(served)
    served.serve("once", prompt(2, 50))
    monkeypatch.setattr(served.link, "submit_host_to_device", lambda *given, **named: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        served.step()


def test_what_is_hot_on_the_host_comes_up_after_a_prefill(build):
    served = build(**ON)
    kept = demote_hot_task(served)
    served.serve("once", prompt(2, 50))
    served.step()
    assert served.link.submitted == [16]
    assert served.cached_length(prompt(1, 0)) == 16
    served.link.finish()
    assert torch.equal(rows(served, prompt(1, 0)), kept)
    served.step()
    served.cache.sanity_check()
    # no prefill since then
    served.step()
    assert served.link.submitted == [16]


def test_off_nothing_comes_up(build):
    served = build(**HOT)
    demote_hot_task(served)
    served.serve("once", prompt(2, 50))
    served.step()
    assert served.link.submitted == []
    assert served.cache.ready_to_load_host_cache() == -1
    assert served.cache.hot_component.host is None


def test_the_next_prefill_waits_for_it(build):
    served = build(**ON)
    demote_hot_task(served)
    served.serve("once", prompt(2, 50))
    assert served.cache.ready_to_load_host_cache() == -1
    served.step()
    slot = served.cache.ready_to_load_host_cache()
    assert slot >= 0 and not served.cache.is_load_back_event_done(slot)
    # the same for all prefills until SGLang has seen, on all ranks together, that the copies are done
    served.link.finish()
    assert served.cache.ready_to_load_host_cache() == slot
    served.step()
    assert served.cache.ready_to_load_host_cache() == -1


def test_a_prefill_with_copies_of_its_own_waits_for_these_which_come_later(build):
    served = build(pool_tokens=96, **(HOT | {"REPRISE_PROMOTION_TOKENS": "16"}))
    for question in range(2):
        served.serve(f"cold-{question}", prompt(3, question))
    demote_hot_task(served)
    served.serve("once", prompt(2, 50))
    served.step()
    promotion = served.cache.ready_to_load_host_cache()
    cold = next(node for node in served.on_host() if served.cache.tree_core.node_by_id(node).key.token_ids[0] == 3000)
    assert served.cache.load_back(cold)
    slot = served.cache.ready_to_load_host_cache()
    assert slot >= 0 and slot != promotion
    assert served.link.submitted == [16, 16]
    served.link.finish()
    served.step()
    served.cache.sanity_check()


def test_one_promotion_at_a_time(build):
    served = build(pool_tokens=96, **ON)
    demote_hot_task(served)
    served.serve("once", prompt(2, 50))
    served.step()
    for question in range(3):
        served.serve(f"more-{question}", prompt(4, 60 + question))
    # its copies are not done: promotion of what was prefilled has to wait
    served.step()
    assert len(served.link.submitted) == 1


def test_all_of_a_plan_is_one_operation(build):
    served = build(pool_tokens=128, **ON)
    for task in (1, 2):
        for question in range(3):
            served.serve(f"hot-{task}-{question}", prompt(task, 10 * task + question))
    served.cache.evict(EvictParams(num_tokens=1 << 20))
    served.serve("once", prompt(5, 50))
    served.step()
    # copies bind at most half of what can be evicted
    served.link.finish()
    served.step()
    for i in range(4):
        served.serve(f"junk-{i}", prompt(6 + i, 70 + i))
    served.step()
    assert served.link.submitted[-1] % 16 == 0
    assert served.cached_length(prompt(1, 99)) == served.cached_length(prompt(2, 99)) == 16


def test_what_comes_up_takes_the_place_of_what_is_colder(build):
    served = build(**ON)
    demote_hot_task(served)
    for i in range(3):
        served.serve(f"cold-{i}", prompt(2 + i, 50 + i))
    free = served.free_tokens
    before = served.cache.token_to_kv_pool_allocator.available_size()
    assert before < 16
    served.step()
    assert served.link.submitted == [16]
    # two cold prompts of 20 tokens each were evicted for 16, and not to the host
    assert sum(served.cached_length(prompt(2 + i, 50 + i)) > 0 for i in range(3)) == 2
    served.link.finish()
    served.step()
    assert served.free_tokens == free
    served.cache.sanity_check()


def test_reprise_is_told_of_what_comes_up(build):
    served = build(**ON)
    mirror = MirrorDouble()
    served.cache.report_to(CacheReporter(mirror))
    demote_hot_task(served)
    assert mirror.lengths == {}
    served.serve("once", prompt(2, 50))
    served.step()
    assert {length for request, length in mirror.lengths.items() if request.startswith("hot-")} == {16}
    assert mirror.lengths["once"] == 20
    served.link.finish()
    served.step()
    served.cache.evict(EvictParams(num_tokens=1 << 20))
    assert mirror.lengths == {}


def test_the_budget_is_the_operators(build):
    served = build(**(HOT | {"REPRISE_PROMOTION_TOKENS": "12"}))
    demote_hot_task(served)
    served.serve("once", prompt(2, 50))
    served.step()
    assert served.link.submitted == []


def test_the_server_does_not_start_where_it_cannot_be(monkeypatch, build):
    for name, value in ON.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(HotnessSettingError, match="--enable-hierarchical-cache"):
        create_cache(build_context("rust"))


@dataclass(eq=False)
class Node:
    """The part of SGLang's nodes that a plan looks at."""

    id: int
    hotness: int
    tokens: int
    parent: "Node | None" = None
    evicted: bool = False
    load_back_pending_id: int | None = None
    key: range = field(init=False)

    def __post_init__(self) -> None:
        self.key = range(self.tokens)


class Sorted:
    """Both sides of a plan, by exhaustive search."""

    def __init__(self, nodes: list[Node], sign: int) -> None:
        self.nodes, self._sign = list(nodes), sign

    def pop(self) -> Node | None:
        found = min(self.nodes, key=lambda node: (self._sign * node.hotness, node.id), default=None)
        if found is not None:
            self.nodes.remove(found)
        return found

    pop_hottest = pop_coldest = pop

    def put(self, node: Node) -> None:
        self.nodes.append(node)

    put_back = put


def algorithm_2(host: list[Node], device: list[Node], limits: Limits) -> list[tuple[int, list[int]]]:
    """The paper's algorithm, with the budget."""
    plan: list[tuple[int, list[int]]] = []
    budget, free = limits.most, limits.free
    gone: set[int] = set()
    parents: set[int] = set()
    for x in sorted(host, key=lambda node: (-node.hotness, node.id)):
        if x.parent.evicted or x.parent.id in gone or not limits.least <= x.tokens <= budget:
            continue
        room, chosen = free, []
        for z in sorted(device, key=lambda node: (node.hotness, node.id)):
            if room >= x.tokens or z.hotness >= x.hotness:
                break
            if z.id in gone or z.id in parents or z is x.parent:
                continue
            chosen.append(z.id)
            room += z.tokens
        if room >= x.tokens:
            plan.append((x.id, chosen))
            gone.update(chosen)
            parents.add(x.parent.id)
            free, budget = room - x.tokens, budget - x.tokens
    return plan


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 10**9), size=st.integers(1, 12))
def test_a_plan_is_that_of_algorithm_2(seed, size):
    random_ = random.Random(seed)
    root = Node(0, 99, 0)
    device = [Node(i, random_.randrange(12), random_.randrange(1, 6), root) for i in range(1, size + 1)]
    host: list[Node] = []
    for i in range(size):
        parent = random_.choice([root, *device, *host])
        host.append(Node(100 + i, random_.randrange(parent.hotness + 1), random_.randrange(1, 6), parent, True))
    limits = Limits(random_.randrange(1, 20), random_.randrange(1, 3), random_.randrange(4))
    up, down = Sorted(host, -1), Sorted(device, 1)
    plan = plan_promotions(up, down, lambda node: node.hotness, limits)
    assert [(each.node.id, [leaf.id for leaf in each.leaves]) for each in plan] == algorithm_2(host, device, limits)
    planned = {each.node.id for each in plan} | {leaf.id for each in plan for leaf in each.leaves}
    # what is not planned stays for the next plan
    assert {node.id for node in [*up.nodes, *down.nodes]} == {node.id for node in [*host, *device]} - planned


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), policy=st.sampled_from(["write_back", "write_through"]))
def test_whatever_is_promoted_the_tree_is_sound_and_holds_its_own_rows(seed, policy):
    """Every cached token has the row computed for it, wherever it was in the meantime."""
    with pytest.MonkeyPatch.context() as patch, hosted_caches(patch, policy) as build:
        served = build(pool_tokens=96, **ON)
        mirror = MirrorDouble()
        served.cache.report_to(CacheReporter(mirror))
        prompts: dict[str, list[int]] = {}
        pool = served.cache.token_to_kv_pool_allocator.get_kvcache()
        random_ = random.Random(seed)
        for i in range(60):
            tokens = prompt(random_.choice([1, 1, 1, 2, 2, 3, 4, 5]), random_.randrange(30))
            # the scheduler makes a request wait while copies bind what it needs: two steps are enough
            for _ in range(2):
                if served.free_tokens < len(tokens) + 8:
                    served.link.finish()
                    served.step()
            running = served.start(f"r-{i}", tokens)
            req = running.req
            places = served.cache.req_to_token_pool.req_to_token[req.kv.req_pool_idx][: len(tokens)].long()
            found = req.prefix_len
            served.link.finish()
            expected = torch.tensor(tokens, dtype=torch.float32)
            assert torch.equal(pool.k_buffer[0][places[:found], 0, 0], expected[:found])
            pool.k_buffer[0][places, 0, 0] = expected
            served.first_token(running, 9001)
            served.finish(running)
            prompts[f"r-{i}"] = tokens
            if random_.random() < 0.7:
                served.step()
            for asked in prompts.values():
                believed = max((common_length(asked, prompts[id_], length) for id_, length in mirror.lengths.items()))
                assert believed == served.cached_length(asked)
            if random_.random() < 0.5:
                served.link.finish()
        served.link.finish()
        served.step()
        served.cache.sanity_check()
