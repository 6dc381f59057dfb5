const most = 256 * 1024 * 1024
/** A quarter of what a container may take: as much again may be in use. */
const mostUnseen = Math.min(most, (process.constrainedMemory() || Number.POSITIVE_INFINITY) / 4)

let unseen = 0
const collected = new FinalizationRegistry<number>((bytes) => {
  unseen -= bytes
})

/**
 * Returns a buffer of zeros for a large body. V8 counts the memory of buffers. When that has grown by 64 MB, V8 marks
 * its heap, and does some 5 ms of that at every allocation of a buffer until it has collected, which holds up all
 * requests. It does not count shared memory. So large bodies lie in shared memory, up to 256 MB until they are
 * collected for other reasons; V8 is told of what is beyond, and collects.
 */
export function allocateLarge(bytes: number): Buffer {
  if (unseen + bytes > mostUnseen) return Buffer.allocUnsafeSlow(bytes)
  unseen += bytes
  const memory = new SharedArrayBuffer(bytes)
  collected.register(memory, bytes)
  return Buffer.from(memory)
}
