import { setImmediate as afterIo } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ReplicaWorlds } from './replica-worlds.ts'

const unhandled: unknown[] = []
const note = (reason: unknown): void => void unhandled.push(reason)
beforeEach(() => void process.on('unhandledRejection', note))
afterEach(() => void process.off('unhandledRejection', note))

function createWaiting(): { promise: Promise<undefined>; resolve: (value: undefined) => void } {
  let resolve: (value: undefined) => void
  const promise = new Promise<undefined>((own) => {
    resolve = own
  })
  return { promise, resolve: resolve! }
}

const shape = { capacityTokens: undefined, pageTokens: 16 }

test('a fault while other requests are waited for is the fault of this request alone', async () => {
  const worlds = new ReplicaWorlds()
  const waiting = createWaiting()
  const before = worlds.serve(waiting.promise, () => shape)
  const faulty = worlds.serve(Promise.reject(new Error('of ours')), () => shape)
  for (let i = 0; i < 3; i++) await afterIo()
  expect(unhandled).toEqual([])
  waiting.resolve(undefined)
  expect(await Promise.all([before, faulty])).toEqual([undefined, undefined])
})

test('one that comes when too many wait is not followed, whatever becomes of its prompts', async () => {
  const worlds = new ReplicaWorlds()
  const waiting = createWaiting()
  for (let i = 0; i < 256; i++) void worlds.serve(waiting.promise, () => shape)
  expect(await worlds.serve(Promise.reject(new Error('of ours')), () => shape)).toBeUndefined()
  for (let i = 0; i < 3; i++) await afterIo()
  expect(unhandled).toEqual([])
  waiting.resolve(undefined)
})
