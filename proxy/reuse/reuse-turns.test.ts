import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { assistantMessage as assistant, type Message, Sender, userMessage as user } from '../request/sender.fixture.ts'

const long = (name: string): string =>
  `${name}: what ${'this document has to say is longer than a sentence that points to it, '.repeat(3)}end`
const pointer = (label: string): string => `Please refer to ${label} in the previous conversation.`
const system = { role: 'system', content: 'Answer from the documents.' }
const contentOf = (message: Message | undefined): string => String(message!.content)

let sender: Sender
beforeEach(() => {
  sender = new Sender()
})

describe('de-duplication across turns', () => {
  const first = [system, user('q1', long('a'), long('b'))]
  const second = [...first, assistant('x'), user('q2', long('c'), long('b'))]

  test('a block of an earlier turn is replaced by where it stands, its tag and label stay', () => {
    sender.send(first)
    const decision = sender.decide({ messages: second })
    expect(decision).toMatchObject({ blocks: 4, deduplicated: 1, moved: 0, skipped: undefined })
    expect(contentOf(sender.send(second)[3])).toBe(
      `<documents>\n<document index="1">${long('c')}</document>\n<document index="2">${pointer('[2]')}</document>\n</documents>\n\nQuestion: q2`,
    )
  })

  test('it is the content that counts: another label and another markup are no other block', () => {
    sender.send(first)
    const other = [
      ...first,
      assistant('x'),
      { role: 'user', content: `[Doc_ab1] ${long('b')}\n\n[Doc_cd2] ${long('d')}\n\nQuestion: q` },
    ]
    expect(contentOf(sender.send(other)[3])).toContain(`[Doc_ab1] ${pointer('[2]')}\n\n[Doc_cd2] ${long('d')}`)
  })

  test('what the user and the assistant say is never touched', () => {
    const said = [...first, assistant(long('a')), { role: 'user', content: long('a') }]
    expect(sender.send(said)).toEqual(said)
  })

  test('inside one list the second of two equal blocks points to the first', () => {
    const [, message] = sender.send([system, user('q', long('a'), long('b'), long('a'))])
    expect(contentOf(message)).toContain(`<document index="3">${pointer('[1]')}</document>`)
  })

  test('however it is ordered, the full block stands in front of what points to it', () => {
    sender.send([system, user('q', long('b'), long('c'))])
    const [, message] = sender.send([system, user('q', long('a'), long('b'), long('a'), long('c'))])
    const text = contentOf(message)
    expect(text.indexOf(long('a'))).toBeGreaterThan(0)
    expect(text.indexOf('Please refer to')).toBeGreaterThan(text.indexOf(long('a')))
    expect(text.split(long('a'))).toHaveLength(2)
  })

  test('it can be switched off', () => {
    sender.send(first)
    expect(sender.send(second, { options: { dedup: false } })).toEqual(second)
  })

  test('parts of blocks are replaced only if that is asked for', () => {
    const lines = Array.from({ length: 20 }, (_, i) => `Line ${i} of what both of these reports have to say of it.`)
    const reports = ['The north', 'The south'].map((day) => `${day} was dry.\n${lines.join('\n')}\n${day} ended so.`)
    const list = [system, user('q', ...reports)]
    expect(sender.send(list)).toEqual(list)
    const [, message] = sender.send(list, { options: { overlaps: true } })
    expect(contentOf(message)).toContain('Please refer to [1]')
    expect(contentOf(message)).toContain('The south was dry.')
    // and what was sent in either way stays
    const later = [...list, assistant('x'), { role: 'user', content: 'more' }]
    expect(sender.send(later)[1]).toEqual(list[1])
    expect(sender.send(later, { options: { overlaps: true } })[1]).toEqual(message)
  })

  test.each(['Quote the first document.', 'Compare the second document with the third.'])(
    'a list whose texts are the subject is sent in full: %s',
    (question) => {
      const list = [...first, assistant('x'), user(question, long('c'), long('b'), long('b'))]
      sender.send(first)
      expect(sender.send(list)).toEqual(list)
    },
  )

  test("another tenant's turns are no place to point to", () => {
    sender.send(first, { tenant: 'one' })
    const alone = [system, user('q2', long('c'), long('b'))]
    expect(sender.send(alone, { tenant: 'two' })).toEqual(alone)
  })
})

