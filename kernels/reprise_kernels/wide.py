"""Numbers as int64, for offsets into tensors of more than 2^31 elements."""

import triton
import triton.language as tl


@triton.jit
def wide(number):
    """The number as int64, also where it is no tensor: an integer of 1 is a constant in a launch."""
    return tl.full((), 0, tl.int64) + number
