import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RequestId, RequestKey } from '../context-block.ts'
import { RequestTable } from './request-table.ts'

/** A table and a plain map with the same content, and iterations over both. */
class Pair<Request extends RequestKey> {
  readonly table = new RequestTable<Request>()
  readonly plain = new Map<Request, number>()
  readonly #walks: (readonly [IterableIterator<[Request, number]>, IterableIterator<Request>])[] = []

  add(request: Request): void {
    if (!this.plain.has(request)) this.plain.set(request, this.table.add(request))
  }

  delete(request: Request): void {
    if (this.plain.delete(request)) this.table.delete(request)
  }

  clear(): void {
    this.plain.clear()
    this.table.clear()
  }

  /** Begins a new iteration if there are requests, and advances all iterations by one. */
  walk(): void {
    if (this.plain.size > 0) this.#walks.push([this.table.entries(), this.plain.keys()])
    for (const [told, plain] of this.#walks) expect(told.next().value?.[0]).toBe(plain.next().value)
  }
}

const steps = fc.array(
  fc.record({
    act: fc.constantFrom(...(['add', 'add', 'add', 'add', 'delete', 'delete', 'walk', 'walk', 'clear'] as const)),
    name: fc.nat(20),
  }),
  { maxLength: 80 },
)

const byName = (name: number): RequestKey => `r${name}` as RequestId
const byNumber = (name: number): RequestKey => name << 20

test.each([byName, byNumber])(
  'requests come and go: each has a number of its own, and all are told of in the order they came',
  (toRequest) => {
    fc.assert(
      fc.property(steps, (all) => {
        const pair = new Pair()
        const { table, plain } = pair
        for (const { act, name } of all) {
          const request = toRequest(name)
          pair[act](request)
          expect([...table.entries()]).toEqual([...plain])
          expect([table.size, table.oldest()]).toEqual([plain.size, plain.keys().next().value])
          expect(table.find(request)).toBe(plain.get(request))
        }
        expect(new Set(plain.values()).size).toBe(plain.size)
        for (const [request, number] of plain) expect(table.requestOf(number)).toBe(request)
      }),
      { numRuns: 300 },
    )
  },
)