describe('replay stability', () => {
  const first = [system, user('q1', long('a'), long('b'))]
  const second = [...first, assistant('x'), user('q2', long('c'), long('b'))]
  const third = [...second, assistant('y'), user('q3', long('b'), long('d'))]

  test('a de-duplicated turn is sent again as it was', () => {
    sender.send(first)
    const sent = sender.send(second)
    expect(sender.send(third).slice(0, 4)).toEqual(sent)
  })

  test('switching it on or off later changes no turn that was sent', () => {
    sender.send(first)
    const sent = sender.send(second)
    expect(sender.send(third, { options: { dedup: false } }).slice(0, 4)).toEqual(sent)
    const other = new Sender()
    other.send(first, { options: { dedup: false } })
    const full = other.send(second, { options: { dedup: false } })
    expect(other.send(third).slice(0, 4)).toEqual(full)
  })

  test('a client that drops the turn that is pointed to gets the full block sent, and the rest as it was', () => {
    sender.send([system, user('q0', long('d'), long('c'))])
    sender.send(first)
    const sent = sender.send(second)
    const truncated = [system, ...third.slice(3)]
    const [, kept, , last] = sender.send(truncated)
    expect(contentOf(sent[3])).toContain(pointer('[2]'))
    expect(contentOf(kept)).toBe(contentOf(sent[3]).replace(pointer('[2]'), long('b')))
    expect(contentOf(last)).toContain(pointer('[2]'))
    expect(sender.send(truncated)).toEqual([system, kept, truncated[2], last])
  })

  test('an order that was sent outlives the turns in front of it', () => {
    sender.send([system, user('q0', long('a'), long('b'))])
    const turn = user('q1', long('b'), long('a'))
    const sent = sender.send([system, turn])
    expect(contentOf(sent[1])).not.toBe(contentOf(turn))
    const later = sender.send([system, assistant('earlier'), turn, assistant('x'), user('q2', long('e'), long('f'))])
    expect(later[2]).toEqual(sent[1])
  })

  test('explicit blocks of past turns are pointed to as well, and come back in full with their turn', () => {
    const asking = (question: string): Message => ({ role: 'user', content: `{{context}}\n\n${question}` })
    const reprise = (...texts: string[]): object => ({ blocks: texts.map((text) => ({ text })) })
    const one = sender.send([asking('q1')], { reprise: reprise(long('a'), long('b')), conversation: 'c' })
    const history = [asking('q1'), assistant('x'), asking('q2')]
    const two = sender.send(history, { reprise: reprise(long('b'), long('c')), conversation: 'c' })
    expect(two[0]).toEqual(one[0])
    expect(contentOf(two[2])).toBe(
      `[Doc_1] ${pointer('[Doc_2]')} (It begins: "b: what this document has to say is…")\n\n[Doc_2] ${long('c')}\n\nq2`,
    )
    const three = sender.send([...history, assistant('y'), asking('q3')], {
      reprise: reprise(long('c')),
      conversation: 'c',
    })
    expect(three.slice(0, 3)).toEqual(two)
    expect(contentOf(three[4])).toContain(`${pointer('[Doc_2]')} (It begins: "c: what this document has to say is…")`)
  })
})

