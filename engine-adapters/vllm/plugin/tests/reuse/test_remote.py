"""Segments in a shared store: found by what they hold, checked when read, and never waited for in vain."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from listening import listening

from reprise_reuse.costs import EVEN, Costs
from reprise_reuse.disk import segment_file
from reprise_reuse.disk.messages import Lookup, RemoteFile, ReuseReport, digest_of
from reprise_reuse.prompts.users import EVERYONE, PREPROCESSED
from reprise_reuse.remote import remote_segments, remote_tier, store_calls
from reprise_reuse.remote.remote_segments import RemoteSegments
from reprise_reuse.remote.remote_tier import SPARSE, RemoteTier
from reprise_reuse.segments import Catalogue, Grams, Segment
from reprise_reuse.stores.folder_store import FolderStore

LOGGER = logging.getLogger("vllm.reprise")
LENGTH = 100


class Watched(FolderStore):
    """A folder that counts what it is asked for, and fails as told."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.asked: Counter[str] = Counter()
        self.fails: Exception | None = None
        self.answers = threading.Event()
        self.answers.set()

    def get(self, keys: Sequence[str]) -> list[bytes | None]:
        self.asked["get"] += 1
        self.answers.wait(20)
        if self.fails:
            raise self.fails
        return super().get(keys)

    def put(self, key: str, value: bytes) -> None:
        self.asked["put"] += 1
        if self.fails:
            raise self.fails
        super().put(key, value)


def state_of(seed: int) -> dict[str, torch.Tensor]:
    random = torch.Generator().manual_seed(seed)
    return {
        "keys": torch.randn(2, LENGTH, 2, 4, generator=random).to(torch.bfloat16),
        "values": torch.randn(2, LENGTH, 2, 4, generator=random),
        "tokens": torch.randint(0, 30_000, (LENGTH,), generator=random, dtype=torch.int32),
    }


def file_of(seed: int, **more: Any) -> RemoteFile:
    digest = digest_of(state_of(seed)["tokens"].numpy())
    file = RemoteFile(seed, np.arange(LENGTH), b"tenant", 64, (b"one",), (b"u",), True, seed, digest, EVERYONE, 5.0)
    return replace(file, **more)


def tier(store: FolderStore, model: str = "model") -> RemoteTier:
    return connected(RemoteTier(store, lambda: model, LOGGER))


def figures_of(remote: RemoteTier) -> Counter[tuple[str, str]]:
    remote.report(report := ReuseReport())
    return report.figures


def connected(remote: RemoteTier) -> RemoteTier:
    """Waits until the store has answered for the first time: before, nobody waits for it."""
    wait_for(lambda: not remote._finding.has_failed)
    figures_of(remote)
    if isinstance(remote._store, Watched):
        remote._store.asked.clear()
    return remote


def wait_for(condition: Callable[[], Any], seconds: float = 10) -> Any:
    until = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < until
        time.sleep(0.002)
    return value


def counted(remote: RemoteTier, kind: str, take: Callable[[], object] = list) -> Counter[tuple[str, str]]:
    """Waits until something of this kind is counted. Returns everything counted until then. take: what takes answers"""
    counts: Counter[tuple[str, str]] = Counter()

    def is_there() -> bool:
        take()
        counts.update(figures_of(remote))
        return counts["remote", kind] > 0

    wait_for(is_there)
    return counts


def write(remote: RemoteTier, seed: int, kind: str = "written", **more: Any) -> None:
    if remote.has_room(file := file_of(seed, **more)):
        remote.write(file, state_of(seed))
    counted(remote, kind)


def lookup_of(seed: int, namespace: bytes = b"tenant", users: tuple[bytes, ...] = (EVERYONE, b"u")) -> Lookup:
    """Looks for a prompt in which the segment stands between other texts."""
    others = np.random.default_rng(7).integers(0, 30_000, (2, 70))
    prompt = np.concatenate([others[0], state_of(seed)["tokens"].numpy(), others[1]]).astype(np.int32)
    return Lookup(f"request {seed}", namespace, users, Grams(prompt, SPARSE).anchors(0, len(prompt))[1], 5.0, 5.0)


