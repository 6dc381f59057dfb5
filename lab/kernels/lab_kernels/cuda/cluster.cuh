// Thread blocks of a cluster that read each other's shared memory, on sm_90 and later. CLUSTER, the blocks of one, is given
// to the compiler; with 1 of them no cluster is there, on any GPU.
#pragma once

#if CLUSTER > 1
#define IN_CLUSTERS __cluster_dims__(CLUSTER, 1, 1)
#else
#define IN_CLUSTERS
#endif

/// This block's dynamic shared memory, as many bytes as it was launched with.
__device__ inline unsigned char *shared_memory() {
  extern __shared__ __align__(16) unsigned char memory[];
  return memory;
}

/// Waits for all threads of the cluster; what they wrote before, all of them see behind it.
__device__ inline void sync_cluster() {
#if CLUSTER > 1
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
#else
  __syncthreads();
#endif
}

/// Where another block of the cluster has what this one has at `mine`, in shared memory.
template <class T> __device__ inline const T *of_block(const T *mine, int block) {
#if CLUSTER > 1
  const T *theirs;
  asm("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(mine), "r"(block));
  return theirs;
#else
  return mine;
#endif
}
