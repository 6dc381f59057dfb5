import { beforeEach, describe, expect, test } from 'vitest'
import { assistantMessage, type Message, Sender, type SendOptions, userMessage } from '../request/sender.fixture.ts'

const block = (letter: string): string => `${letter} is what stands here, said again. `.repeat(20)
const ask = (question: string, letters: string) => ({
  messages: [{ role: 'system', content: 'Answer.' }, userMessage(question, ...Array.from(letters, block))],
})
const tokensOf = (sender: Sender, letters: number): number => sender.mirror.estimateTokens(letters * block('a').length)

describe('what an engine is predicted to reuse at another position', () => {
  let sender: Sender
  beforeEach(() => {
    sender = new Sender()
    sender.reuse = { ratio: 0.25, min_ratio: 0.1, max_ratio: 0.5 }
    sender.sendBody(ask('first', 'abc'))
  })

  const predict = (letters: string, options: SendOptions = {}): number | undefined =>
    sender.decide(ask('next', letters), options).predictedReusedTokens
  const asReceived = (options: SendOptions['options'] = {}): SendOptions => ({
    options: { reorder: false, ...options },
  })

  test('is of its blocks behind the cached prefix what it has processed, less what it computes again', () => {
    expect(predict('xcb', asReceived())).toBe(Math.floor(0.75 * tokensOf(sender, 2)))
    expect(predict('axc', asReceived())).toBe(Math.floor(0.75 * tokensOf(sender, 1)))
    expect(predict('abc', asReceived())).toBe(0)
    expect(predict('xyz', asReceived())).toBe(0)
  })

  test('is what the request wishes, as far as it is granted', () => {
    expect(predict('xc', asReceived({ reuse: 0 }))).toBe(Math.floor(0.9 * tokensOf(sender, 1)))
    expect(predict('xc', asReceived({ reuse: 0.9 }))).toBe(Math.floor(0.5 * tokensOf(sender, 1)))
    expect(predict('xc', asReceived({ reuse: 'off' }))).toBe(0)
  })

  test('is nothing of another tenant, nor of what is pointed to', () => {
    expect(predict('xc', { ...asReceived(), tenant: 'other' })).toBe(0)
    const twice = { messages: [...ask('q', 'xc').messages, userMessage('again', block('c'), block('b'))] }
    expect(sender.decide(twice, asReceived()).predictedReusedTokens).toBe(Math.floor(0.75 * tokensOf(sender, 2)))
  })

  test('is for a user what he has sent himself, or two users, if the engine asks whose a request is', () => {
    sender.reuse = { ...sender.reuse!, users: true }
    sender.sendBody(ask('first', 'pq'), { user: 'one' })
    const own = Math.floor(0.75 * tokensOf(sender, 2))
    expect([
      predict('xqp', { ...asReceived(), user: 'one' }),
      predict('xqp', { ...asReceived(), user: 'two' }),
    ]).toEqual([own, 0])
    sender.sendBody(ask('first', 'pq'), { user: 'two' })
    expect(predict('xqp', { ...asReceived(), user: 'three' })).toBe(own)
  })

  test('leaves nothing exact behind it: of a request under way no more is believed', () => {
    const [length] = sender.decide(ask('next', 'axcy'), asReceived()).exactLengths
    const { content } = ask('next', 'axcy').messages[1] as { content: string }
    expect(length).toBeGreaterThan(content.indexOf('x is what'))
    expect(length).toBeLessThan(content.indexOf('y is what'))
    expect(sender.decide(ask('next', 'xyz'), asReceived()).exactLengths).toEqual([undefined])
    expect(sender.decide(ask('next', 'xc'), asReceived({ reuse: 'off' })).exactLengths).toEqual([undefined])
  })

  test('is not known of an engine that does not say that it can', () => {
    sender.reuse = undefined
    expect(predict('xcb', asReceived())).toBeUndefined()
  })
})

