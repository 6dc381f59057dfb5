/** How much collected memory may be missing from V8's view before it is told of bodies again. */
const mostUnseen = 128 * 1024 * 1024

let unseen = 0
const collected = new FinalizationRegistry<number>((bytes) => {
  unseen -= bytes
})

/**
 * Returns a buffer of zeros for a large body. V8 counts memory outside its heap, and marks its whole heap when that
 * grows by 64 MB, in steps that hold up every request meanwhile. It does not count shared memory. So up to 128 MB are
 * shared memory, which is freed when V8 collects for other reasons; beyond that, V8 is told and collects.
 */
export function allocateLarge(bytes: number): Buffer {
  if (unseen + bytes > mostUnseen) return Buffer.allocUnsafeSlow(bytes)
  unseen += bytes
  const memory = new SharedArrayBuffer(bytes)
  collected.register(memory, bytes)
  return Buffer.from(memory)
}
