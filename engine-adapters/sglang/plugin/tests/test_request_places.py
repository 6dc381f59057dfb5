"""Where requests are in the tree, from facts alone."""

from reprise_callbacks import Cleared
from reprise_sglang.reporting.cache_reporter import ROOT, Anchored, Evicted
from reprise_sglang.reporting.request_places import RequestPlaces


def tell(places: RequestPlaces, *facts: Anchored | Evicted | Cleared) -> list[tuple[str, str, int]]:
    return [change[:3] for change in places.translate(facts) if not isinstance(change, Cleared)]


def test_an_id_that_is_used_again_stands_only_where_it_was_last() -> None:
    places = RequestPlaces()
    tell(places, Anchored("r-1", 5, 32), Anchored("r-1", 7, 16))
    assert tell(places, Evicted(5, 4, 16)) == []
    assert tell(places, Evicted(7, ROOT, ROOT)) == [("evicted", "r-1", 0)]


def test_requests_that_fell_back_fall_on_with_those_who_stood_there() -> None:
    places = RequestPlaces()
    tell(places, Anchored("deep", 9, 48), Anchored("shallow", 5, 16))
    assert tell(places, Evicted(9, 5, 16)) == [("evicted", "deep", 16)]
    assert sorted(tell(places, Evicted(5, ROOT, ROOT))) == [("evicted", "deep", 0), ("evicted", "shallow", 0)]
    assert places.requests == 0


def test_a_node_nobody_stands_at_is_evicted_silently() -> None:
    assert tell(RequestPlaces(), Evicted(5, 4, 16)) == []


def test_a_forgotten_request_is_not_told_of() -> None:
    places = RequestPlaces()
    tell(places, Anchored("r-1", 5, 32), Anchored("r-2", 5, 32))
    places.forget("r-1")
    places.forget("unknown")
    assert tell(places, Evicted(5, ROOT, ROOT)) == [("evicted", "r-2", 0)]


def test_nodes_of_a_cleared_tree_mean_nothing_to_the_next() -> None:
    places = RequestPlaces()
    # after a reset, a tree may reuse the name of an earlier node
    assert tell(places, Anchored("r-1", 5, 32), Cleared(), Evicted(5, ROOT, ROOT)) == [("stored", "r-1", 32)]
    assert tell(places, Anchored("r-2", 5, 16), Evicted(5, ROOT, ROOT)) == [
        ("stored", "r-2", 16),
        ("evicted", "r-2", 0),
    ]
