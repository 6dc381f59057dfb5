import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Admission, type AdmissionRequest } from './admission.ts'

/** The signal of a client that never leaves. */
const never = (): AbortSignal => new AbortController().signal

let now = 0

/** Advances the clock and the timers with it. */
async function pass(milliseconds: number): Promise<void> {
  now += milliseconds
  await vi.advanceTimersByTimeAsync(milliseconds)
}

beforeEach(() => {
  now = 0
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

function create(options: Partial<ConstructorParameters<typeof Admission>[0]> = {}): Admission {
  return new Admission({ windowMilliseconds: 20, capacity: 10, now: () => now, ...options })
}

function request(tenant: string, rest: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return { tenant, tokens: 1_000, searchPath: [], ...rest }
}

/** The outcomes of requests, in the order they became known. */
class Outcomes {
  readonly all: string[] = []
  readonly admission: Admission

  constructor(admission: Admission) {
    this.admission = admission
  }

  enter(name: string, rest: Partial<AdmissionRequest> = {}, signal: AbortSignal = never()): AdmissionRequest {
    const entered = request(name[0]!, rest)
    this.admission.admit(entered, signal).then(
      () => this.all.push(name),
      (error) => this.all.push(`${name} ${error.code ?? error.message}`),
    )
    return entered
  }
}

test('with an idle engine nothing waits, and what shares nothing waits only for a slot', async () => {
  const admission = create({ windowMilliseconds: 60_000 })
  await admission.admit(request('a', { searchPath: ['a', 0] }), never())
  await admission.admit(request('a'), never())
  expect([admission.depth, admission.inFlight]).toEqual([0, 2])
})

test('requests that wait leave in groups when the engine becomes idle', async () => {
  const admission = create({ windowMilliseconds: 60_000 })
  const outcomes = new Outcomes(admission)
  const first = outcomes.enter('x', { searchPath: ['x'] })
  outcomes.enter('a1', { searchPath: ['a'] })
  outcomes.enter('a2', { searchPath: ['b'] })
  outcomes.enter('a3', { searchPath: ['a', '2'] })
  expect(admission.depth).toBe(3)
  admission.leave(first)
  await pass(0)
  expect(outcomes.all).toEqual(['x', 'a1', 'a3', 'a2'])
})

test('those that leave the window together keep their order while they wait for slots, within a priority', async () => {
  const admission = create({ inFlight: 1, windowMilliseconds: 20 })
  const outcomes = new Outcomes(admission)
  const running = [outcomes.enter('first')]
  running.push(outcomes.enter('a1', { searchPath: ['a'], priority: 7 }))
  running.push(outcomes.enter('a2', { searchPath: ['b'] }))
  running.push(outcomes.enter('a3', { searchPath: ['c'], priority: -7 }))
  running.push(outcomes.enter('a4', { searchPath: ['b', 1] }))
  await pass(20)
  expect(outcomes.all).toEqual(['first'])
  for (const name of ['first', 'a3', 'a2', 'a4', 'a1']) {
    expect(outcomes.all.at(-1)).toBe(name)
    admission.leave(running[['first', 'a1', 'a2', 'a3', 'a4'].indexOf(name)]!)
    await pass(0)
  }
})

test('no request waits longer than the window while there are slots, however busy the engine is', async () => {
  const outcomes = new Outcomes(create())
  outcomes.enter('x', { searchPath: ['x'] })
  outcomes.enter('y', { searchPath: ['y'] })
  await pass(19)
  expect(outcomes.all).toEqual(['x'])
  await pass(1)
  expect(outcomes.all).toEqual(['x', 'y'])
})

test('no more requests than there are slots are at the engine, until there are more slots', async () => {
  const admission = create({ inFlight: 2 })
  const outcomes = new Outcomes(admission)
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) outcomes.enter(name)
  await pass(1_000)
  expect([admission.inFlight, admission.depth, outcomes.all]).toEqual([2, 4, ['a1', 'a2']])
  admission.setInFlight(4)
  await pass(0)
  expect([admission.inFlight, admission.depth, outcomes.all]).toEqual([4, 2, ['a1', 'a2', 'a3', 'a4']])
  admission.setInFlight(1)
  admission.leave(request('a'))
  await pass(0)
  expect([admission.inFlight, admission.depth]).toEqual([4, 2])
})

test('tenants share the slots by their tokens, whoever came first', async () => {
  const admission = create({ inFlight: 1, capacity: 100, fairness: { quantum: 1_000 } })
  const outcomes = new Outcomes(admission)
  const requests = new Map([['x', outcomes.enter('x')]])
  for (const name of ['a1', 'a2', 'a3', 'a4']) requests.set(name, outcomes.enter(name, { tokens: 1_000 }))
  for (const name of ['b1', 'b2', 'b3', 'b4']) requests.set(name, outcomes.enter(name, { tokens: 500 }))
  for (let i = 0; i < 9; i++) {
    await pass(0)
    admission.leave(requests.get(outcomes.all.at(-1)!)!)
  }
  expect(outcomes.all).toEqual(['x', 'a1', 'b1', 'b2', 'a2', 'b3', 'b4', 'a3', 'a4'])
})

test('one tenant cannot fill the queue for the others', async () => {
  const admission = create({ inFlight: 1, capacity: 8 })
  const outcomes = new Outcomes(admission)
  outcomes.enter('x')
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) outcomes.enter(name)
  for (const name of ['b1', 'b2', 'b3']) outcomes.enter(name)
  await pass(0)
  expect(outcomes.all).toEqual(['x', 'a5 queue_full', 'b3 queue_full'])
  expect(admission.depth).toBe(6)
})

