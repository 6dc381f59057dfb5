import { expect, test, vi } from 'vitest'
import type { ReplicaId } from '#index/context-block.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { HealthState } from './health-checks.ts'
import { watchReplicas } from './replica-watch.ts'

/** Notes as many checks as it takes to change a state. */
function check({ health }: { readonly health: HealthState }, isAlive: boolean): void {
  for (let i = 0; i < 3; i++) health.note(isAlive)
}

let now = 0

function create(): {
  replica: { id: ReplicaId; isDraining: boolean; isLeaving: boolean; health: HealthState; breaker: CircuitBreaker }
  told: () => unknown[]
} {
  const replica = {
    id: 'gpu-0' as ReplicaId,
    isDraining: false,
    isLeaving: false,
    health: new HealthState(),
    breaker: new CircuitBreaker({ failuresInARow: 2, openMilliseconds: 100 }, () => now),
  }
  const log = { info: vi.fn(), warn: vi.fn() }
  const watch = watchReplicas(() => [replica], log)
  return {
    replica,
    told: () => {
      watch()
      return [log.info, log.warn].flatMap((method) => method.mock.calls.splice(0))
    },
  }
}

test('a replica that is ready from the start is not spoken of', () => {
  expect(create().told()).toEqual([])
})

test('a replica whose requests fail is named once, with the reason, until one is answered', () => {
  const { replica, told } = create()
  for (let i = 0; i < 2; i++) replica.breaker.unreachable('connect ECONNREFUSED 127.0.0.1:8000')
  expect(told()).toEqual([
    [{ replica: 'gpu-0', fault: 'connect ECONNREFUSED 127.0.0.1:8000' }, expect.stringContaining('fails requests')],
  ])
  now += 100
  // a probe may be sent now: not worth logging
  expect(told()).toEqual([])
  replica.breaker.answered(200)
  expect(told()).toEqual([[{ replica: 'gpu-0' }, 'the engine gets requests again']])
})

test('an engine that is not there to answer is named with the status', () => {
  const { replica, told } = create()
  for (let i = 0; i < 2; i++) replica.breaker.answered(503)
  expect(told()).toMatchObject([[{ fault: 'it answers with 503' }, expect.any(String)]])
})

test('health checks and drains are told', () => {
  const { replica, told } = create()
  check(replica, false)
  expect(told()).toEqual([[{ replica: 'gpu-0' }, expect.stringContaining('fails its health checks')]])
  replica.isDraining = true
  expect(told()).toEqual([[{ replica: 'gpu-0' }, expect.stringContaining('is drained')]])
  replica.isDraining = false
  check(replica, true)
  expect(told()).toEqual([[{ replica: 'gpu-0' }, 'the engine gets requests again']])
})

test('an engine that is back is not said to fail by what was asked of it before', () => {
  const { replica, told } = create()
  check(replica, false)
  for (let i = 0; i < 2; i++) replica.breaker.unreachable('connect ECONNREFUSED 127.0.0.1:8000')
  told()
  check(replica, true)
  expect(told()).toEqual([
    [{ replica: 'gpu-0' }, 'the engine passes its health checks again: the next request tries it'],
  ])
  now += 100
  replica.breaker.answered(200)
  expect(told()).toEqual([[{ replica: 'gpu-0' }, 'the engine gets requests again']])
})
