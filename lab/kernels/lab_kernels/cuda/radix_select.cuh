// The k-th largest of scores that the blocks of a cluster hold together, found by its digits: what the selecting kernels
// share. As device_functions/radix_select.py has it in Triton.
#pragma once
#include "cluster.cuh"

constexpr int LANES = 32, DIGITS = 256, DIGITS_OF_A_LANE = DIGITS / LANES, MOST_WARPS = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

/// Of a block's shared memory, what the search needs.
struct RadixScratch {
  int counts[2][DIGITS];
  int totals[DIGITS];
};

/// A key that exactly `equals` of those that are wanted equal; all others that are wanted are above it.
struct Threshold {
  unsigned key;
  int equals;
};

/// Integers in the same order as the scores; the same for 0 and -0, 0 for NaN.
__device__ inline unsigned order_preserving(float score) {
  if (score != score) return 0;
  unsigned bits = __float_as_uint(score + 0.0f);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

__device__ inline int lane_of_thread() { return threadIdx.x % LANES; }
__device__ inline int warp_of_thread() { return threadIdx.x / LANES; }

__device__ inline int count_parts(int wholes, int size) { return (wholes + size - 1) / size; }

/// The units from `begin` to `end` are a warp's.
struct Piece {
  int begin, end;
};

/// This warp's piece of so many units: what each warp writes behind those before it is in order.
__device__ inline Piece piece_of_warp(int units) {
  int size = count_parts(units, blockDim.x / LANES), begin = warp_of_thread() * size;
  return {begin, begin + size < units ? begin + size : units};
}

/// How many lanes before this one have their bit set.
__device__ inline int bits_below(unsigned ballot) { return __popc(ballot & ((1u << lane_of_thread()) - 1)); }

/// The sum of the lanes' numbers up to this one, itself included.
__device__ inline int running_sum(int mine) {
  for (int distance = 1; distance < LANES; distance *= 2) {
    int other = __shfl_up_sync(ALL_LANES, mine, distance);
    if (lane_of_thread() >= distance) mine += other;
  }
  return mine;
}

/// The digit that holds the rank-th largest, of how often each is there; takes from `rank` how many are in higher digits.
/// Every warp finds it for itself.
__device__ inline unsigned digit_of_rank(const int *totals, int &rank) {
  int highest = DIGITS - 1 - DIGITS_OF_A_LANE * lane_of_thread(), mine = 0;
  for (int i = 0; i < DIGITS_OF_A_LANE; i++) mine += totals[highest - i];
  int above = running_sum(mine) - mine, digit = highest;
  bool holds = above < rank && rank <= above + mine;
  if (holds)
    while (above + totals[digit] < rank) above += totals[digit--];
  int lane = __ffs(__ballot_sync(ALL_LANES, holds)) - 1;
  rank -= __shfl_sync(ALL_LANES, above, lane);
  return __shfl_sync(ALL_LANES, digit, lane);
}

/// The rank-th largest of all keys that the cluster's threads have, a byte of it at a time from the highest.
///
/// `each_key(see)` calls `see(key)` for every key of the thread. All threads of the cluster call this, with the same rank,
/// from 1 to the number of keys.
template <class EachKey> __device__ Threshold find_threshold(RadixScratch &scratch, int rank, EachKey each_key) {
  unsigned prefix = 0;
  for (int pass = 0; pass < 4; pass++) {
    // the other blocks may still read the counts of the pass before
    int *counts = scratch.counts[pass % 2];
    for (int digit = threadIdx.x; digit < DIGITS; digit += blockDim.x) counts[digit] = 0;
    __syncthreads();
    int shift = 24 - 8 * pass;
    each_key([&](unsigned key) {
      if (pass == 0 || key >> (shift + 8) == prefix) atomicAdd(&counts[(key >> shift) % DIGITS], 1);
    });
    sync_cluster();
    for (int digit = threadIdx.x; digit < DIGITS; digit += blockDim.x) {
      int total = 0;
      for (int block = 0; block < CLUSTER; block++) total += of_block(counts, block)[digit];
      scratch.totals[digit] = total;
    }
    __syncthreads();
    prefix = prefix * DIGITS + digit_of_rank(scratch.totals, rank);
  }
  return {prefix, rank};
}
