const most = 256 * 1024 * 1024
/** At most a quarter of the container's memory, if that is limited. */
const mostUnseen = Math.min(most, (process.constrainedMemory() || Number.POSITIVE_INFINITY) / 4)

let unseen = 0
const collected = new FinalizationRegistry<number>((bytes) => {
  unseen -= bytes
})

/**
 * Returns a buffer of zeros for a large body, in shared memory if there is not too much of it.
 *
 * V8 counts the memory of buffers. When it has grown by 64 MB, V8 starts a collection. Until that ends, every
 * allocation of a buffer marks a part of the heap for 5 to 12 ms, and all requests wait. V8 does not count shared
 * memory; it frees such a buffer at the next collection. Beyond `mostUnseen`, V8 has to count and collect.
 */
export function allocateLarge(bytes: number): Buffer {
  if (unseen + bytes > mostUnseen) return Buffer.allocUnsafeSlow(bytes)
  unseen += bytes
  const memory = new SharedArrayBuffer(bytes)
  collected.register(memory, bytes)
  return Buffer.from(memory)
}
