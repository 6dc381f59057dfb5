import { setImmediate as afterIo } from 'node:timers/promises'
import { sliceMilliseconds } from './time-slices.ts'

/** The clock is read once per this many items. */
const itemsPerLook = 8
/** If a turn of the event loop takes longer, other work was done in it. */
const idleTurnMilliseconds = 0.05
/** The longest time that requests may delay a slice, so that they never starve it. */
const waitMilliseconds = 2

/** Calls `act` with each item, and yields to requests several times a millisecond. Rejects with the first error. */
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

/** Waits until the event loop is idle, but not longer than `waitMilliseconds`. Resolves with the current time. */
async function untilIdle(): Promise<number> {
  const begun = performance.now()
  for (let turn = begun; ; ) {
    await afterIo()
    const now = performance.now()
    if (now - turn < idleTurnMilliseconds || now - begun > waitMilliseconds) return now
    turn = now
  }
}