def found(remote: RemoteTier, lookup: Lookup) -> list[tuple[bytes, RemoteFile, np.ndarray]] | None:
    remote.look_up(lookup)
    ((request, heads),) = wait_for(remote.take_found)
    assert request == lookup.request
    return heads


def read(remote: RemoteTier, file: RemoteFile) -> dict[str, torch.Tensor] | None:
    remote.start_read(file)
    ((asked, state),) = wait_for(remote.take_read)
    assert asked is file
    return state


def rows_of(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file() and one.stat().st_size > 3000]


def heads_of(folder: Path) -> list[Path]:
    return [one for one in folder.rglob("*") if one.is_file() and one.stat().st_size <= 3000]


def test_what_one_engine_writes_another_finds_in_a_prompt_and_reads(tmp_path):
    write(tier(FolderStore(tmp_path)), 1)
    other = tier(FolderStore(tmp_path))
    ((audience, file, tokens),) = found(other, lookup_of(1))
    assert audience == EVERYONE and np.array_equal(tokens, state_of(1)["tokens"].numpy())
    assert (file.namespace, file.position, file.prefixes, file.users) == (b"tenant", 64, (b"one",), (b"u",))
    state = read(other, file_of(1))
    assert all(torch.equal(state[name], tensor) for name, tensor in state_of(1).items())
    counts = counted(other, "read")
    assert counts["remote_bytes", "read"] == rows_of(tmp_path)[0].stat().st_size
    assert counts["remote_seconds", "read"] > 0


@pytest.mark.parametrize(
    ("model", "lookup"),
    [
        ("other weights", lookup_of(1)),
        ("model", lookup_of(1, namespace=b"other tenant")),
        ("model", lookup_of(1, users=(b"v",))),
        ("model", lookup_of(2)),
    ],
)
def test_nothing_is_found_by_another_model_tenant_or_user_or_in_another_text(tmp_path, model, lookup):
    write(tier(FolderStore(tmp_path)), 1)
    assert found(tier(FolderStore(tmp_path), model), lookup) == []


def test_files_of_another_format_have_other_keys(tmp_path, monkeypatch):
    write(tier(FolderStore(tmp_path)), 1)
    monkeypatch.setattr(segment_file, "_FORMAT", 10**6)
    remote = tier(FolderStore(tmp_path))
    assert found(remote, lookup_of(1)) == [] and not figures_of(remote)["remote", "refused"]


def test_what_is_only_for_its_user_is_found_by_that_user_alone(tmp_path):
    remote = tier(FolderStore(tmp_path))
    write(remote, 1, audience=b"u")
    assert found(remote, lookup_of(1, users=(EVERYONE, b"v"))) == []
    assert [one[0] for one in found(remote, lookup_of(1))] == [b"u"]


def test_names_in_the_store_tell_nothing_about_tenants_models_and_users(tmp_path):
    write(tier(FolderStore(tmp_path)), 1)
    names = {one.name for one in tmp_path.rglob("*") if one.is_file()}
    assert names and all(len(name) == 40 and set(name) <= set("0123456789abcdef") for name in names)


def test_a_segment_is_written_once_unless_preprocessing_has_it_computed_again(tmp_path):
    write(tier(FolderStore(tmp_path)), 1)
    other = tier(FolderStore(tmp_path))
    write(other, 1, "known", prefixes=(b"other",))
    assert found(other, lookup_of(1))[0][1].prefixes == (b"one",)
    write(other, 1, prefixes=(b"one", b"two"), users=(b"", b""))
    assert found(other, lookup_of(1))[0][1].prefixes == (b"one", b"two")
    write(tier(FolderStore(tmp_path)), 1, "known", prefixes=(b"three",), users=(b"",))
    write(tier(FolderStore(tmp_path)), 1, "known", prefixes=(b"three", b"four"), users=(b"", b""))
    assert read(other, file_of(1, prefixes=(b"one", b"two"), users=(b"", b""))) is not None


