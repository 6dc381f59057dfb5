from reprise_reuse.segments.catalogue import Catalogue, Found, Segment
from reprise_reuse.segments.cut import cut
from reprise_reuse.segments.segment_index import MIN_MATCH, Match, SegmentIndex

__all__ = ["MIN_MATCH", "Catalogue", "Found", "Match", "Segment", "SegmentIndex", "cut"]
