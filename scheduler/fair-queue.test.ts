import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FairQueue, type FairRequest } from './fair-queue.ts'

interface Named extends FairRequest {
  readonly name: string
}

/** Options with which a request costs exactly its tokens. */
const exact = { quantum: 100, leastCost: 1, mostCost: 1_000_000, agingMilliseconds: 1_000 }

function request(name: string, tokens: number, rest: Partial<Named> = {}): Named {
  return { name, tenant: name[0]!, tokens, ...rest }
}

function drain(queue: FairQueue<Named>, now = 0): string[] {
  return queue.release(now, Number.POSITIVE_INFINITY).run.map(({ name }) => name)
}

test('tenants take turns of a quantum, however many requests one of them has', () => {
  const queue = new FairQueue<Named>(exact)
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1']) queue.add(request(name, 50), 0)
  expect(drain(queue)).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'a4'])
})

test('a turn goes on where it was when the slots ran out', () => {
  const queue = new FairQueue<Named>(exact)
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'b3']) queue.add(request(name, 50), 0)
  const order = Array.from({ length: 6 }, () => queue.release(0, 1).run.map(({ name }) => name))
  expect(order.flat()).toEqual(['a1', 'a2', 'b1', 'b2', 'a3', 'b3'])
})

test('what a turn was too short for is saved: a large request costs as many turns as its tokens', () => {
  const queue = new FairQueue<Named>(exact)
  queue.add(request('a1', 250), 0)
  for (let i = 1; i <= 6; i++) queue.add(request(`b${i}`, 100), 0)
  expect(drain(queue)).toEqual(['b1', 'b2', 'a1', 'b3', 'b4', 'b5', 'b6'])
})

test('who had nothing waiting comes back with nothing saved', () => {
  const queue = new FairQueue<Named>(exact)
  queue.add(request('b1', 100), 0)
  queue.add(request('a0', 10), 0)
  expect(drain(queue)).toEqual(['b1', 'a0'])
  for (const name of ['b2', 'b3']) queue.add(request(name, 100), 0)
  for (const name of ['a1', 'a2']) queue.add(request(name, 60), 0)
  expect(drain(queue)).toEqual(['b2', 'a1', 'b3', 'a2'])
})

test('within a tenant the lower priority runs first, and never before the requests of another tenant', () => {
  const queue = new FairQueue<Named>(exact)
  queue.add(request('b1', 100), 0)
  queue.add(request('a1', 100), 0)
  queue.add(request('a2', 100, { priority: 5 }), 0)
  queue.add(request('a3', 100, { priority: -100 }), 0)
  queue.add(request('b2', 100), 0)
  expect(drain(queue)).toEqual(['b1', 'a3', 'b2', 'a1', 'a2'])
})

test('a step of priority is worth the aging time, so that nothing is overtaken for ever', () => {
  const queue = new FairQueue<Named>(exact)
  queue.add(request('a-late', 1, { priority: 3 }), 0)
  queue.add(request('a-1', 1, { priority: 0 }), 2_999)
  queue.add(request('a-2', 1, { priority: 0 }), 3_001)
  queue.add(request('a-extreme', 1, { priority: Number.MAX_SAFE_INTEGER }), 0)
  queue.add(request('a-3', 1, { priority: 0 }), 100_001)
  expect(drain(queue)).toEqual(['a-1', 'a-late', 'a-2', 'a-extreme', 'a-3'])
})

test('what is not wanted any more is handed back once and never run', () => {
  const queue = new FairQueue<Named>(exact)
  queue.add(request('a1', 1, { deadline: 20 }), 0)
  queue.add(request('a2', 1, { deadline: 10 }), 0)
  queue.add(request('a3', 1), 0)
  expect(queue.nextDeadline).toBe(10)
  expect(queue.release(9, 0)).toEqual({ run: [], expired: [] })
  expect(queue.release(10, 0).expired.map(({ name }) => name)).toEqual(['a2'])
  expect(queue.nextDeadline).toBe(20)
  const { run, expired } = queue.release(20, 5)
  expect([run, expired].map((all) => all.map(({ name }) => name))).toEqual([['a3'], ['a1']])
  expect(queue.nextDeadline).toBeUndefined()
})

test('a request counts at least and at most so much, whatever it says', () => {
  const queue = new FairQueue<Named>({ ...exact, leastCost: 50, mostCost: 400 })
  for (const [name, tokens] of [
    ['a1', 0],
    ['a2', Number.NaN],
    ['a3', Number.POSITIVE_INFINITY],
    ['b1', 100],
    ['b2', 100],
    ['b3', 100],
    ['b4', 100],
    ['b5', 100],
  ] as const)
    queue.add(request(name, tokens), 0)
  expect(drain(queue)).toEqual(['a1', 'a2', 'b1', 'b2', 'b3', 'b4', 'a3', 'b5'])
})

const tenants = ['a', 'b', 'c']
const largest = 350
const arrival = fc.record({
  tenant: fc.constantFrom(...tenants),
  tokens: fc.integer({ min: 1, max: largest }),
  priority: fc.integer({ min: -2, max: 2 }),
})
const operation = fc.oneof(
  { weight: 4, arbitrary: fc.record({ add: arrival, patience: fc.option(fc.nat(40)) }) },
  { weight: 1, arbitrary: fc.record({ cancel: fc.nat(30) }) },
  { weight: 2, arbitrary: fc.record({ slots: fc.nat(4), after: fc.nat(20) }) },
)

/** A queue, together with a plain set of what should be waiting in it. */
class CheckedQueue {
  readonly queue = new FairQueue<Named>(exact)
  readonly waiting = new Set<Named>()
  #now = 0

