"""The Triton kernel of generation_uncertainty."""

import triton
import triton.language as tl


@triton.jit
def generation_uncertainty_kernel(
    Logits, State, Entropy, Page, Triggered, stride_logits, vocabulary, page_size, max_entropy, max_varentropy,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """One program per request: the next token's entropy in one pass over the logits, then its page's sums."""
    request = tl.program_id(0).to(tl.int64)
    logits = Logits + request * stride_logits
    block = tl.arange(0, BLOCK)
    # each lane keeps its own sums; they are combined only at the end
    highest = tl.full((BLOCK,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    weighted = tl.zeros((BLOCK,), tl.float32)
    for start in tl.range(0, vocabulary, BLOCK):
        logit = tl.load(logits + start + block, mask=start + block < vocabulary, other=float("-inf")).to(tl.float32)
        new_highest = tl.maximum(highest, logit)
        base = tl.where(new_highest == float("-inf"), 0.0, new_highest)
        shrink, weight = tl.exp(highest - base), tl.exp(logit - base)
        # the sums are over logit - highest, which is small where the weights are large
        moved = tl.where(highest == float("-inf"), 0.0, highest - base)
        apart = tl.where(logit == float("-inf"), 0.0, logit - base)
        weighted = (weighted + total * moved) * shrink + weight * apart
        total = total * shrink + weight
        highest = new_highest
    top = tl.max(highest, 0)
    moved = tl.where(highest == float("-inf"), 0.0, highest - top)
    shrink = tl.where(highest == float("-inf"), 0.0, tl.exp(moved))
    whole = tl.sum(total * shrink, 0)
    entropy = tl.log(whole) - tl.sum((weighted + total * moved) * shrink, 0) / whole
    tl.store(Entropy + request, entropy)

    # Welford's update: count, mean, sum of squared differences
    state = State + request * 3
    count = tl.load(state) + 1.0
    mean = tl.load(state + 1)
    squares = tl.load(state + 2)
    difference = entropy - mean
    mean += difference / count
    squares += difference * (entropy - mean)
    full = count >= page_size
    variance = squares / count
    tl.store(state, tl.where(full, 0.0, count))
    tl.store(state + 1, tl.where(full, 0.0, mean))
    tl.store(state + 2, tl.where(full, 0.0, squares))
    tl.store(Page + request * 2, tl.where(full, mean, float("nan")))
    tl.store(Page + request * 2 + 1, tl.where(full, variance, float("nan")))
    tl.store(Triggered + request, (full & (mean > max_entropy) & (variance > max_varentropy)).to(tl.int32))
