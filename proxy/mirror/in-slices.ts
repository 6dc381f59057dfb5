import { setImmediate as afterIo } from 'node:timers/promises'

/** A request takes several turns of the event loop, and waits for a slice at each. */
const sliceMilliseconds = 0.3
/** The clock is looked at now and then. */
const itemsPerLook = 8

/** Does something with each item, and lets requests in between several times a millisecond; rejects with the first fault. */
export async function inSlices<T>(items: Iterable<T>, act: (item: T) => void): Promise<void> {
  let begun = performance.now()
  let looked = 0
  for (const item of items) {
    act(item)
    looked += 1
    if (looked % itemsPerLook !== 0 || performance.now() - begun < sliceMilliseconds) continue
    await afterIo()
    begun = performance.now()
  }
}
