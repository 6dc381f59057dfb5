import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { readReceived } from '../http/receive/read-received.ts'
import { defaultWording } from '../prompt/wording.ts'
import { assistantMessage as assistant, type Message, Sender, userMessage as user } from '../request/sender.fixture.ts'
import { decide } from './decide.ts'

const system = { role: 'system', content: 'Answer from the documents.' }
let sender: Sender
beforeEach(() => {
  sender = new Sender()
})

describe('ordering', () => {
  test('the first request goes as it came, byte for byte', () => {
    const decision = sender.decide({ messages: [system, user('q', 'a', 'b', 'c')] })
    expect(decision).toMatchObject({ body: undefined, blocks: 3, moved: 0, skipped: 'nothing_to_gain' })
  })

  test('a later one is aligned with it, labels count up again, and the ranking is annotated', () => {
    sender.send([system, user('q1', 'a', 'b', 'c')])
    const [, message] = sender.send([system, user('q2', 'd', 'b', 'a')])
    expect(message!.content).toBe(
      '<documents>\n<document index="1">a</document>\n<document index="2">b</document>\n<document index="3">d</document>\n</documents>' +
        '\n\nPlease read the context in the following priority order: [3] > [2] > [1] and answer the question.' +
        '\n\nQuestion: q2',
    )
  })

  test('blocks whose own tags differ are not the same for an engine', () => {
    const scored = (...blocks: [string, number][]): Message => ({
      role: 'user',
      content: blocks
        .map(([text, score], i) => `<document index="${i + 1}" score="${score}">${text}</document>`)
        .join('\n'),
    })
    sender.send([scored(['a', 0.9], ['b', 0.8])])
    const other = [scored(['b', 0.7], ['a', 0.6])]
    expect(sender.send(other)).toEqual(other)
  })

  test('contexts behind another system prompt share nothing', () => {
    sender.send([system, user('q1', 'a', 'b', 'c')])
    const other = [{ role: 'system', content: 'Other.' }, user('q2', 'd', 'b', 'a')]
    expect(sender.send(other)).toEqual(other)
  })

  test('of what is estimated to be cached whole pages count, as an engine keeps no others', () => {
    sender.send([system, user('q1', 'a', 'b', 'c')])
    const again = { messages: [system, user('q1', 'a', 'b', 'c')] }
    const { predictedCachedTokens: estimated } = sender.decide(again)
    sender.cacheConfig = { pageTokens: 16 }
    expect(estimated % 16).not.toBe(0)
    expect(sender.decide(again).predictedCachedTokens).toBe(estimated - (estimated % 16))
    sender.cacheConfig = { pageTokens: 10_000 }
    expect(sender.decide(again).predictedCachedTokens).toBe(0)
  })

  test('another tenant learns nothing', () => {
    sender.send([system, user('q1', 'a', 'b', 'c')], { tenant: 'one' })
    const request = [system, user('q2', 'd', 'b', 'a')]
    expect(sender.send(request, { tenant: 'two' })).toEqual(request)
    expect(sender.decide({ messages: request }, { tenant: 'two' }).predictedCachedTokens).toBeGreaterThan(0)
  })

  test('text parts of a user message are blocks, the last one is the question', () => {
    const parts = (...texts: string[]): Message => ({
      role: 'user',
      content: texts.map((text) => ({ type: 'text', text })),
    })
    sender.send([parts('Rain fell.', 'Sun shone.', 'Question: why?')])
    const [message] = sender.send([parts('Wind blew.', 'Sun shone.', 'Rain fell.', 'Question: when?')])
    expect((message!.content as { text: string }[]).map(({ text }) => text)).toEqual([
      'Rain fell.',
      'Sun shone.',
      'Wind blew.',
      'Question: when?',
    ])
  })

  test('an answer of the assistant is never touched', () => {
    const answer = assistant('[1] x\n\n[2] y')
    sender.send([user('q', 'a', 'b'), answer, user('q2', 'b', 'a')])
    const sent = sender.send([user('q', 'a', 'b'), answer, user('q3', 'a', 'b')])
    expect(sent[1]).toEqual(answer)
  })

  test('shadow mode computes and sends what it got', () => {
    sender.send([system, user('q1', 'a', 'b', 'c')])
    const decision = sender.decide({ messages: [system, user('q2', 'd', 'b', 'a')] }, { mode: 'shadow' })
    expect(decision).toMatchObject({ body: undefined, skipped: 'shadow', blocks: 3, moved: 0 })
    expect(decision.contexts[0]!.order).toEqual([2, 1, 0])
  })

  test('mode off looks at nothing', () => {
    expect(sender.decide({ messages: [user('q', 'a')] }, { mode: 'off' })).toMatchObject({
      body: undefined,
      blocks: 0,
      skipped: 'mode_off',
    })
  })
})

