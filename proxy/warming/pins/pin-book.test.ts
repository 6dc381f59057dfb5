import { expect, test } from 'vitest'
import type { ReplicaId } from '#index/context-block.ts'
import type { Replica } from '../../replicas/replica.ts'
import { type MarkedRequest, PinBook } from './pin-book.ts'

const replica = { id: 'gpu-0' as ReplicaId } as Replica
const request = { path: '/v1/messages', method: 'POST', headers: [], body: null }
const prompt = { contexts: [], prefixes: [], ends: [], length: 0 }
const limits = { tokens: 10_000, tenantTokens: 6_000 }

interface Noted extends Partial<Pick<MarkedRequest, 'tenant' | 'tokens'>> {
  readonly now?: number
  readonly seconds?: number
  readonly share?: number
}

/** Notes a prompt that is marked at the last of these prefixes. */
function note(book: PinBook, prefixes: string, { now = 0, seconds = 300, share = 1, ...rest }: Noted = {}): string[] {
  const own = { tenant: 't', api: 'messages', model: 'm', replica, request, prompt, tokens: 2_000 } as const
  const all = prefixes.split(' ')
  const marks = [{ prefix: all.at(-1)!, seconds, share }]
  return book.note({ ...own, ...rest }, { prefixes: new Set(all), marks }, limits, now)
}
const names = (book: PinBook): string[] => book.all.map(({ prefix }) => prefix)

test('a pin lasts for its time since it was last asked for, by a prompt with any mark', () => {
  const book = new PinBook()
  expect(note(book, 'a')).toEqual(['pinned'])
  expect(note(book, 'a', { now: 200_000 })).toEqual(['used'])
  book.expire(499_999)
  expect(names(book)).toEqual(['a'])
  note(book, 'a b', { now: 499_999, share: 0.1 })
  book.expire(500_000)
  expect(names(book)).toEqual(['a'])
  book.expire(799_999)
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
  expect([book.tokensOf('t'), book.tokensOf('u'), book.tokensOf()]).toEqual([6_000, 4_000, 10_000])
  expect([book.remove('a'), book.remove('a')]).toEqual([true, false])
  expect(note(book, 'g', { tenant: 'u' })).toEqual(['pinned'])
})

test('short prompts, and those that mostly stand behind their mark, are not pinned', () => {
  const book = new PinBook()
  expect(note(book, 'a', { tokens: 1_023 })).toEqual(['too_short'])
  expect(note(book, 'a', { share: 0.4, tokens: 5_000 })).toEqual(['mark_too_early'])
  expect(names(book)).toEqual([])
})
