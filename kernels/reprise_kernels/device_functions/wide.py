"""Numbers as int64, for offsets into tensors of more than 2^31 elements."""

import triton
import triton.language as tl


@triton.jit
def wide(number):
    """Returns the number as int64, even if it is not a tensor: a launch turns an integer of 1 into a constant."""
    return tl.full((), 0, tl.int64) + number
