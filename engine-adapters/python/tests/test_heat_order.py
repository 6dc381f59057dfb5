"""What may go or come, in order, without keeping what is gone."""

import gc
import weakref

import pytest

from reprise_hotness.heat_order import HeatOrder


class Prefix:
    """Something with a name, as an engine's node has."""

    def __init__(self, number: int) -> None:
        self.id = number


def test_what_is_gone_is_not_kept():
    there: set[Prefix] = set()
    order = HeatOrder(lambda one: one.id, there.__contains__)
    gone: list[weakref.ref[Prefix]] = []
    for number in range(10_000):
        one = Prefix(number)
        gone.append(weakref.ref(one))
        there.add(one)
        order.put(one)
        there.remove(one)
    del one
    gc.collect()
    assert sum(one() is not None for one in gone) < 5_000


@pytest.mark.parametrize("times", [1, 2_000])
def test_what_stays_goes_by_its_key_however_often_it_was_put(times):
    stays = [Prefix(number) for number in (3, 1, 2)]
    order = HeatOrder(lambda one: one.id, set(stays).__contains__)
    for _ in range(times):
        for one in stays:
            order.put(one)
    assert [order.pop() for _ in range(4)] == [stays[1], stays[2], stays[0], None]