test('who may not wait to be grouped goes to a free slot ungrouped, and is refused only without one', async () => {
  const outcomes = new Outcomes(create({ inFlight: 2, capacity: 0 }))
  for (const name of ['a1', 'a2', 'a3']) outcomes.enter(name, { searchPath: ['a'] })
  await pass(0)
  expect(outcomes.all).toEqual(['a1', 'a2', 'a3 queue_full'])
})

test('a full queue says when to come again, by how fast it has been emptying', async () => {
  const admission = create({ inFlight: 1, capacity: 20 })
  const retryAfter = async (): Promise<number> => {
    const refused = await admission.admit(request('a'), never()).catch((error) => error)
    expect(refused).toMatchObject({ code: 'queue_full', status: 429 })
    return Number(refused.headers['retry-after'])
  }
  let running = request('a')
  await admission.admit(running, never())
  const waiting = Array.from({ length: 10 }, () => request('a'))
  for (const one of waiting) void admission.admit(one, never())
  expect(await retryAfter()).toBe(10)
  for (const next of waiting) {
    await pass(100)
    admission.leave(running)
    running = next
    void admission.admit(request('a'), never())
  }
  expect(await retryAfter()).toBe(2)
  await pass(600_000)
  expect(await retryAfter()).toBe(60)
})

test('a client that leaves gives up its place at once, in the window and in the queue', async () => {
  const admission = create({ inFlight: 1, capacity: 4, windowMilliseconds: 50 })
  const outcomes = new Outcomes(admission)
  const [grouped, queued] = [new AbortController(), new AbortController()]
  const first = outcomes.enter('x', { searchPath: ['x'] })
  outcomes.enter('a1', { searchPath: ['y'] }, grouped.signal)
  outcomes.enter('a2', {}, queued.signal)
  expect([admission.depth, admission.waitingTokens]).toEqual([2, 2_000])
  grouped.abort(new Error('left'))
  queued.abort(new Error('left too'))
  expect([admission.depth, admission.waitingTokens]).toEqual([0, 0])
  admission.leave(first)
  await pass(50)
  expect(outcomes.all).toEqual(['x', 'a1 left', 'a2 left too'])
  expect(admission.inFlight).toBe(0)
  await expect(admission.admit(request('a'), grouped.signal)).rejects.toThrow('left')
  expect(vi.getTimerCount()).toBe(0)
})

