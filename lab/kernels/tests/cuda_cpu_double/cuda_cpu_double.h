// Stands in for a GPU: runs a CUDA kernel on the CPU, each thread of a cluster as a fiber of its own, in an order that a
// seed decides. At barriers threads wait for each other and nowhere else, so that a result which depends on the order, as
// where a barrier is missing, comes out differently with another seed. It knows what the kernels here use, and no more;
// that a kernel is right on it says nothing of memory models, of speed, nor of what the compiler for the GPU does.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <ucontext.h>

#define __device__
#define __global__
#define __launch_bounds__(threads)

struct Index {
  unsigned x;
};
inline Index threadIdx, blockIdx, blockDim;

namespace cpu_double {

constexpr int LANES = 32, STACK_BYTES = 64 * 1024, GUARD_BYTES = 256;
constexpr unsigned char GUARD = 0xA5;

struct Barrier {
  int expected = 0;
  std::string met_at;
  std::vector<int> waiting;
};

struct Fiber {
  ucontext_t context;
  int block, thread, exchanges = 0;
  bool done = false;
};

/// One cluster while it runs.
struct Cluster {
  std::vector<Fiber> fibers;
  std::vector<int> ready;
  Barrier all;
  std::vector<Barrier> of_blocks, of_warps;
  std::vector<std::vector<unsigned char>> memory;
  // two rows: who is through with an exchange may begin the next one
  std::vector<uint32_t> exchanged[2];
  std::mt19937 random;
  std::string failure;
  ucontext_t scheduler;
  int threads, first_block, running;

  int warp_of(const Fiber &fiber) const { return (fiber.block * threads + fiber.thread) / LANES; }
};
inline Cluster *cluster;
inline void (*body)(void **);
inline void **arguments;

inline Fiber &running() { return cluster->fibers[cluster->running]; }

inline void release(Barrier &barrier) {
  cluster->ready.insert(cluster->ready.end(), barrier.waiting.begin(), barrier.waiting.end());
  barrier.waiting.clear();
}

inline void wait_at(Barrier &barrier, const char *where) {
  if (!barrier.waiting.empty() && barrier.met_at != where)
    cluster->failure = std::string("threads that should meet are at ") + barrier.met_at + " and " + where;
  barrier.met_at = where;
  barrier.waiting.push_back(cluster->running);
  if ((int)barrier.waiting.size() == barrier.expected) release(barrier);
  swapcontext(&running().context, &cluster->scheduler);
}

/// Who has returned is waited for no more; not so by the lanes of its warp, which all must take part.
inline void leave(Barrier &barrier) {
  if (--barrier.expected > 0 && (int)barrier.waiting.size() == barrier.expected) release(barrier);
}

inline void fill_at_random(std::vector<unsigned char> &memory) {
  std::generate(memory.begin(), memory.end() - GUARD_BYTES, [] { return (unsigned char)cluster->random(); });
}

inline void run_fiber() {
  body(arguments);
  Fiber &fiber = running();
  fiber.done = true;
  leave(cluster->all);
  leave(cluster->of_blocks[fiber.block]);
  // the memory of a block that is gone is anything
  if (cluster->of_blocks[fiber.block].expected == 0) fill_at_random(cluster->memory[fiber.block]);
  swapcontext(&fiber.context, &cluster->scheduler);
}

/// What a lane of this warp gives, of which each lane has given its own.
inline const uint32_t *exchange(uint32_t mine, const char *where) {
  Fiber &fiber = running();
  auto &row = cluster->exchanged[fiber.exchanges++ % 2];
  int warp = cluster->warp_of(fiber);
  row[warp * LANES + fiber.thread % LANES] = mine;
  wait_at(cluster->of_warps[warp], where);
  return &row[warp * LANES];
}

inline void resume(int number) {
  cluster->running = number;
  threadIdx.x = running().thread;
  blockIdx.x = cluster->first_block + running().block;
  swapcontext(&cluster->scheduler, &running().context);
}

inline std::string run_cluster(int first_block, int blocks, int threads, int shared_bytes, unsigned seed,
                               unsigned char *stacks) {
  Cluster now;
  cluster = &now;
  now.random.seed(seed);
  now.threads = threads;
  now.first_block = first_block;
  int count = blocks * threads;
  now.all.expected = count;
  now.of_blocks.resize(blocks);
  for (auto &barrier : now.of_blocks) barrier.expected = threads;
  now.of_warps.resize(count / LANES);
  for (auto &barrier : now.of_warps) barrier.expected = LANES;
  for (auto &row : now.exchanged) row.resize(count);
  now.memory.resize(blocks);
  for (auto &memory : now.memory) {
    memory.resize(shared_bytes + GUARD_BYTES, GUARD);
    fill_at_random(memory);
  }
  now.fibers.resize(count);
  for (int i = 0; i < count; i++) {
    Fiber &fiber = now.fibers[i];
    fiber.block = i / threads;
    fiber.thread = i % threads;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stacks + (size_t)i * STACK_BYTES;
    fiber.context.uc_stack.ss_size = STACK_BYTES;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, run_fiber, 0);
    now.ready.push_back(i);
  }
  // whoever was let go last goes on, mostly or always: blocks and warps get as far ahead of each other as barriers allow
  unsigned thirds = now.random() % 4;
  while (!now.ready.empty() && now.failure.empty()) {
    if (now.random() % 3 >= thirds) std::swap(now.ready[now.random() % now.ready.size()], now.ready.back());
    int next = now.ready.back();
    now.ready.pop_back();
    resume(next);
  }
  if (now.failure.empty() && std::any_of(now.fibers.begin(), now.fibers.end(), [](auto &one) { return !one.done; }))
    now.failure = "threads wait at a barrier that others never reach";
  for (auto &memory : now.memory)
    if (std::any_of(memory.end() - GUARD_BYTES, memory.end(), [](auto byte) { return byte != GUARD; }))
      now.failure = "a block writes past its shared memory";
  return now.failure;
}

