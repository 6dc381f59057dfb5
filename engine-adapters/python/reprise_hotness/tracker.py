"""How often and how recently each prefix was requested, evicted prefixes included (HotPrefix §3.2)."""

from collections.abc import Hashable
from dataclasses import dataclass

from reprise_hotness.formula import ADMISSION_HOTNESS, EVICTION_PRIORITY, parse_formula

# Eight bits would allow 255. By Equation 5 a new question of 60 tokens would then count as much as five requests. It
# would outlive a prefix requested three times, and a few-shot load would get fewer hits than with LRU.
MAX_AGE = 16
"""the clock of a prefix just used, unless it is set otherwise"""
REQUESTS_PER_AGE = 16
"""all clocks fall by one after this many requests"""
_CAPACITY = 1 << 19
"""prefixes in each of two generations"""


@dataclass(slots=True)
class Heat:
    """Of one prefix."""

    frequency: int = 0
    """requests that used it"""
    age: int = 0
    """the age at its last use"""


class HotnessTracker:
    """
    Maps the digest of a prefix to its heat, of prefixes that are not cached any more, too.

    Time is counted in requests: all tensor-parallel ranks see the same requests in the same order, so they compute the
    same heat. Clocks need no updates: an entry stores the age of its last use. Memory is bounded by two generations:
    when the newer is full, the older is forgotten, which holds the prefixes unused for longest.
    """

    def __init__(
        self, capacity: int = _CAPACITY, priority: str = EVICTION_PRIORITY, hotness: str = ADMISSION_HOTNESS,
        max_age: int = MAX_AGE,
    ) -> None:  # fmt: skip
        self._capacity, self.max_age = capacity, max_age
        self._priority, self._hotness = parse_formula(priority), parse_formula(hotness)
        self._recent: dict[Hashable, Heat] = {}
        self._older: dict[Hashable, Heat] = {}
        self._requests = 0

    @property
    def age(self) -> int:
        """Rises by one every `REQUESTS_PER_AGE` requests."""
        return self._requests // REQUESTS_PER_AGE

    def pass_request(self) -> bool:
        """A request has been served. Returns True if all clocks fell by one."""
        self._requests += 1
        return self._requests % REQUESTS_PER_AGE == 0

    def heat_of(self, prefix: Hashable) -> Heat:
        """Returns the heat of a prefix; none if no request has used it, or that was long ago."""
        return self._recent.get(prefix) or self._older.get(prefix) or Heat()

    def use(self, prefix: Hashable, known: Heat | None = None) -> Heat:
        """A request used a prefix. One without its own heat inherits `known`, the heat of the node it was part of."""
        heat = self._recent.get(prefix) or self._older.get(prefix) or known or Heat()
        heat.frequency += 1
        heat.age = self.age
        if len(self._recent) >= self._capacity:
            self._older, self._recent = self._recent, {}
        self._recent[prefix] = heat
        return heat

    def clock(self, heat: Heat) -> int:
        """Returns `max_age` after a use in the current age, minus one for each age since; at least 0."""
        return max(0, self.max_age - (self.age - heat.age))

    def priority(self, heat: Heat, tokens: int) -> float:
        """Equation 5, or as configured: the lowest value is evicted first."""
        return self._priority(self.clock(heat), heat.frequency, tokens)

    def hotness(self, heat: Heat, tokens: int) -> float:
        """Equation 6, or as configured: the highest value is worth a place on the host."""
        return self._hotness(self.clock(heat), heat.frequency, tokens)