test('a request that waited up to its deadline is refused, and does not wait to be grouped before', async () => {
  const admission = create({ inFlight: 2, windowMilliseconds: 50 })
  const outcomes = new Outcomes(admission)
  const first = outcomes.enter('x', { searchPath: ['x'] })
  outcomes.enter('a1', { searchPath: ['a'], deadline: 50 })
  outcomes.enter('a2', { searchPath: ['a'], deadline: 60 })
  outcomes.enter('a3', { searchPath: ['a'], deadline: 200 })
  await pass(0)
  expect(outcomes.all).toEqual(['x', 'a1'])
  await pass(60)
  expect(outcomes.all).toEqual(['x', 'a1', 'a2 deadline_exceeded'])
  admission.leave(first)
  await pass(0)
  outcomes.enter('a4', { deadline: 60 })
  await pass(1_000)
  expect(outcomes.all.slice(3)).toEqual(['a3', 'a4 deadline_exceeded'])
  expect([admission.inFlight, admission.depth]).toEqual([2, 0])
})

test('tokens at the engine count until the answer begins', async () => {
  const admission = create({ inFlight: 1 })
  const [first, second] = [request('a', { tokens: 700 }), request('a', { tokens: Number.NaN })]
  await admission.admit(first, never())
  void admission.admit(second, never())
  void admission.admit(request('a', { tokens: 30 }), never())
  expect([admission.inFlightTokens, admission.waitingTokens]).toEqual([700, 30])
  admission.prefilled(first)
  admission.prefilled(first)
  expect([admission.inFlightTokens, admission.waitingTokens]).toEqual([0, 30])
  admission.leave(first)
  admission.leave(first)
  expect([admission.inFlight, admission.inFlightTokens, admission.depth]).toEqual([1, 0, 1])
  admission.leave(second)
  expect([admission.inFlight, admission.inFlightTokens, admission.depth]).toEqual([1, 30, 0])
})

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      enter: fc.constantFrom('a', 'b', 'c'),
      path: fc.array(fc.nat(2), { maxLength: 2 }),
      patience: fc.option(fc.integer({ min: 1, max: 60 })),
    }),
  },
  { weight: 3, arbitrary: fc.record({ leave: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ abort: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ pass: fc.nat(30) }) },
)

/** Clients of an admission that keep their own account of what waits and runs. */
class Clients {
  readonly admission: Admission = create({ inFlight: 2, capacity: 12 })
  readonly running: AdmissionRequest[] = []
  readonly waiting = new Map<AdmissionRequest, AbortController>()

  enter(tenant: string, searchPath: number[], patience: number | null): void {
    const one = request(tenant, { searchPath, ...(patience === null ? {} : { deadline: now + patience }) })
    const aborter = new AbortController()
    this.waiting.set(one, aborter)
    const heard = (): void => expect(this.waiting.delete(one)).toBe(true)
    this.admission.admit(one, aborter.signal).then(() => {
      heard()
      this.running.push(one)
    }, heard)
  }

  act(next: typeof step extends fc.Arbitrary<infer Step> ? Step : never): void {
    if ('enter' in next) this.enter(next.enter, next.path, next.patience)
    else if ('leave' in next) this.leave(next.leave)
    else if ('abort' in next) [...this.waiting.values()][next.abort]?.abort()
  }

  leave(place: number): void {
    const [one] = this.running.splice(place, 1)
    if (one) this.admission.leave(one)
  }

  check(): void {
    expect([this.admission.inFlight, this.admission.depth]).toEqual([this.running.length, this.waiting.size])
  }
}

test('every request is heard of exactly once, and no slot stays free while a request waits for one', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 50 }), async (steps) => {
      const clients = new Clients()
      const { admission, running, waiting } = clients
      for (const next of steps) {
        clients.act(next)
        await pass('pass' in next ? next.pass : 0)
        clients.check()
      }
      // let every window close
      await pass(20)
      expect(running.length).toBe(Math.min(2, running.length + waiting.size))
      while (running.length > 0) {
        clients.leave(0)
        await pass(0)
      }
      expect([admission.inFlight, admission.depth, waiting.size, vi.getTimerCount()]).toEqual([0, 0, 0, 0])
      expect([admission.inFlightTokens, admission.waitingTokens]).toEqual([0, 0])
    }),
    { numRuns: 200 },
  )
})
