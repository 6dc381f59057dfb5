"""Tests the ledger against the simplest model of it: each request's blocks, cut at the first lost one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprise_vllm.reporting.prefix_ledger import PrefixLedger

Chain = tuple[int, ...]
_chains = st.lists(st.integers(0, 2), min_size=0, max_size=5).map(tuple)
_names = st.sampled_from(["r-1", "r-2", "r-3", "r-4"])
_operations = st.lists(
    st.one_of(
        st.tuples(st.just("store"), _names, _chains),
        st.tuples(st.just("lose"), st.lists(_chains.filter(bool), max_size=4)),
        st.tuples(st.just("forget"), _names),
    ),
    max_size=30,
)


def _hashes(chain: Chain) -> list[bytes]:
    return [bytes(chain[: i + 1]) for i in range(len(chain))]


def _in_halves(chain: Chain) -> list[bytes]:
    """The hashes of each block and of its first half, which two of three blocks have in common."""
    halves = [bytes(chain[:i]) + b"half" + bytes([last // 2]) for i, last in enumerate(chain)]
    return [one for both in zip(halves, _hashes(chain), strict=True) for one in both]


@pytest.mark.parametrize(("step", "nodes_of"), [(1, _hashes), (2, _in_halves)], ids=["blocks", "halves of blocks"])
@settings(max_examples=400)
@given(operations=_operations)
def test_every_request_has_what_is_in_front_of_its_first_lost_block(operations: list[tuple], step, nodes_of) -> None:
    ledger = PrefixLedger(step)
    lengths: dict[str, int] = {}
    stored: set[bytes] = set()
    model: dict[str, list[bytes]] = {}
    for name, *arguments in operations:
        if name == "store":
            request_id, chain = arguments
            ledger.store(request_id, nodes_of(chain))
            stored.update(_hashes(chain))
            model[request_id] = _hashes(chain)
            lengths[request_id] = len(chain)
        elif name == "forget":
            ledger.forget(arguments[0])
            model.pop(arguments[0], None)
            lengths.pop(arguments[0], None)
        else:
            lost = {bytes(chain) for chain in arguments[0]}
            moved = ledger.lose([bytes(chain) for chain in arguments[0]])
            for request_id, hashes in model.items():
                kept = next((i for i, block_hash in enumerate(hashes) if block_hash in lost), len(hashes))
                assert (kept < len(hashes)) == (request_id in moved)
                model[request_id] = hashes[:kept]
            lengths |= {request_id: nodes // step for request_id, nodes in moved.items()}
        assert {name: length for name, length in lengths.items() if length} == {
            name: len(hashes) for name, hashes in model.items() if hashes
        }
    ledger.lose(stored)
    assert ledger.blocks == 0


def test_blocks_that_nobody_holds_any_more_leave_nothing_behind() -> None:
    ledger = PrefixLedger()
    for i in range(100):
        chain = [b"system", b"question-%d" % i, b"answer-%d" % i]
        ledger.store(f"r-{i}", chain)
        ledger.lose(chain[:0:-1])
    assert ledger.blocks == 1
    assert ledger.lose([b"system"]) == {f"r-{i}": 0 for i in range(100)}
    assert ledger.blocks == 0


def test_of_two_blocks_of_a_chain_lost_at_once_the_first_counts() -> None:
    for order in (1, -1):
        ledger = PrefixLedger()
        ledger.store("r-1", _hashes((1, 0, 0, 0)))
        assert ledger.lose([bytes((1,)), bytes((1, 0, 0))][::order]) == {"r-1": 0}