describe('options of one request', () => {
  const off = (...names: string[]): object => Object.fromEntries(names.map((option) => [option, false]))
  const warmUp = [system, user('q0', long('a'), long('b'))]
  const turn = [system, user('q1', long('b'), long('a'))]

  test('a turn that was sent already is asked again as the options say, and then as it was again', () => {
    sender.send(warmUp)
    const plain = sender.send(turn)
    expect(plain).not.toEqual(turn)
    expect(sender.send(turn, { options: off('reorder') })).toEqual(turn)
    expect(contentOf(plain[1])).toContain('Please read')
    expect(contentOf(sender.send(turn, { options: off('annotate') })[1])).not.toContain('Please read')
    const list = [system, user('q2', long('a'), long('a'))]
    const pointing = sender.send(list)
    expect(contentOf(pointing[1])).toContain(pointer('[1]'))
    expect(sender.send(list, { options: off('dedup') })).toEqual(list)
    expect(sender.send(turn)).toEqual(plain)
    expect(sender.send(list)).toEqual(pointing)
  })

  test('the body may say so too', () => {
    sender.send(warmUp)
    sender.send(turn)
    expect(sender.send(turn, { reprise: { options: { reorder: 'off' } } })).toEqual(turn)
  })

  test('a retry under the same options is sent as the first try was, whatever came between', () => {
    sender.send(warmUp)
    const options = off('annotate')
    const first = sender.send(turn, { options })
    sender.mirror.apply({ type: 'cleared' })
    sender.send([system, user('q9', long('b'), long('c'))])
    expect(sender.send(turn, { options })).toEqual(first)
    const next = [...turn, assistant('x'), user('q2', long('c'))]
    expect(sender.send(next, { options }).slice(0, 2)).toEqual(first)
  })

  test('a turn of the past goes as it went without options, if it did, else as it went with them', () => {
    sender.send(warmUp)
    const plain = sender.send(turn)
    sender.send(turn, { options: off('reorder') })
    const next = [...turn, assistant('x'), user('q2', long('c'))]
    expect(sender.send(next).slice(0, 2)).toEqual(plain)
    const other = [system, user('q5', long('b'), long('a'))]
    const unannotated = sender.send(other, { options: off('annotate') })
    expect(sender.send([...other, assistant('x'), user('q6', long('c'))]).slice(0, 2)).toEqual(unannotated)
    expect(sender.send([...other, assistant('x'), user('q7', long('d'))]).slice(0, 2)).toEqual(unannotated)
  })

  test('explicit blocks come back in the order they went without options', () => {
    const asking = (question: string): Message => ({ role: 'user', content: `{{context}}\n\n${question}` })
    const reprise = (...texts: string[]): object => ({ blocks: texts.map((text) => ({ text })) })
    sender.send([asking('q0')], { reprise: reprise('a', 'b'), conversation: 'c' })
    const plain = sender.send([asking('q1')], { reprise: reprise('b', 'a'), conversation: 'c' })
    const inOrder = sender.send([asking('q1')], {
      reprise: reprise('b', 'a'),
      options: off('reorder'),
      conversation: 'c',
    })
    expect(inOrder).not.toEqual(plain)
    const next = [asking('q1'), assistant('x'), asking('q2')]
    expect(sender.send(next, { reprise: reprise('c'), conversation: 'c' })[0]).toEqual(plain[0])
    expect(sender.send(next, { reprise: reprise('c'), options: off('reorder'), conversation: 'c' })[0]).toEqual(
      inOrder[0],
    )
    // different blocks remain different, even if sent with other options
    sender.send([asking('q1')], { reprise: reprise('d'), options: off('reorder'), conversation: 'c' })
    expect(sender.decide({ messages: next, reprise: reprise('c') }, { conversation: 'c' }).skipped).toBe(
      'ambiguous_turn',
    )
  })

  test('explicit blocks that were only ever sent with options come back too', () => {
    const asking: Message = { role: 'user', content: '{{context}}' }
    const named = { conversation: 'c' }
    const first = sender.send([asking], { reprise: { blocks: [{ text: 'a' }] }, options: off('annotate'), ...named })
    expect(sender.send([asking, assistant('x'), { role: 'user', content: 'more' }], named)[0]).toEqual(first[0])
  })
})

describe('blocks whose label stands inside', () => {
  const results = (...texts: string[]): Message => ({
    role: 'user',
    content: `Results:\n${JSON.stringify(texts.map((text, i) => ({ id: i + 1, text })))}\n\nQuestion: q`,
  })
  const listOf = (message: Message | undefined): unknown[] => JSON.parse(/\[.*\]/.exec(contentOf(message))![0])

  test('what is pointed to takes its label along, and the array stays one', () => {
    sender.send([results(long('b'), long('c'))])
    const [message] = sender.send([results(long('a'), long('a'), long('c'), long('b'))])
    const list = listOf(message)
    expect(list).toHaveLength(4)
    const full = list.filter((one) => typeof one === 'object') as { id: number; text: string }[]
    expect(full.map(({ text }) => text).toSorted()).toEqual([long('a'), long('b'), long('c')])
    const words = list.filter((one) => typeof one === 'string')
    const { id } = full.find(({ text }) => text === long('a'))!
    expect(words).toEqual([expect.stringContaining(pointer(`[${id}]`))])
  })

  test('the pointer is repeated with its turn', () => {
    const first = [results(long('a'), long('b'))]
    sender.send(first)
    const second = [...first, assistant('x'), results(long('c'), long('a'))]
    const sent = sender.send(second)
    expect(contentOf(sent[2])).toContain('Please refer to')
    expect(sender.send([...second, assistant('y'), user('q')]).slice(0, 3)).toEqual(sent)
  })
})

