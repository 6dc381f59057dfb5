// The selection of hierarchical_select in CUDA: one block a request, all of whose scores lie in shared memory.
#include "../cuda/radix_select.cuh"

/// Grids, chunks or pages: a score and whether it is kept, or may still be.
struct Level {
  float *scores;
  unsigned char *kept;
  int size;
};

struct Shared {
  RadixScratch radix;
  int counted;
  int of_warps[MOST_WARPS];
  float scores[1]; // of all pages, chunks and grids, then a byte for each of them
};
static_assert(sizeof(Shared) == 3204 + sizeof(float), "dispatch.py asks for so many bytes before the scores");

/// The scores of a level: means of those below it. All of it may be kept.
__device__ static void take_means(Level level, Level below, int members) {
  for (int i = threadIdx.x; i < level.size; i += blockDim.x) {
    int first = i * members, last = first + members < below.size ? first + members : below.size;
    float total = 0;
    for (int member = first; member < last; member++) total += below.scores[member];
    level.scores[i] = total / (float)(last - first);
    level.kept[i] = 1;
  }
  __syncthreads();
}

/// Up to so many units are ranked by counting, which needs no barriers between passes; its work grows with their square.
constexpr int FEW = 256;
static_assert(FEW <= LANES * 32, "a thread has a bit for each of its units, and a block a warp at least");

/// Keeps of what may be kept what has fewer than `rank` counted keys above it: the key of that rank, or a larger one.
template <class IsCounted, class KeyOf>
__device__ static void keep_by_counting(Level level, int rank, IsCounted is_counted, KeyOf key_of) {
  // all look before any writes
  unsigned kept = 0, bit = 1;
  for (int i = threadIdx.x; i < level.size; i += blockDim.x, bit <<= 1) {
    if (!level.kept[i]) continue;
    unsigned key = key_of(i);
    int above = 0;
    for (int other = 0; other < level.size; other++) above += is_counted(other) && key_of(other) > key;
    if (above < rank) kept |= bit;
  }
  __syncthreads();
  bit = 1;
  for (int i = threadIdx.x; i < level.size; i += blockDim.x, bit <<= 1) level.kept[i] = (kept & bit) != 0;
  __syncthreads();
}

/// Keeps of what may be kept what reaches the score of rank ceil(dropped (n - 1)), `dropped` in millionths: exactly.
/// Those n are all of the level, with a score of 0 where they may not be kept; or, among the active, just these.
__device__ static void keep_best(Shared &shared, Level level, int dropped, bool among_active) {
  if (threadIdx.x == 0) shared.counted = 0;
  __syncthreads();
  int mine = 0;
  for (int i = threadIdx.x; i < level.size; i += blockDim.x) mine += !among_active || level.kept[i];
  if (mine > 0) atomicAdd(&shared.counted, mine);
  __syncthreads();
  int counted = shared.counted;
  if (counted == 0) return;
  int from_below = (int)(((long long)(counted - 1) * dropped + 999999) / 1000000);
  auto is_counted = [&](int i) { return level.kept[i] || !among_active; };
  auto key_of = [&](int i) { return order_preserving(level.kept[i] ? level.scores[i] : 0.0f); };
  if (level.size <= FEW) {
    keep_by_counting(level, counted - from_below, is_counted, key_of);
    return;
  }
  Threshold threshold = find_threshold(shared.radix, counted - from_below, [&](auto see) {
    for (int i = threadIdx.x; i < level.size; i += blockDim.x)
      if (is_counted(i)) see(key_of(i));
  });
  for (int i = threadIdx.x; i < level.size; i += blockDim.x)
    level.kept[i] = level.kept[i] && order_preserving(level.scores[i]) >= threshold.key;
  __syncthreads();
}

/// What is below something that is not kept may not be kept.
__device__ static void hand_down(Level level, Level below, int members) {
  for (int i = threadIdx.x; i < below.size; i += blockDim.x) below.kept[i] = level.kept[i / members];
}

/// One block a request. Dynamic shared memory: `Shared`, with 5 bytes for each of `width` pages, their chunks and grids.
extern "C" __global__ void __launch_bounds__(1024)
    hierarchical_select(const float *page_scores, const int *page_counts, int *chosen, int *counts, int width, int sinks,
                        int recent, int drop_grids, int drop_chunks, int drop_pages, int pages_of_chunk,
                        int chunks_of_grid, int among_active) {
  Shared &shared = *reinterpret_cast<Shared *>(shared_memory());
  int count = page_counts[blockIdx.x] < width ? page_counts[blockIdx.x] : width;
  int candidates = count > recent ? count - recent : 0;
  page_scores += (long long)blockIdx.x * width;
  chosen += (long long)blockIdx.x * width;

  int chunk_count = count_parts(candidates, pages_of_chunk), grid_count = count_parts(chunk_count, chunks_of_grid);
  auto *flags = reinterpret_cast<unsigned char *>(shared.scores + candidates + chunk_count + grid_count);
  Level pages = {shared.scores, flags, candidates};
  Level chunks = {pages.scores + candidates, pages.kept + candidates, chunk_count};
  Level grids = {chunks.scores + chunk_count, chunks.kept + chunk_count, grid_count};

  for (int i = threadIdx.x; i < candidates; i += blockDim.x) pages.scores[i] = page_scores[i];
  __syncthreads();
  take_means(chunks, pages, pages_of_chunk);
  take_means(grids, chunks, chunks_of_grid);
  keep_best(shared, grids, drop_grids, among_active);
  hand_down(grids, chunks, chunks_of_grid);
  keep_best(shared, chunks, drop_chunks, among_active);
  hand_down(chunks, pages, pages_of_chunk);
  keep_best(shared, pages, drop_pages, among_active);

  // a piece for each warp, so that all is in order: first counted, then written
  auto is_kept = [&](int page) {
    return page < count && (page < sinks || page >= candidates || pages.kept[page]);
  };
  int warps = blockDim.x / LANES;
  Piece piece = piece_of_warp(count);
  int mine = 0;
  for (int start = piece.begin; start < piece.end; start += LANES) {
    int page = start + lane_of_thread();
    mine += __popc(__ballot_sync(ALL_LANES, page < piece.end && is_kept(page)));
  }
  if (lane_of_thread() == 0) shared.of_warps[warp_of_thread()] = mine;
  __syncthreads();
  int taken = 0, total = 0;
  for (int warp = 0; warp < warps; warp++) {
    if (warp < warp_of_thread()) taken += shared.of_warps[warp];
    total += shared.of_warps[warp];
  }
  for (int start = piece.begin; start < piece.end; start += LANES) {
    int page = start + lane_of_thread();
    bool is_chosen = page < piece.end && is_kept(page);
    unsigned ballot = __ballot_sync(ALL_LANES, is_chosen);
    if (is_chosen) chosen[taken + bits_below(ballot)] = page;
    taken += __popc(ballot);
  }
  for (int i = total + threadIdx.x; i < width; i += blockDim.x) chosen[i] = -1;
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}
