// select_tokens in CUDA: a cluster of blocks for each request holds its scores in shared memory, each block a share of them,
// so that they are read once and found by digits that all blocks count together.
#include "../cuda/radix_select.cuh"

/// How many keys are above the threshold, and how many equal it.
struct Tally {
  int above, equal;
};

struct Shared {
  RadixScratch radix;
  Tally of_warps[MOST_WARPS];
  Tally of_block;
  unsigned keys[1]; // as many as a share has
};
static_assert(sizeof(Shared) == 3336 + sizeof(unsigned), "dispatch.py asks for so many bytes before the keys");

/// How many there are to choose, in float64 as the specification: nothing is fused, so that all round alike.
__device__ static int wanted_of(int length, double ratio, int capacity) {
  int wanted = (int)ceil(__dadd_rn(__dmul_rn(ratio, (double)length), -1e-6));
  return wanted < 0 ? 0 : wanted < capacity ? wanted : capacity;
}

/// CLUSTER blocks a request. Dynamic shared memory: `Shared` with ceil(width / CLUSTER) keys.
extern "C" __global__ void IN_CLUSTERS __launch_bounds__(1024)
    select_tokens(const float *scores, const int *lengths, int *positions, int *counts, double ratio,
                  long long stride_scores, int width, int capacity) {
  Shared &shared = *reinterpret_cast<Shared *>(shared_memory());
  int request = blockIdx.x / CLUSTER, block = blockIdx.x % CLUSTER;
  int length = lengths[request] < width ? lengths[request] : width;
  int wanted = wanted_of(length, ratio, capacity);
  int share = count_parts(length, CLUSTER), first = block * share;
  int held = first < length ? (length - first < share ? length - first : share) : 0;
  scores += request * stride_scores;
  positions += (long long)request * capacity;

  for (int i = block * blockDim.x + threadIdx.x; i < capacity - wanted; i += CLUSTER * blockDim.x)
    positions[wanted + i] = -1;
  if (block == 0 && threadIdx.x == 0) counts[request] = wanted;
  if (wanted == 0) return;

  // each thread reads no keys but its own until the threshold is found
  for (int i = threadIdx.x; i < held; i += blockDim.x) shared.keys[i] = order_preserving(scores[first + i]);
  Threshold threshold = find_threshold(shared.radix, wanted, [&](auto see) {
    for (int i = threadIdx.x; i < held; i += blockDim.x) see(shared.keys[i]);
  });

  // a piece of the share for each warp, so that all is in order: first counted, then written
  Piece piece = piece_of_warp(held);
  Tally mine = {0, 0};
  for (int start = piece.begin; start < piece.end; start += LANES) {
    int i = start + lane_of_thread();
    unsigned key = i < piece.end ? shared.keys[i] : 0;
    mine.above += __popc(__ballot_sync(ALL_LANES, i < piece.end && key > threshold.key));
    mine.equal += __popc(__ballot_sync(ALL_LANES, i < piece.end && key == threshold.key));
  }
  if (lane_of_thread() == 0) shared.of_warps[warp_of_thread()] = mine;
  __syncthreads();
  Tally before = {0, 0};
  for (int warp = 0; warp < warp_of_thread(); warp++) {
    before.above += shared.of_warps[warp].above;
    before.equal += shared.of_warps[warp].equal;
  }
  if (threadIdx.x == blockDim.x - 1) shared.of_block = {before.above + mine.above, before.equal + mine.equal};
  sync_cluster();
  for (int other = 0; other < block; other++) {
    Tally theirs = *of_block(&shared.of_block, other);
    before.above += theirs.above;
    before.equal += theirs.equal;
  }
  // a block that is gone has no shared memory to read
  sync_cluster();

  int taken = before.above + (before.equal < threshold.equals ? before.equal : threshold.equals);
  for (int start = piece.begin; start < piece.end; start += LANES) {
    int i = start + lane_of_thread();
    unsigned key = i < piece.end ? shared.keys[i] : 0;
    unsigned equal = __ballot_sync(ALL_LANES, i < piece.end && key == threshold.key);
    bool is_among_equals = (equal >> lane_of_thread()) % 2 && before.equal + bits_below(equal) < threshold.equals;
    bool is_chosen = i < piece.end && (key > threshold.key || is_among_equals);
    unsigned chosen = __ballot_sync(ALL_LANES, is_chosen);
    if (is_chosen) positions[taken + bits_below(chosen)] = first + i;
    taken += __popc(chosen);
    before.equal += __popc(equal);
  }
}