test('what the assistant says under a label makes a pointer to that label say more', () => {
  const first = [system, user('q1', long('a'), long('b'))]
  const said = [...first, assistant('I found:\n\n[2] something else'), user('q2', long('c'), long('b'))]
  expect(contentOf(sender.send(said)[3])).toContain(`${pointer('[2]')} (It begins: "b: what`)
})

describe('prompts that the client has rendered', () => {
  const marked = (turn: string): string => `<|im_start|>user\n${turn}<|im_end|>\n<|im_start|>assistant\n`
  const plain = (turn: string): string => `User: ${turn}\nAssistant: `
  // documents are of different lengths
  const document = (name: string): string => long(name) + name.repeat(name.charCodeAt(0) % 8)
  const asking = (question: string, ...names: string[]): string => contentOf(user(question, ...names.map(document)))
  const send = (to: Sender, prompt: string): string => to.sendBody({ prompt }, { api: 'completions' }).prompt

  test.each([
    ['with marks of a template', marked],
    ['without any', plain],
  ])('lists of earlier turns are sent again as they were sent: %s', (_title, render) => {
    const lists = fc.array(fc.uniqueArray(fc.constantFrom(...'abcdefgh'), { minLength: 2, maxLength: 5 }), {
      minLength: 2,
      maxLength: 6,
    })
    fc.assert(
      fc.property(lists, (asked) => {
        const fresh = new Sender()
        let received = ''
        let before = ''
        for (const [i, names] of asked.entries()) {
          received += render(asking(`q${i}`, ...names))
          const sent = send(fresh, received)
          expect(sent.slice(0, before.length)).toBe(before)
          before = sent
          received += 'So it is.\n'
        }
      }),
      { numRuns: 30 },
    )
  })

  test('a list that was answered stays as it was, also when no other follows; one that is asked about does not', () => {
    send(sender, marked(asking('warm up', 'a', 'b')))
    const first = marked(asking('q', 'b', 'a'))
    const sent = send(sender, first)
    expect(sent).toContain('[2] > [1]')
    // this sender has an empty mirror
    const anew = Object.assign(new Sender(), { store: sender.store })
    expect(send(anew, marked(asking('r', 'b', 'a')))).toBe(marked(asking('r', 'b', 'a')))
    expect(send(anew, `${first}So.<|im_end|>\n${marked('And?')}`).slice(0, sent.length)).toBe(sent)
  })
})

const name = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const turns = fc.array(fc.array(name, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 })

test('through any conversation every block stands in the prompt, in full or earlier, and no turn ever changes', () => {
  fc.assert(
    fc.property(
      turns,
      fc.array(fc.uniqueArray(name, { minLength: 2 }), { maxLength: 4 }),
      fc.nat(3),
      (asked, others, drop) => {
        const fresh = new Sender()
        const history: Message[] = [system]
        let before: Message[] = []
        for (const [i, names] of asked.entries()) {
          for (const other of others) fresh.send([system, user(`other ${i}`, ...other.map(long))])
          history.push(user(`q${i}`, ...names.map(long)))
          const sent = fresh.send([...history])
          expect(sent.slice(0, before.length)).toEqual(before)
          expectComplete(history, sent)
          before = sent
          history.push(assistant(`answer ${i}`))
        }
        const truncated = [system, ...history.slice(1 + 2 * Math.min(drop, asked.length - 1), -1)]
        expectComplete(truncated, fresh.send(truncated))
      },
    ),
    { numRuns: 40 },
  )
}, 30_000)

/**
 * Expects of every message that all its blocks occur in what was sent up to it, and that anything pointed to comes
 * before.
 */
function expectComplete(received: readonly Message[], sent: readonly Message[]): void {
  let text = ''
  for (const [i, message] of received.entries()) {
    const pieces = contentOf(sent[i]).split(/(?<=<\/document>)/)
    for (const piece of pieces) {
      text += piece
      const label = /Please refer to \[(\d+)\]/.exec(piece)?.[1]
      if (label !== undefined) expect(text).toMatch(new RegExp(`<document index="${label}">[a-e]: what`))
    }
    for (const block of contentOf(message).match(/[a-e]: what[^<]*/g) ?? []) expect(text).toContain(block)
  }
}