def test_a_segment_that_nobody_finds_since_its_writer_was_killed_is_written_anew(tmp_path):
    remote = tier(FolderStore(tmp_path))
    write(remote, 1)
    for path in heads_of(tmp_path):
        path.unlink()
    write(remote, 1, prefixes=(b"other",))
    assert found(remote, lookup_of(1))[0][1].prefixes == (b"other",)
    assert read(remote, file_of(1, prefixes=(b"other",))) is not None


def test_a_missing_document_costs_one_lookup_until_it_is_written_or_a_minute_has_passed(tmp_path, monkeypatch):
    store = Watched(tmp_path)
    remote = tier(store)
    assert found(remote, lookup_of(1)) == found(remote, lookup_of(1)) == []
    assert store.asked["get"] == 1
    write(remote, 1)
    assert len(found(remote, lookup_of(1))) == 1
    assert found(remote, lookup_of(2)) == []
    write(tier(FolderStore(tmp_path)), 2)
    assert found(remote, lookup_of(2)) == []
    monkeypatch.setattr(remote_tier, "_ABSENT_SECONDS", 0)
    assert len(found(remote, lookup_of(2))) == 1


def damage_end(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


@pytest.mark.parametrize("damage", [damage_end, cut_short, lambda path: path.write_bytes(b"")])
@pytest.mark.parametrize("which", [rows_of, heads_of])
def test_a_damaged_value_is_refused_by_name_and_written_anew_by_the_next(tmp_path, caplog, damage, which):
    remote = tier(FolderStore(tmp_path))
    write(remote, 1)
    damaged = which(tmp_path)
    for path in damaged:
        damage(path)
    with listening(caplog):
        if which is heads_of:
            assert found(remote, lookup_of(1)) == []
        else:
            assert len(found(remote, lookup_of(1))) == 1 and read(remote, file_of(1)) is None
    assert counted(remote, "refused")["remote", "refused"] == len(damaged)
    assert all(f"{path.name} in the remote store" in caplog.text for path in damaged)
    write(remote, 1)
    assert len(found(remote, lookup_of(1))) == 1 and read(remote, file_of(1)) is not None


def test_a_value_of_another_model_or_segment_under_a_segment_s_key_is_refused(tmp_path, caplog):
    remote = tier(FolderStore(tmp_path / "store"))
    write(remote, 1)
    (path,) = rows_of(tmp_path / "store")
    for folder, seed, model, why in (
        ("a", 1, "other", "another model|other set-up|of another"),
        ("b", 2, "model", "another segment's"),
    ):
        write(tier(FolderStore(tmp_path / folder), model), seed)
        path.write_bytes(rows_of(tmp_path / folder)[0].read_bytes())
        caplog.clear()
        with listening(caplog):
            assert read(remote, file_of(1)) is None
        assert any(one in caplog.text for one in why.split("|"))
    # a description under another tenant's key
    remote = tier(FolderStore(tmp_path / "c"))
    write(remote, 1)
    mine = set(heads_of(tmp_path / "c"))
    write(remote, 1, namespace=b"other tenant")
    for ours, theirs in zip(sorted(mine), sorted({*heads_of(tmp_path / "c")} - mine), strict=True):
        theirs.write_bytes(ours.read_bytes())
    with listening(caplog):
        assert found(remote, lookup_of(1, namespace=b"other tenant")) == []
    assert "another tenant's" in caplog.text


def test_rows_that_the_store_has_evicted_are_written_anew_by_the_next_that_has_them(tmp_path):
    remote = tier(FolderStore(tmp_path))
    write(remote, 1)
    rows_of(tmp_path)[0].unlink()
    assert len(found(remote, lookup_of(1))) == 1 and read(remote, file_of(1)) is None
    counted(remote, "missing")
    write(remote, 1, prefixes=(b"other",))
    assert read(remote, file_of(1, prefixes=(b"other",))) is not None


def test_what_is_written_behind_a_renewal_is_the_model_s_that_the_engine_has_by_then(tmp_path):
    models = iter(["first", "second"])
    remote = connected(RemoteTier(FolderStore(tmp_path), lambda: next(models), LOGGER))
    write(remote, 1)
    remote.renew()
    assert found(remote, lookup_of(1)) == []
    write(remote, 2)
    for model, seed in (("first", 1), ("second", 2)):
        assert len(found(tier(FolderStore(tmp_path), model), lookup_of(seed))) == 1


def test_a_store_that_hangs_is_neither_searched_nor_waited_for_any_more_and_later_found_to_be_back(tmp_path):
    store = Watched(tmp_path)
    remote = tier(store)
    write(remote, 1)
    store.asked.clear()
    store.answers.clear()
    assert found(remote, replace(lookup_of(1), silence=0.0)) is None
    counted(remote, "failed", remote.take_found)
    assert remote._finding.has_failed and not remote._reads._breaker.has_failed
    # nobody waits for this one
    remote.look_up(lookup_of(1))
    assert remote.take_found() == [("request 1", None)]
    store.answers.set()
    wait_for(lambda: not remote._finding.has_failed)
    assert len(found(remote, lookup_of(1))) == 1


def test_before_a_store_has_answered_for_the_first_time_nobody_waits_for_it_and_it_is_tried_again(
    tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(remote_tier, "_RETRIED_SECONDS", 0.01)
    write(tier(FolderStore(tmp_path)), 1)
    store = Watched(tmp_path)
    store.fails = OSError("Connection refused")
    with listening(caplog):
        remote = RemoteTier(store, lambda: "model", LOGGER)
        remote.look_up(lookup_of(1))
        assert remote.take_found() == [("request 1", None)]
        wait_for(lambda: remote._finding.is_open and remote._writing.is_open)
        assert "the remote store is not searched until it answers again: Connection refused" in caplog.text
        store.fails = None
        connected(remote)
    assert len(found(remote, lookup_of(1))) == 1 and not remote._writing.has_failed


def test_what_a_lookup_takes_is_known_before_the_first_request(tmp_path):
    remote = RemoteTier(Watched(tmp_path), lambda: "model", LOGGER)
    counts = counted(remote, "keys")
    assert counts["remote_seconds", "lookup"] > 0


def test_a_store_that_is_gone_is_left_alone_for_a_while_and_tried_again_while_nobody_waits(tmp_path, monkeypatch):
    store = Watched(tmp_path)
    remote = tier(store)
    write(remote, 1)
    store.asked.clear()
    store.fails = OSError("Connection refused")
    for _ in range(3):
        assert read(remote, file_of(1)) is None
        counted(remote, "failed", remote.take_read)
    for _ in range(4):
        assert read(remote, file_of(1)) is None
    assert store.asked["get"] == 3
    monkeypatch.setattr(store_calls, "_PAUSE", 0.0)
    assert read(remote, file_of(1)) is None
    counted(remote, "failed", remote.take_read)
    assert store.asked["get"] == 4
    store.fails = None
    read(remote, file_of(1))
    wait_for(lambda: not remote._reads._breaker.has_failed)
    assert read(remote, file_of(1)) is not None


def test_a_full_store_is_logged_once_and_still_read(tmp_path, monkeypatch, caplog):
    store = Watched(tmp_path)
    remote = tier(store)
    write(remote, 1)
    store.asked.clear()
    store.fails = OSError(28, "No space left on device")
    with listening(caplog):
        for seed in range(2, 6):
            write(remote, seed, "unwritten")
    assert caplog.text.count("is not written to until it answers again: [Errno 28] No space left on device") == 1
    # the fourth was not tried
    assert store.asked["get"] == 3
    store.fails = None
    assert read(remote, file_of(1)) is not None
    monkeypatch.setattr(store_calls.Breaker, "is_open", False)
    write(remote, 2)


@given(st.integers(64, 512), st.integers(0, 200), st.integers(0, 200), st.integers(0, 10_000))
def test_a_prompt_has_every_anchor_of_a_segment_that_is_in_it(length, before, after, seed):
    tokens = np.random.default_rng(seed).integers(0, 50, before + length + after).astype(np.int32)
    of_segment = Grams(tokens[before : before + length].copy(), SPARSE).anchors(0, length)[1]
    of_prompt = Grams(tokens, SPARSE).anchors(0, len(tokens))[1]
    assert len(of_segment) > 0 and set(of_segment) <= set(of_prompt)


def asked_for(seed: int) -> tuple[SimpleNamespace, np.ndarray]:
    return SimpleNamespace(namespace=b"tenant", wish=SimpleNamespace(user=b"u")), state_of(seed)["tokens"].numpy()


def keys_of(tokens: np.ndarray) -> int:
    """How many keys a lookup of a prompt has: two per anchor, for everyone and for its user."""
    return 2 * len(np.unique(Grams(tokens, SPARSE).anchors(0, len(tokens))[1]))


def looked_up(segments: RemoteSegments, request: str, costs: Costs = EVEN) -> bool:
    segments.look_up(request, *asked_for(1), list, costs)
    return segments.take_orders(is_reset=False) is not None


def test_a_lookup_that_takes_longer_than_computing_is_not_begun_but_once_in_a_while(monkeypatch):
    segments = RemoteSegments(Catalogue(1000), 16, is_used=True)
    # two lookups of other prompts: what counts is how many keys they had
    figures = {
        ("remote_seconds", "lookup"): 4.0,
        ("remote", "looked_up"): 2,
        ("remote", "keys"): 4 * keys_of(asked_for(1)[1]),
    }
    segments.heard(ReuseReport(figures=Counter(figures)))
    assert not looked_up(segments, "cheap", Costs(row=0.9 / LENGTH)) and segments.order_reads(
        "cheap", [], (0, LENGTH), EVEN
    )
    assert looked_up(segments, "dear", Costs(row=1.1 / LENGTH)) and not segments.order_reads(
        "dear", [], (0, LENGTH), EVEN
    )
    with monkeypatch.context() as patch:
        patch.setattr(remote_segments, "_LOOKED_UP_AGAIN", 0.0)
        assert looked_up(segments, "a while later", Costs(row=0.9 / LENGTH))
    assert not looked_up(segments, "then", Costs(row=0.9 / LENGTH))


def test_a_store_that_has_nothing_of_what_is_asked_is_asked_only_if_that_costs_next_to_nothing():
    segments = RemoteSegments(Catalogue(1000), 16, is_used=True)
    figures = {("remote_seconds", "lookup"): 1.0, ("remote", "keys"): 2 * keys_of(asked_for(1)[1])}
    segments.heard(ReuseReport(figures=Counter(figures)))
    costs = Costs(row=1.0 / LENGTH)
    asked = 0
    while looked_up(segments, f"{asked}", costs):
        segments.heard(ReuseReport(found=[(f"{asked}", [])]))
        asked += 1
    assert 5 < asked < 50
    assert looked_up(segments, "dear", Costs(row=100.0 / LENGTH))


def test_lookups_that_a_store_did_not_answer_do_not_count_as_text_that_it_does_not_have():
    segments = RemoteSegments(Catalogue(1000), 16, is_used=True)
    figures = {("remote_seconds", "lookup"): 1.0, ("remote", "keys"): 2 * keys_of(asked_for(1)[1])}
    segments.heard(ReuseReport(figures=Counter(figures)))
    for number in range(100):
        assert looked_up(segments, f"{number}", Costs(row=1.0 / LENGTH))
        segments.heard(ReuseReport(found=[(f"{number}", None)]))
        assert segments.order_reads(f"{number}", [], (0, LENGTH), EVEN)


def test_a_request_does_not_wait_for_text_that_the_engine_s_own_cache_has():
    segments = RemoteSegments(Catalogue(1000), 16, is_used=True)
    assert looked_up(segments, "one")
    assert not segments.order_reads("one", [], (LENGTH - 64, LENGTH), EVEN)
    assert segments.order_reads("one", [], (LENGTH - 63, LENGTH), EVEN) and not segments._found


def test_what_is_read_more_slowly_than_computed_is_not_read_but_one_segment_once_in_a_while(monkeypatch):
    catalogue = Catalogue(1000)
    segments = RemoteSegments(catalogue, 16, is_used=True)
    prompt = np.concatenate([state_of(seed)["tokens"].numpy() for seed in range(3)])
    costs = Costs(row=1.0 / LENGTH)

    def reads(request: str) -> int:
        segments.look_up(request, asked_for(1)[0], prompt, list, costs)
        found = [(EVERYONE, file_of(seed), state_of(seed)["tokens"].numpy()) for seed in range(3)]
        segments.heard(ReuseReport(found=[(request, found)]))
        assert segments.order_reads(request, catalogue.find(b"tenant", prompt), (0, len(prompt)), costs)
        orders = segments.take_orders(is_reset=False)
        for one in orders.fetches:
            catalogue.drop(catalogue.get(one.name))
        return len(orders.fetches)

    assert reads("unknown") == 3
    segments.heard(
        ReuseReport(figures=Counter({("remote_seconds", "read"): 1.1, ("remote_bytes", "read"): LENGTH * 16}))
    )
    assert reads("slow") == 0
    with monkeypatch.context() as patch:
        patch.setattr(remote_segments, "_REMEMBERED", 0.0)
        assert reads("a minute later") == 1
    assert reads("then") == 0


def test_reads_at_once_take_the_time_in_which_any_is_under_way(tmp_path):
    store = Watched(tmp_path)
    remote = tier(store)
    for seed in range(4):
        write(remote, seed)
    store.asked.clear()
    store.answers.clear()
    begun = time.monotonic()
    for seed in range(4):
        remote.start_read(file_of(seed))
    wait_for(lambda: store.asked["get"] == 4)
    time.sleep(0.05)
    store.answers.set()
    states = []
    wait_for(lambda: states.extend(remote.take_read()) or len(states) == 4)
    assert 0.05 <= figures_of(remote)["remote_seconds", "read"] <= time.monotonic() - begun


def test_late_answers_do_not_keep_what_is_computed_from_being_written(tmp_path, caplog):
    store = Watched(tmp_path)
    remote = tier(store)
    store.answers.clear()
    with listening(caplog):
        for seed in range(3):
            remote.start_read(file_of(seed, seconds=0.0))
        states, counts = [], Counter()
        wait_for(
            lambda: (
                states.extend(remote.take_read())
                or counts.update(figures_of(remote))
                or counts["remote", "failed"] == 3
            )
        )
        assert len(states) == 3 and "until it answers again" not in caplog.text
    wait_for(lambda: read(remote, file_of(1, seconds=0.0)) is None and remote._reads._breaker.is_open)
    store.answers.set()
    write(remote, 1)


def test_more_calls_than_may_wait_are_answered_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(store_calls, "_MOST_WAITING", 2)
    store = Watched(tmp_path)
    remote = tier(store)
    store.answers.clear()
    for seed in range(4):
        remote.start_read(file_of(seed))
        wait_for(lambda: store.asked["get"] > seed)  # noqa: B023
    for seed in range(4, 9):
        remote.start_read(file_of(seed))
    assert [file.name for file, state in remote.take_read() if state is None] == [6, 7, 8]
    store.answers.set()


@pytest.mark.parametrize("is_answered", [True, False])
def test_a_request_that_ends_while_it_waits_leaves_nothing(is_answered):
    catalogue = Catalogue(1000)
    segments = RemoteSegments(catalogue, 16, is_used=True)
    asked, tokens = asked_for(1)
    segments.look_up("one", asked, tokens, list, EVEN)
    answer = ReuseReport(found=[("one", [(EVERYONE, file_of(1), tokens)])])
    if is_answered:
        segments.heard(answer)
        assert len(catalogue) == 1
    segments.forget("one")
    segments.heard(answer)
    assert len(catalogue) == 0 and segments.order_reads("one", [], (0, LENGTH), EVEN)


def test_where_host_memory_has_no_room_nothing_is_read():
    catalogue = Catalogue(LENGTH - 1)
    segments = RemoteSegments(catalogue, 16, is_used=True)
    asked, tokens = asked_for(1)
    segments.look_up("one", asked, tokens, list, EVEN)
    segments.take_orders(is_reset=False)
    segments.heard(ReuseReport(found=[("one", [(EVERYONE, file_of(1), tokens)])]))
    assert segments.order_reads("one", catalogue.find(b"tenant", tokens), (0, LENGTH), EVEN)
    assert segments.take_orders(is_reset=False) is None and len(catalogue) == 0


def added(catalogue: Catalogue, count: int, user: bytes) -> list[Segment]:
    """Segments of LENGTH tokens in host memory."""
    tokens = [state_of(seed)["tokens"].numpy() for seed in range(count)]
    return [catalogue.add(b"tenant", one, 64, b"one", is_exact=True, user=user) for one in tokens]


def written(segments: RemoteSegments) -> list[int]:
    orders = segments.take_orders(is_reset=False)
    return [one.name for one in orders.writes] if orders else []


def test_a_step_copies_few_segments_and_later_ones_the_rest(monkeypatch):
    monkeypatch.setattr(remote_segments, "_COPIED", 2 * LENGTH * 16)
    catalogue = Catalogue(10 * LENGTH)
    segments = RemoteSegments(catalogue, 16, is_used=True)
    all_ = added(catalogue, 5, b"u")
    for _ in range(2):
        segments.share([(one, EVERYONE, False) for one in all_])
    assert [one.name for one in all_] == [name for _ in range(3) for name in written(segments)]
    assert written(segments) == [] and all(one.audience == EVERYONE for one in all_)
    segments.share([(one, EVERYONE, False) for one in all_])
    assert written(segments) == []


def test_what_preprocessing_computes_is_written_in_its_step(monkeypatch):
    monkeypatch.setattr(remote_segments, "_COPIED", 1)
    catalogue = Catalogue(10 * LENGTH)
    segments = RemoteSegments(catalogue, 16, is_used=True)
    segments.share([(one, EVERYONE, True) for one in added(catalogue, 3, PREPROCESSED)])
    assert len(written(segments)) == 3


def test_what_was_not_written_is_written_when_it_is_asked_for_again():
    catalogue = Catalogue(10 * LENGTH)
    segments = RemoteSegments(catalogue, 16, is_used=True)
    (segment,) = added(catalogue, 1, b"u")
    segments.share([(segment, EVERYONE, False)])
    assert written(segments) == [segment.name]
    segments.heard(ReuseReport(unshared={segment.name, 12345}))
    segments.share([(segment, EVERYONE, False)])
    assert written(segments) == [segment.name]


def test_what_nobody_would_read_is_not_written_unless_it_was_preprocessed(monkeypatch):
    catalogue = Catalogue(10 * LENGTH)
    segments = RemoteSegments(catalogue, 16, is_used=True)
    asked_again, preprocessed = added(catalogue, 1, b"u") + added(catalogue, 1, PREPROCESSED)
    assert looked_up(segments, "one", Costs(row=1.0 / LENGTH))
    slow = {("remote_seconds", "read"): 1.1, ("remote_bytes", "read"): LENGTH * 16}
    segments.heard(ReuseReport(figures=Counter(slow)))
    for one in (asked_again, preprocessed):
        segments.share([(one, EVERYONE, False)])
    assert written(segments) == [preprocessed.name]
    with monkeypatch.context() as patch:
        # a minute later
        patch.setattr(remote_segments, "_REMEMBERED", 0.0)
        other = added(catalogue, 2, b"u")[1]
        segments.share([(other, EVERYONE, False)])
        assert written(segments) == [other.name]
    fast = {("remote_seconds", "read"): 0.1, ("remote_bytes", "read"): LENGTH * 16}
    segments.heard(ReuseReport(figures=Counter(fast)))
    segments.share([(asked_again, EVERYONE, False)])
    assert written(segments) == [asked_again.name]
