from reprise_reuse.segments.catalogue import Catalogue
from reprise_reuse.segments.cut import cut
from reprise_reuse.segments.segment import Found, Segment
from reprise_reuse.segments.segment_index import MIN_JOINED, MIN_MATCH, MIN_STORED, Match, SegmentIndex
from reprise_reuse.segments.winnow import Grams

__all__ = [
    "MIN_JOINED", "MIN_MATCH", "MIN_STORED", "Catalogue", "Found", "Grams", "Match", "Segment", "SegmentIndex", "cut",
]  # fmt: skip