  add(one: Omit<Named, 'name'>, patience: number | null): void {
    const added = { ...one, name: one.tenant, ...(patience === null ? {} : { deadline: this.#now + 1 + patience }) }
    this.waiting.add(added)
    this.queue.add(added, this.#now)
  }

  cancel(place: number): void {
    const cancelled = [...this.waiting][place]
    if (!cancelled) return
    this.#leave(cancelled)
    expect(this.queue.remove(cancelled)).toBe(true)
    expect(this.queue.remove(cancelled)).toBe(false)
  }

  release(slots: number, after: number): void {
    this.#now += after
    const { run, expired } = this.queue.release(this.#now, slots)
    for (const one of run) expect(one.deadline ?? Number.POSITIVE_INFINITY).toBeGreaterThan(this.#now)
    for (const one of expired) expect(one.deadline).toBeLessThanOrEqual(this.#now)
    for (const one of [...run, ...expired]) this.#leave(one)
    for (const one of this.waiting) expect(one.deadline ?? Number.POSITIVE_INFINITY).toBeGreaterThan(this.#now)
    // no slot is left free while something waits
    expect(run.length).toBe(Math.min(slots, run.length + this.waiting.size))
  }

  #leave(one: Named): void {
    expect(this.waiting.delete(one)).toBe(true)
  }
}

test('every request leaves exactly once, slots are never left free, and nothing runs behind its deadline', () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 80 }), (operations) => {
      const checked = new CheckedQueue()
      for (const next of operations) {
        if ('add' in next) checked.add(next.add, next.patience)
        else if ('cancel' in next) checked.cancel(next.cancel)
        else checked.release(next.slots, next.after)
        expect(checked.queue.depth).toBe(checked.waiting.size)
      }
      checked.release(Number.POSITIVE_INFINITY, 0)
      expect([checked.waiting.size, checked.queue.depth]).toEqual([0, 0])
    }),
    { numRuns: 300 },
  )
})

test('of two tenants that always wait, none gets a quantum and twice the largest request more, over any interval', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: largest }), { minLength: 30, maxLength: 60 }),
      fc.array(fc.integer({ min: 1, max: largest }), { minLength: 30, maxLength: 60 }),
      fc.array(arrival, { maxLength: 30 }),
      (ofA, ofB, others) => {
        const queue = new FairQueue<Named>(exact)
        for (const [i, tokens] of ofA.entries()) queue.add(request(`a${i}`, tokens), 0)
        for (const [i, tokens] of ofB.entries()) queue.add(request(`b${i}`, tokens), 0)
        // by how much a is ahead of b, after every request that ran while both waited
        const lead = [0]
        const left = { a: ofA.length, b: ofB.length, c: Number.POSITIVE_INFINITY }
        for (const other of [...others, ...ofA.map(() => undefined)]) {
          if (other) queue.add({ ...other, name: 'other', tenant: 'c' }, 0)
          const [ran] = queue.release(0, 1).run
          const tenant = ran!.tenant as keyof typeof left
          left[tenant] -= 1
          // from here on one of the two tenants has nothing waiting
          if (left.a === 0 || left.b === 0) break
          lead.push(lead.at(-1)! + { a: 1, b: -1, c: 0 }[tenant] * ran!.tokens)
        }
        expect(Math.max(...lead.map(Math.abs))).toBeLessThan(exact.quantum + largest)
        expect(Math.max(...lead) - Math.min(...lead)).toBeLessThan(exact.quantum + 2 * largest)
      },
    ),
    { numRuns: 300 },
  )
})

test('within a tenant equal priorities run as they came, and a lower one is overtaken only within its aging time', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(arrival, fc.nat(900)), { maxLength: 40 }), (arrivals) => {
      const queue = new FairQueue<Named & { at: number; sequence: number }>(exact)
      let now = 0
      arrivals.forEach(([one, after], sequence) => {
        now += after
        queue.add({ ...one, name: '', at: now, sequence }, now)
      })
      const { run } = queue.release(now, Number.POSITIVE_INFINITY)
      run.forEach((earlier, i) => {
        for (const later of run.slice(i + 1)) {
          if (earlier.tenant !== later.tenant || earlier.sequence < later.sequence) continue
          // `earlier` arrived after `later` and ran before it
          expect(later.priority!).toBeGreaterThan(earlier.priority!)
          expect(earlier.at - later.at).toBeLessThan((later.priority! - earlier.priority!) * exact.agingMilliseconds)
        }
      })
    }),
  )
})

test('ten thousand requests of five thousand tenants come and go one by one', () => {
  const queue = new FairQueue<Named>()
  const all = Array.from({ length: 10_000 }, (_, i) => ({
    name: String(i),
    tenant: `tenant ${i % 5_000}`,
    tokens: (i * 7_919) % 100_000,
    deadline: 1_000_000 + ((i * 104_729) % 10_000),
  }))
  for (const one of all) queue.add(one, 0)
  for (let i = 0; i < all.length; i += 3) expect(queue.remove(all[i]!)).toBe(true)
  let left = 0
  while (queue.depth > 0) left += queue.release(0, 1).run.length
  expect(left).toBe(6_666)
})

test('behind a crowd of short requests another tenant waits for a few of them', () => {
  const queue = new FairQueue<Named>()
  for (let i = 0; i < 100; i++) queue.add(request(`a${i}`, 30), 0)
  queue.add(request('b', 30), 0)
  expect(drain(queue).indexOf('b')).toBeLessThanOrEqual(4)
})
