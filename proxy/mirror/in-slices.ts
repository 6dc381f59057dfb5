import { setImmediate as afterIo } from 'node:timers/promises'

/** A request takes several turns of the event loop, and waits for a slice at each. */
const sliceMilliseconds = 0.3
/** The clock is looked at now and then. */
const itemsPerLook = 8
/** Others had something to do in a turn that took longer. */
const idleTurnMilliseconds = 0.05
/** So long requests go before a slice at most: they must not keep it from being taken at all. */
const waitMilliseconds = 2

/** Does something with each item, and lets requests in between several times a millisecond; rejects with the first fault. */
export async function inSlices<T>(items: Iterable<T>, act: (item: T) => void): Promise<void> {
  let begun = performance.now()
  let looked = 0
  for (const item of items) {
    act(item)
    looked += 1
    if (looked % itemsPerLook !== 0 || performance.now() - begun < sliceMilliseconds) continue
    begun = await untilIdle()
  }
}

/** Resolves with the time when nobody else had anything to do, or has waited long enough. */
async function untilIdle(): Promise<number> {
  const begun = performance.now()
  for (let turn = begun; ; ) {
    await afterIo()
    const now = performance.now()
    if (now - turn < idleTurnMilliseconds || now - begun > waitMilliseconds) return now
    turn = now
  }
}