/// Runs all clusters of a launch, in which each thread calls `kernel(given)`; 0, or 1 and why in `message`.
inline int launch(void (*kernel)(void **), void **given, int blocks, int blocks_of_cluster, int threads, int shared_bytes,
                  unsigned seed, char *message, int message_bytes) {
  body = kernel;
  arguments = given;
  blockDim.x = threads;
  size_t bytes = (size_t)blocks_of_cluster * threads * STACK_BYTES;
  void *stacks = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  std::string failure = stacks == MAP_FAILED ? "no memory for stacks" : "";
  for (int first = 0; first < blocks && failure.empty(); first += blocks_of_cluster)
    failure = run_cluster(first, blocks_of_cluster, threads, shared_bytes, seed + first, (unsigned char *)stacks);
  if (stacks != MAP_FAILED) munmap(stacks, bytes);
  snprintf(message, message_bytes, "%s", failure.c_str());
  return failure.empty() ? 0 : 1;
}

} // namespace cpu_double

inline void __syncthreads() { cpu_double::wait_at(cpu_double::cluster->of_blocks[cpu_double::running().block], "__syncthreads"); }

inline int __shfl_sync(unsigned, int value, int lane) { return cpu_double::exchange(value, "__shfl_sync")[lane % 32]; }

inline int __shfl_up_sync(unsigned, int value, int distance) {
  int lane = threadIdx.x % 32;
  const uint32_t *given = cpu_double::exchange(value, "__shfl_up_sync");
  return given[lane < distance ? lane : lane - distance];
}

inline unsigned __ballot_sync(unsigned, bool is_so) {
  const uint32_t *given = cpu_double::exchange(is_so, "__ballot_sync");
  unsigned ballot = 0;
  for (int lane = 0; lane < 32; lane++) ballot |= given[lane] << lane;
  return ballot;
}

inline int atomicAdd(int *where, int amount) { return std::exchange(*where, *where + amount); }
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }

inline unsigned __float_as_uint(float number) {
  unsigned bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}
