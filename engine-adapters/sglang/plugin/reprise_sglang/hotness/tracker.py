"""How often each prefix was asked for, and how long ago: known of those that were evicted, too (HotPrefix §3.2)."""

from dataclasses import dataclass

from reprise_sglang.hotness.formula import ADMISSION_HOTNESS, EVICTION_PRIORITY, parse_formula

# Eight bits would hold 255. By Equation 5 a new question of 60 tokens would then count as much as five requests. It
# would stay while a prefix goes that was asked for three times, and a few-shot load would find less than with LRU.
MAX_AGE = 16
REQUESTS_PER_AGE = 16
"""after so many requests all clocks fall by one"""
_CAPACITY = 1 << 19
"""prefixes in each of two generations"""


@dataclass(slots=True)
class Heat:
    """Of one prefix."""

    frequency: int = 0
    """requests that asked for it"""
    age: int = 0
    """the age in which the last of them came"""


class HotnessTracker:
    """
    Heat by the digest of a prefix.

    Time is counted in requests, so every tensor-parallel rank, which sees the same requests in the same order, comes to
    the same heat. Clocks fall by themselves: an entry holds the age of its last use. Bounded: of two generations the
    older is forgotten when the newer is full, which are the prefixes that nobody asked for in the longest time.
    """

    def __init__(
        self, capacity: int = _CAPACITY, priority: str = EVICTION_PRIORITY, hotness: str = ADMISSION_HOTNESS
    ) -> None:
        self._capacity = capacity
        self._priority, self._hotness = parse_formula(priority), parse_formula(hotness)
        self._recent: dict[bytes, Heat] = {}
        self._older: dict[bytes, Heat] = {}
        self._requests = 0

    @property
    def age(self) -> int:
        """Rises by one each `REQUESTS_PER_AGE` requests."""
        return self._requests // REQUESTS_PER_AGE

    def pass_request(self) -> bool:
        """A request has been served; whether all clocks have fallen."""
        self._requests += 1
        return self._requests % REQUESTS_PER_AGE == 0

    def use(self, prefix: bytes, known: Heat | None) -> Heat:
        """A request asked for a prefix; where that has no heat of its own it has `known`, as a part of a longer one."""
        heat = self._recent.get(prefix) or self._older.get(prefix) or known or Heat()
        heat.frequency += 1
        heat.age = self.age
        if len(self._recent) >= self._capacity:
            self._older, self._recent = self._recent, {}
        self._recent[prefix] = heat
        return heat

    def clock(self, heat: Heat) -> int:
        """Returns `MAX_AGE` where it was just used, less one for each age since, 0 at least."""
        return max(0, MAX_AGE - (self.age - heat.age))

    def priority(self, heat: Heat, tokens: int) -> float:
        """Equation 5, or as configured: what is lowest is evicted first."""
        return self._priority(self.clock(heat), heat.frequency, tokens)

    def hotness(self, heat: Heat, tokens: int) -> float:
        """Equation 6, or as configured: what is highest is worth a place on the host."""
        return self._hotness(self.clock(heat), heat.frequency, tokens)
