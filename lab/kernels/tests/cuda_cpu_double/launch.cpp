// The kernel KERNEL of the file SOURCE as a function that runs a launch of it on the CPU.
#include "cuda_cpu_double.h"

#include SOURCE

namespace {

template <class... Types, size_t... I>
void call(void (*kernel)(Types...), void **given, std::index_sequence<I...>) {
  kernel(*static_cast<Types *>(given[I])...);
}

template <class... Types> void call(void (*kernel)(Types...), void **given) {
  call(kernel, given, std::index_sequence_for<Types...>());
}

} // namespace

extern "C" int launch_on_cpu(void **given, int blocks, int threads, int shared_bytes, unsigned seed, char *message,
                             int message_bytes) {
  auto kernel = [](void **values) { call(KERNEL, values); };
  return cpu_double::launch(kernel, given, blocks, CLUSTER, threads, shared_bytes, seed, message, message_bytes);
}
