import { expect, test } from 'vitest'
import { type ComparedHit, type ComparedPrompt, ReplicaWorlds } from './replica-worlds.ts'

const shape = () => ({ capacityTokens: undefined, pageTokens: 1 })
const tokens = Uint32Array.from({ length: 8 }, (_, i) => i)
const prompts: readonly ComparedPrompt[] = [{ sent: tokens, other: tokens, scope: 's', isExact: true }]
/** Cannot be run: it has no tokens. */
const faulty = [{}] as unknown as readonly ComparedPrompt[]

type Found = readonly ComparedPrompt[] | undefined

test('requests are run in the order they were sent, and a fault with one is its own alone', async () => {
  const worlds = new ReplicaWorlds()
  const served: [string, ComparedHit | undefined][] = []
  const finds = ['first', 'second', 'third', 'fourth', 'fifth'].map((name) => {
    const { promise, resolve, reject } = withResolvers<Found>()
    void worlds.follow(() => promise, shape)!.then((hit) => served.push([name, hit]))
    return { resolve, reject }
  })
  finds[4]!.resolve(prompts)
  finds[3]!.reject(new Error('not known'))
  finds[2]!.resolve(undefined)
  finds[1]!.resolve(faulty)
  await new Promise(setImmediate)
  expect(served).toEqual([])
  finds[0]!.resolve(prompts)
  await new Promise(setImmediate)
  expect(served).toEqual([
    ['first', { sent: 0, other: 0 }],
    ['second', undefined],
    ['third', undefined],
    ['fourth', undefined],
    ['fifth', { sent: 7, other: 7 }],
  ])
})

test('one that comes when too many wait is not followed', async () => {
  const worlds = new ReplicaWorlds()
  const { promise, resolve } = withResolvers<Found>()
  for (let i = 0; i < 256; i++) void worlds.follow(() => promise, shape)
  expect(worlds.follow(() => promise, shape)).toBeUndefined()
  resolve(undefined)
  await new Promise(setImmediate)
  expect(worlds.follow(() => promise, shape)).toBeDefined()
})

function withResolvers<Value>() {
  let resolve!: (value: Value) => void
  let reject!: (error: Error) => void
  const promise = new Promise<Value>((onResolved, onRejected) => {
    resolve = onResolved
    reject = onRejected
  })
  return { promise, resolve, reject }
}
