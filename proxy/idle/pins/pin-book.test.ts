import { expect, test } from 'vitest'
import type { ReplicaId } from '#index/context-block.ts'
import type { KeyEntry } from '../../access/api-keys.ts'
import type { Replica } from '../../replicas/replica.ts'
import { type MarkedRequest, PinBook } from './pin-book.ts'

const replica = { id: 'gpu-0' as ReplicaId } as Replica
const request = { path: '/v1/messages', method: 'POST', headers: [], body: Buffer.alloc(1_000) }
const prompt = { contexts: [], prefixes: [], ends: [], length: 0 }
const limits = { tokens: 10_000, tenantTokens: 6_000 }

interface Noted extends Partial<Pick<MarkedRequest, 'tenant' | 'key' | 'request' | 'tokens'>> {
  readonly now?: number
  readonly seconds?: number
  readonly share?: number
}

/** Notes a prompt that is marked at the last of these prefixes. */
function note(book: PinBook, prefixes: string, { now = 0, seconds = 300, share = 1, ...rest }: Noted = {}): string[] {
  const own = {
    tenant: 't',
    key: undefined,
    api: 'messages',
    model: 'm',
    from: replica,
    request,
    prompt,
    tokens: 2_000,
  } as const
  const all = prefixes.split(' ')
  const marks = [{ prefix: all.at(-1)!, seconds, share }]
  return book.note({ ...own, ...rest }, { prefixes: new Set(all), marks }, limits, now)
}
const names = (book: PinBook): string[] => book.all.map(({ prefix }) => prefix)

test('a pin lasts for its time since it was last asked for, by a prompt with any mark', () => {
  const book = new PinBook()
  expect(note(book, 'a')).toEqual(['pinned'])
  expect(note(book, 'a', { now: 200_000 })).toEqual(['used'])
  book.expire(499_999, limits)
  expect(names(book)).toEqual(['a'])
  note(book, 'a b', { now: 499_999, share: 0.1 })
  book.expire(500_000, limits)
  expect(names(book)).toEqual(['a'])
  book.expire(799_999, limits)
  expect(names(book)).toEqual([])
})

test('a prompt that goes on from a pin takes its place, unless it would be forgotten sooner', () => {
  const book = new PinBook()
  note(book, 'a')
  expect(note(book, 'a b')).toEqual(['pinned'])
  expect(names(book)).toEqual(['b'])
  expect(note(book, 'a b', { seconds: 3_600 })).toEqual(['pinned'])
  note(book, 'a b c')
  expect(book.all.map(({ prefix, seconds }) => [prefix, seconds])).toEqual([
    ['b', 3_600],
    ['c', 300],
  ])
})

test('no tenant has more than its limit, nor all together more than theirs, and what is refused changes nothing', () => {
  const book = new PinBook()
  expect(['a', 'b', 'c', 'd'].flatMap((prefix) => note(book, prefix))).toEqual([
    'pinned',
    'pinned',
    'pinned',
    'tenant_limit',
  ])
  expect(note(book, 'c d', { tokens: 2_001 })).toEqual(['tenant_limit'])
  expect(['e', 'f', 'g'].flatMap((prefix) => note(book, prefix, { tenant: 'u' }))).toEqual([
    'pinned',
    'pinned',
    'limit',
  ])
  expect(names(book)).toEqual(['a', 'b', 'c', 'e', 'f'])
  expect(book.tokens).toBe(10_000)
  expect([book.delete('a'), book.delete('a')]).toEqual([true, false])
  expect(note(book, 'g', { tenant: 'u' })).toEqual(['pinned'])
})

test('short prompts, and those that mostly stand behind their mark, are not pinned', () => {
  const book = new PinBook()
  expect(note(book, 'a', { tokens: 1_023 })).toEqual(['too_short'])
  expect(note(book, 'a', { share: 0.4, tokens: 5_000 })).toEqual(['mark_too_early'])
  expect(names(book)).toEqual([])
})

test('limits that are lowered leave the pins that came last', () => {
  const book = new PinBook()
  for (const prefix of ['a', 'b', 'c']) note(book, prefix)
  for (const prefix of ['d', 'e']) note(book, prefix, { tenant: 'u' })
  book.expire(0, { tokens: 10_000, tenantTokens: 4_000 })
  expect(names(book)).toEqual(['b', 'c', 'd', 'e'])
  book.expire(0, { tokens: 5_000, tenantTokens: 4_000 })
  expect(names(book)).toEqual(['d', 'e'])
  book.expire(0, { tokens: 0, tenantTokens: 4_000 })
  expect(names(book)).toEqual([])
})

test('bodies of all pins together have a bound in bytes', () => {
  const book = new PinBook()
  const large = { ...request, body: Buffer.alloc(40 * 1024 * 1024) }
  expect(note(book, 'a', { request: large })).toEqual(['pinned'])
  expect(note(book, 'b', { request: large })).toEqual(['limit'])
  expect(note(book, 'a b', { request: large })).toEqual(['pinned'])
})

test('a pin goes with the API key that made it, and once every engine has refused it', () => {
  const book = new PinBook()
  for (const id of ['k', 'l']) note(book, id, { key: { id } as KeyEntry })
  note(book, 'none')
  book.expire(0, limits, (key) => key?.id === 'k')
  expect(names(book)).toEqual(['k'])
  const { held } = book.all[0]!
  held.set('gpu-1' as ReplicaId, { isRefused: true })
  book.expire(0, limits)
  expect(names(book)).toEqual(['k'])
  held.set(replica.id, { isRefused: true })
  book.expire(0, limits)
  expect(names(book)).toEqual([])
})
