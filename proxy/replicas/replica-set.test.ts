import { beforeEach, expect, test } from 'vitest'
import { adapterFor } from '#engine-adapters/adapter-for.ts'
import type { ReplicaId } from '#index/context-block.ts'
import { CacheMirror } from '#index/mirror/cache-mirror.ts'
import { Admission } from './admission.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { HealthState } from './health-checks.ts'
import { ReplicaMirror } from './mirror/replica-mirror.ts'
import { Replica } from './replica.ts'
import { ReplicaSet } from './replica-set.ts'

/** Notes as many checks as it takes to change a state. */
function check({ health }: { readonly health: HealthState }, isAlive: boolean): void {
  for (let i = 0; i < 3; i++) health.note(isAlive)
}

let now = 0

function create(id: string): Replica {
  const mirror = new CacheMirror({ maxRequests: 10, maxBlocks: 100 })
  return new Replica({
    adapter: adapterFor('vllm'),
    engine: {
      ...{ url: `http://${id}`, send: () => {}, aside: { send: () => {} } },
      ...{ setTls: () => {}, close: () => Promise.resolve() },
    },
    replicaMirror: new ReplicaMirror(id as ReplicaId, mirror),
    admission: new Admission({ windowMilliseconds: 20, capacity: 10, inFlight: 1, now: () => now }),
    breaker: new CircuitBreaker({ failuresInARow: 1, openMilliseconds: 100 }, () => now),
    health: new HealthState(),
  })
}

let [a, b, c] = [create('a'), create('b'), create('c')]
let replicas = new ReplicaSet([a, b, c])

beforeEach(() => {
  now = 0
  ;[a, b, c] = [create('a'), create('b'), create('c')]
  replicas = new ReplicaSet([a, b, c])
})

const names = (...excluding: string[]): string[] =>
  replicas.candidates(new Set(excluding as ReplicaId[])).map(({ id }) => id)
const states = (): string[] => replicas.all.map(({ state }) => state)

test('requests go to the replicas that are ready and not excluded', () => {
  expect(names()).toEqual(['a', 'b', 'c'])
  expect(names('b')).toEqual(['a', 'c'])
  check(a, false)
  b.breaker.unreachable()
  expect(states()).toEqual(['unhealthy', 'open', 'ready'])
  expect(names()).toEqual(['c'])
  check(a, true)
  expect(names()).toEqual(['a', 'c'])
})

test('a replica that cannot be reached gets one request to try, when its breaker has been open for long enough', () => {
  a.breaker.unreachable()
  now += 100
  expect(names()).toEqual(['a', 'b', 'c'])
  a.breaker.begin()
  expect(names()).toEqual(['b', 'c'])
  a.breaker.answered(200)
  expect(names()).toEqual(['a', 'b', 'c'])
})

test('when none is ready, all are tried that are not draining', () => {
  check(a, false)
  b.breaker.unreachable()
  replicas.setDraining('c', true)
  expect(names()).toEqual(['a', 'b'])
  expect(names('a')).toEqual(['b'])
  expect(names('a', 'b')).toEqual([])
})

test('a request that failed is tried elsewhere on a ready replica, or on any where none is', () => {
  const hasOther = (...than: string[]): boolean => replicas.candidates().some(({ id }) => !than.includes(id))
  expect([hasOther('a'), hasOther('a', 'b'), hasOther('a', 'b', 'c')]).toEqual([true, true, false])
  check(b, false)
  check(c, false)
  // a replica that fails its checks may hang: do not risk a request on it that a ready one can take
  expect(hasOther('a')).toBe(false)
  a.breaker.unreachable()
  expect([hasOther('a'), hasOther('a', 'b', 'c')]).toEqual([true, false])
  replicas.setDraining('b', true)
  replicas.setDraining('c', true)
  expect(hasOther('a')).toBe(false)
})

test('a draining replica is given nothing until it is resumed, even if no other is left', () => {
  for (const id of ['a', 'b', 'c']) expect(replicas.setDraining(id, true)).toBe(true)
  expect([names(), states()]).toEqual([[], ['draining', 'draining', 'draining']])
  expect(replicas.setDraining('b', false)).toBe(true)
  expect([names(), b.state]).toEqual([['b'], 'ready'])
  expect([replicas.setDraining('x', true), replicas.setDraining('x', false)]).toEqual([false, false])
})

test('a single replica is used whatever its checks say', () => {
  replicas = new ReplicaSet([a])
  check(a, false)
  a.breaker.unreachable()
  expect(names()).toEqual(['a'])
})

test('its state tells when a draining replica has finished', async () => {
  const signal = new AbortController().signal
  const [first, second] = [
    { tenant: 't', tokens: 70, searchPath: [] },
    { tenant: 't', tokens: 30, searchPath: [] },
  ]
  await a.admission.admit(first, signal)
  const waits = a.admission.admit(second, signal)
  replicas.setDraining('a', true)
  expect([a.state, a.requests, a.loadTokens]).toEqual(['draining', 2, 100])
  a.admission.leave(first)
  await waits
  a.admission.leave(second)
  expect([a.state, a.requests, a.loadTokens]).toEqual(['draining', 0, 0])
})

test('what the next request would be given can be asked for without using up a turn', () => {
  const turn = replicas.nextTurn()
  const preview = replicas.preview(undefined)
  expect([preview.nextTurn(), preview.nextTurn()]).toEqual([turn + 1, turn + 1])
  expect(replicas.nextTurn()).toBe(turn + 1)
  for (const replica of [a, b, c]) check(replica, false)
  expect(preview.candidates().map(({ id }) => id)).toEqual(['a', 'b', 'c'])
})