describe('an order that the request states', () => {
  const documents = (content: unknown): string[] => [...String(content).matchAll(/">(\w)</g)].map(([, text]) => text!)

  test('is that of its blocks, whatever the engine holds, and is annotated', () => {
    sender.send([system, user('q1', 'a', 'b', 'c')])
    const [, message] = sender.send([system, user('q2', 'd', 'b', 'a')], { options: { order: [1, 0, 2] } })
    expect(documents(message!.content)).toEqual(['b', 'd', 'a'])
    expect(message!.content).toContain('priority order: [2] > [1] > [3]')
  })

  test.each([[[2, 0]], [[0, 1, 1]], [[3, 4, 5]]])('%j, which does not name each block once, is none', (order) => {
    sender.send([system, user('q1', 'a', 'b', 'c')])
    const [, message] = sender.send([system, user('q2', 'd', 'b', 'a')], { options: { order } })
    expect(documents(message!.content)).toEqual(['a', 'b', 'd'])
  })

  test('is counted across the lists; lists that it does not reach are ordered like any other', () => {
    const turns = [system, user('q1', 'a', 'b'), assistant('x'), user('q2', 'c', 'd')]
    const sent = sender.send(turns, { options: { order: [1, 0, 3, 2] } })
    expect(sent.map(({ content }) => documents(content).join(''))).toEqual(['', 'ba', '', 'dc'])
    sender = new Sender()
    const again = sender.send(turns, { options: { order: [1, 0] } })
    expect(again.map(({ content }) => documents(content).join(''))).toEqual(['', 'ba', '', 'cd'])
  })

  test('moves nothing that words forbid to move, and nothing if nothing is to be reordered', () => {
    const compares = [system, user('Compare the first document with the second.', 'a', 'b')]
    expect(sender.send(compares, { options: { order: [1, 0] } })).toEqual(compares)
    const plain = [system, user('q', 'a', 'b')]
    expect(sender.send(plain, { options: { order: [1, 0], reorder: false } })).toEqual(plain)
  })

  test('blocks that become pointers come last, and none is lost', () => {
    const text = 'This is said again, and a pointer to it is shorter. '.repeat(20).trim()
    const turns = [system, user('q1', text, 'b'), assistant('x'), user('q2', 'c', text, 'd')]
    const sent = sender.send(turns, { options: { order: [0, 1, 3, 4, 2] } })
    expect(String(sent[3]!.content)).toMatch(/>d<.*>c<.*Please refer to/s)
  })

  test('holds on an engine that reuses at any position', () => {
    sender.reuse = { ratio: 0.15 } as Sender['reuse']
    const [, message] = sender.send([system, user('q', 'a', 'b')], { options: { order: [1, 0] } })
    expect(documents(message!.content)).toEqual(['b', 'a'])
  })
})

describe('replay stability', () => {
  const turns = (): Message[][] => {
    const one = [system, user('q1', 'b', 'a')]
    const two = [...one, assistant('answer 1'), user('q2', 'd', 'c')]
    const three = [...two, assistant('answer 2'), user('q3', 'c', 'd', 'e')]
    return [one, two, three, [...three, assistant('answer 3'), user('q4', 'a', 'e')]]
  }

  test('four turns: what was sent of a turn is sent again, whatever came between', () => {
    sender.send([system, user('warm up', 'a', 'b')])
    let before: Message[] = []
    for (const [i, turn] of turns().entries()) {
      const sent = sender.send(turn)
      expect(sent.slice(0, before.length)).toEqual(before)
      expect(sent).toHaveLength(turn.length)
      before = sent
      // other conversations change the index
      sender.send([system, user(`other ${i}`, 'b', 'e', 'a', String(i))])
    }
    expect(before[1]).not.toEqual(turns()[3]![1])
  })

  test('a retry is sent as the first try was, although the index has moved on', () => {
    sender.send([system, user('q0', 'a', 'b')])
    const request = [system, user('q1', 'b', 'c', 'a')]
    const first = sender.send(request)
    sender.mirror.apply({ type: 'cleared' })
    sender.send([system, user('q2', 'c', 'b', 'a')])
    expect(sender.send(request)).toEqual(first)
  })

  test('an edited turn is decided anew, and what stands before it is repeated', () => {
    sender.send([system, user('q0', 'a', 'b')])
    const [, two] = turns()
    const first = sender.send(two!)
    const edited = [...two!.slice(0, 3), user('q2, edited', 'c', 'd')]
    const sent = sender.send(edited)
    expect(sent.slice(0, 3)).toEqual(first.slice(0, 3))
    expect(JSON.stringify(sent[3])).toContain('q2, edited')
    // and the unedited branch is still sent as before
    expect(sender.send(two!)).toEqual(first)
  })

  test('two users whose first messages are equal keep their own histories', () => {
    sender.send([system, user('q0', 'a', 'b')])
    const first = [system, user('q1', 'b', 'a')]
    const [one, other] = [sender.send(first), sender.send(first)]
    expect(other).toEqual(one)
    const longer = [...first, assistant('answer for one'), user('q2', 'c', 'd')]
    const otherLonger = [...first, assistant('answer for the other'), user('q2', 'd', 'c')]
    const [oneSent, otherSent] = [sender.send(longer), sender.send(otherLonger)]
    expect(oneSent.slice(0, 2)).toEqual(one)
    expect(otherSent.slice(0, 2)).toEqual(one)
    expect(sender.send([...longer, assistant('x'), user('q3')]).slice(0, 4)).toEqual(oneSent)
    expect(sender.send([...otherLonger, assistant('y'), user('q3')]).slice(0, 4)).toEqual(otherSent)
  })
})

describe('explicit blocks', () => {
  const explicit = (...texts: string[]): unknown => ({ blocks: texts.map((text) => ({ text })) })
  const asking = (question: string): Message => ({
    role: 'user',
    content: `<context>{{context}}</context>\n${question}`,
  })

  test('they stand at the placeholder, numbered as sent, and the field is gone', () => {
    const decision = sender.decide({ messages: [asking('q')], reprise: explicit('a', 'b'), n: 1 })
    expect(JSON.parse(decision.body!)).toEqual({
      messages: [{ role: 'user', content: '<context>[Doc_1] a\n\n[Doc_2] b</context>\nq' }],
      n: 1,
    })
  })

  test('rank is the ranking, whatever order they are given in', () => {
    const reprise = {
      blocks: [
        { text: 'second', rank: 2 },
        { text: 'first', rank: 1 },
      ],
    }
    expect(sender.send([asking('q')], { reprise })[0]!.content).toContain('[Doc_1] first\n\n[Doc_2] second')
  })

  test('they are ordered like any others, with the annotation behind the closing tag', () => {
    sender.send([asking('q1')], { reprise: explicit('a', 'b') })
    expect(sender.send([asking('q2')], { reprise: explicit('c', 'b', 'a') })[0]!.content).toBe(
      '<context>[Doc_1] a\n\n[Doc_2] b\n\n[Doc_3] c</context>\n\nPlease read the context in the following priority order: ' +
        '[Doc_3] > [Doc_2] > [Doc_1] and answer the question.\nq2',
    )
  })

  test('a block may hold anything, also what looks like a marker or a replacement pattern', () => {
    const text = '$& {{context}} [Doc_1] </context> \u2028'
    expect(sender.send([asking('q')], { reprise: explicit(text, text) })[0]!.content).toBe(
      `<context>[Doc_1] ${text}\n\n[Doc_2] ${text}</context>\nq`,
    )
  })

  test('without a place for them they would be lost: an error', () => {
    expect(() => sender.decide({ messages: [user('q')], reprise: explicit('a') })).toThrow(/has no place/)
  })

  test('with a place in several prompts, all but one would lose them: an error', () => {
    const body = { prompt: ['{{context}} q1', '{{context}} q2'], reprise: explicit('a') }
    expect(() => sender.decide(body, { api: 'completions' })).toThrow(/in several prompts/)
    expect(() => sender.decide({ ...body, prompt: ['q1', '{{context}} q2'] }, { api: 'completions' })).not.toThrow()
  })

  test('a past turn is sent with the blocks it had', () => {
    const first = sender.send([asking('q1')], { reprise: explicit('a', 'b'), conversation: 'one' })
    const later = [asking('q1'), assistant('x'), asking('q2')]
    const sent = sender.send(later, { reprise: explicit('c'), conversation: 'one' })
    expect(sent[0]).toEqual(first[0])
    expect(sent[2]!.content).toBe('<context>[Doc_1] c</context>\nq2')
  })

  test('when equal messages were sent with different blocks, a later turn is given neither', () => {
    sender.send([asking('q1')], { reprise: explicit('a'), conversation: 'one' })
    sender.send([asking('q1')], { reprise: explicit('b'), conversation: 'one' })
    const later = [asking('q1'), assistant('x'), { role: 'user', content: 'q2' }]
    const decision = sender.decide({ messages: later }, { conversation: 'one' })
    expect(decision).toMatchObject({ body: undefined, skipped: 'ambiguous_turn' })
  })

  test('when the blocks of a past turn are not known, that is told, whatever is done with the others', () => {
    const messages = [asking('q1'), assistant('x'), asking('q2')]
    sender.send([...messages.slice(0, 2), asking('q0')], { reprise: explicit('a', 'b') })
    const decision = sender.decide({ messages, reprise: explicit('b', 'a') })
    expect(decision).toMatchObject({ skipped: 'unknown_turn', moved: 2 })
    expect(JSON.parse(decision.body!).messages[0]).toEqual(messages[0])
    const named = sender.decide({ messages, reprise: explicit('b', 'a') }, { conversation: 'lost' })
    expect(named.skipped).toBe('unknown_turn')
  })

  test('who only speaks of the placeholder has lost nothing', () => {
    const message = { role: 'user', content: 'How do I write {{context}} in a template?' }
    expect(sender.decide({ messages: [message] })).toMatchObject({ body: undefined, skipped: 'no_blocks' })
  })

  test('a named conversation tells them apart', () => {
    const one = sender.send([asking('q1')], { reprise: explicit('a'), conversation: 'one' })
    sender.send([asking('q1')], { reprise: explicit('b'), conversation: 'two' })
    const later = [asking('q1'), assistant('x'), { role: 'user', content: 'q2' }]
    expect(sender.send(later, { conversation: 'one' })[0]).toEqual(one[0])
  })
})

test('permutation: every block is sent exactly once and byte for byte, through any history', () => {
  const block = fc.oneof(
    fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'a\n\nlong one', ''),
    fc.string({ maxLength: 8 }),
  )
  const clean = block.map((text) => text.replaceAll(/[<>]/g, ''))
  const requests = fc.array(fc.array(clean, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(requests, (history) => {
      const fresh = new Sender()
      history.forEach((blocks, i) => {
        const [, message] = fresh.send([system, user(`q${i}`, ...blocks)])
        const sent = [...String(message!.content).matchAll(/<document index="(\d+)">([^<]*)<\/document>/g)]
        expect(sent.map(([, label]) => Number(label))).toEqual(blocks.map((_, place) => place + 1))
        expect(sent.map(([, , text]) => text).toSorted()).toEqual(blocks.toSorted())
        expect(String(message!.content).endsWith(`\n\nQuestion: q${i}`)).toBe(true)
      })
    }),
  )
})

test('unusual bodies are left alone and say why', () => {
  expect(sender.decide('[]').skipped).toBe('unexpected_shape')
  expect(sender.decide({ messages: [{ role: 'user', content: 'hello' }] }).skipped).toBe('no_blocks')
})

test.each([
  ['a last document that may go on', '[1] A\n\nmore of A\n\n[2] B\n\nIs it so'],
  ['tags without partners among others', '<document>A</document>\n<document>B\n</document>\n</document>\n\nWhy?'],
])('%s is told from a prompt without documents', (_, content) => {
  const decision = sender.decide({ messages: [{ role: 'user', content }] })
  expect(decision).toMatchObject({ body: undefined, blocks: 0, skipped: 'unsure_borders' })
  const asked = { role: 'user', content: 'As [1] says, see Document 4: it is one. Footnote:\n[3] x' }
  expect(sender.decide({ messages: [asked] }).skipped).toBe('no_blocks')
})

test('a fault of ours forwards the request as received', () => {
  const mirror = new Sender().mirror
  mirror.order = () => {
    throw new Error('broken')
  }
  const decision = decide(
    {
      received: readReceived(
        'chat_completions',
        Buffer.from(JSON.stringify({ messages: [user('q', 'a', 'b')] })),
        false,
      ),
      mode: 'on',
      tenant: 't',
      conversation: undefined,
      options: {},
      wording: defaultWording,
    },
    { candidates: [{ mirror }], store: sender.store, select: () => 0, now: () => 0 },
  )
  expect(decision).toMatchObject({ splices: undefined, skipped: 'internal_error', fault: new Error('broken') })
})

test('decisions that leave requests as they are share nothing', () => {
  const decide = () => sender.decide({ messages: [{ role: 'user', content: 'Hello.' }] }, { mode: 'off' })
  expect(decide().turns).not.toBe(decide().turns)
})
