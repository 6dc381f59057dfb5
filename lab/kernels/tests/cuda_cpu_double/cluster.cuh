// In place of reprise_kernels/cuda/cluster.cuh where the double runs the kernels.
#pragma once
#include "cuda_cpu_double.h"

#define IN_CLUSTERS

inline unsigned char *shared_memory() { return cpu_double::cluster->memory[cpu_double::running().block].data(); }

inline void sync_cluster() { cpu_double::wait_at(cpu_double::cluster->all, "sync_cluster"); }

template <class T> const T *of_block(const T *mine, int block) {
  auto offset = reinterpret_cast<const unsigned char *>(mine) - shared_memory();
  return reinterpret_cast<const T *>(cpu_double::cluster->memory[block].data() + offset);
}