describe('for an engine that reuses at any position', () => {
  let sender: Sender
  beforeEach(() => {
    sender = new Sender()
    sender.sendBody(ask('first', 'abc'))
  })

  const sendWith = (ratio: number | undefined, letters: string, options: SendOptions = {}) => {
    sender.reuse = ratio === undefined ? undefined : { ratio, min_ratio: 0, max_ratio: 1 }
    return sender.decide(ask('next', letters), options)
  }

  test('blocks are moved where that saves more than the annotation costs, and stay where it does not', () => {
    expect(sendWith(undefined, 'cab')).toMatchObject({ moved: 3, skipped: undefined })
    expect(sendWith(0.5, 'cab')).toMatchObject({ moved: 3, skipped: undefined })
    expect(sendWith(0.02, 'cab')).toMatchObject({ moved: 0, body: undefined, skipped: 'reuse_is_enough' })
    expect(sendWith(0, 'cab')).toMatchObject({ moved: 0, body: undefined, skipped: 'reuse_is_enough' })
  })

  test('blocks are moved for a user for whom the engine reuses nothing at any position', () => {
    const reuse = { ratio: 0, min_ratio: 0, max_ratio: 1, users: true }
    sender.reuse = reuse
    sender.sendBody(ask('second', 'pqr'), { user: 'one' })
    const sendAs = (user: string) => sender.decide(ask('next', 'rpq'), { user })
    expect(sendAs('one')).toMatchObject({ moved: 0, skipped: 'reuse_is_enough' })
    expect(sendAs('two')).toMatchObject({ moved: 3, skipped: undefined })
    sender.reuse = { ...reuse, users: false }
    expect(sendAs('two')).toMatchObject({ moved: 0, skipped: 'reuse_is_enough' })
  })

  test('the share that counts is the one that the request wishes', () => {
    expect(sendWith(0, 'cab', { options: { reuse: 0.5 } }).moved).toBe(3)
    expect(sendWith(0.5, 'cab', { options: { reuse: 0 } }).moved).toBe(0)
    expect(sendWith(0, 'cab', { options: { reuse: 'off' } }).moved).toBe(3)
  })

  test('what costs no annotation is moved for less, but not for nothing', () => {
    expect(sendWith(0.02, 'cab', { options: { annotate: false } }).moved).toBe(3)
    expect(sendWith(0, 'cab', { options: { annotate: false } }).moved).toBe(0)
  })

  test('nothing else is the reason where nothing would have been moved', () => {
    expect(sendWith(0.02, 'abc').skipped).toBe('nothing_to_gain')
    expect(sendWith(0.02, 'cab', { options: { reorder: false } }).skipped).toBe('reorder_off')
    expect(sendWith(0.02, 'cab', { mode: 'shadow' }).skipped).toBe('shadow')
    expect(sendWith(0.02, '').skipped).toBe('no_blocks')
  })

  test('what is pointed to is pointed to all the same', () => {
    sender.reuse = { ratio: 0, min_ratio: 0, max_ratio: 1 }
    const twice = { messages: [...ask('q', 'cab').messages, userMessage('again', block('c'), block('d'))] }
    expect(sender.decide(twice)).toMatchObject({ moved: 0, deduplicated: 1, skipped: undefined })
  })

  test('turns stay as they were sent, moved or not', () => {
    const turns = (letters: string) => ask('second', letters).messages
    const answered = (sent: { messages: Message[] }): Message[] => [...sent.messages, assistantMessage('Yes.')]
    const moved = sender.sendBody({ messages: turns('cab') })
    sender.reuse = { ratio: 0, min_ratio: 0, max_ratio: 1 }
    const kept = sender.sendBody({ messages: turns('bca') })
    expect(moved.messages).not.toEqual(turns('cab'))
    expect(kept.messages).toEqual(turns('bca'))
    for (const ratio of [0, 1]) {
      sender.reuse = { ratio, min_ratio: 0, max_ratio: 1 }
      const next = (letters: string) => ({ messages: [...answered({ messages: turns(letters) }), userMessage('Why?')] })
      expect(sender.sendBody(next('cab')).messages.slice(0, 3)).toEqual(answered(moved))
      expect(sender.sendBody(next('bca')).messages.slice(0, 3)).toEqual(answered(kept))
    }
  })
})
