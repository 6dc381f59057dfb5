import { describe, expect, it } from 'vitest'
import { type PrefixNode, RequestLedger } from './request-ledger.ts'

function chain(...lengths: number[]): PrefixNode[] {
  const nodes: PrefixNode[] = []
  for (const end of lengths) nodes.push({ parent: nodes.at(-1), end, holders: undefined })
  return nodes
}

describe('RequestLedger', () => {
  it('cuts every request of an evicted node to the parent, in one report for several steps', () => {
    const [first, second, third] = chain(16, 32, 48)
    const ledger = new RequestLedger()
    ledger.store('a', third)
    ledger.store('b', third)
    ledger.store('c', second)
    ledger.takeReports()
    ledger.retreat(third!)
    ledger.retreat(second!)
    expect(ledger.takeReports()).toEqual([
      { type: 'evicted', request_id: 'a', cached_tokens: 16, tier: 'gpu' },
      { type: 'evicted', request_id: 'b', cached_tokens: 16, tier: 'gpu' },
      { type: 'evicted', request_id: 'c', cached_tokens: 16, tier: 'gpu' },
    ])
    ledger.retreat(first!)
    expect(ledger.takeReports()).toMatchObject([{ cached_tokens: 0 }, { cached_tokens: 0 }, { cached_tokens: 0 }])
    expect(ledger.requests()).toEqual([])
  })

  it('reports a store and the eviction after it in their order', () => {
    const [, second] = chain(16, 32)
    const ledger = new RequestLedger()
    ledger.store('a', second)
    ledger.retreat(second!)
    ledger.store('a', second)
    expect(ledger.takeReports().map((report) => report.type)).toEqual(['stored', 'evicted', 'stored'])
  })

  it('lets a newer request replace an older one of the same id', () => {
    const [first] = chain(16)
    const [other] = chain(32)
    const ledger = new RequestLedger()
    ledger.store('a', first)
    ledger.store('a', other)
    ledger.retreat(first!)
    expect(ledger.requests()).toEqual([{ request_id: 'a', cached_tokens: 32 }])
    ledger.takeReports()
    ledger.store('a', undefined)
    expect(ledger.takeReports()).toEqual([{ type: 'evicted', request_id: 'a', cached_tokens: 0, tier: 'gpu' }])
  })

  it('says nothing of an unknown request without a cached page', () => {
    const ledger = new RequestLedger()
    ledger.store('a', undefined)
    expect(ledger.takeReports()).toEqual([])
  })

  it('forgets the oldest requests, as evicted, when its memory is full', () => {
    const [node] = chain(16)
    const ledger = new RequestLedger(200)
    for (const id of ['a', 'b', 'c', 'd']) ledger.store(id, node)
    expect(ledger.requests().map((request) => request.request_id)).toEqual(['b', 'c', 'd'])
    expect(ledger.takeReports().at(-1)).toEqual({ type: 'evicted', request_id: 'a', cached_tokens: 0, tier: 'gpu' })
    expect([...(node?.holders ?? [])]).toEqual(['b', 'c', 'd'])
  })

  it('a clearing takes the place of all reports before it', () => {
    const [node] = chain(16)
    const ledger = new RequestLedger()
    ledger.store('a', node)
    ledger.clear()
    expect(ledger.takeReports()).toEqual([{ type: 'cleared' }])
    expect(ledger.requests()).toEqual([])
  })
})
