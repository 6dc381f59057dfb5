import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import type { VolatileFields } from '../prompt/cut-ranks.ts'
import { assistantMessage, type Message, Sender } from './sender.fixture.ts'

interface Result {
  readonly id: string
  readonly score: number
}

const textOf = (id: string): string => `What is known of ${id}: it is one of many, and unlike all others.`

/** How applications write results with scores, and the label of the block at a place. */
const forms: Readonly<
  Record<string, { write: (results: readonly Result[]) => string; label: (place: number) => string | undefined }>
> = {
  array: {
    write: (results) => JSON.stringify(results.map(({ id, score }) => ({ content: textOf(id), score }))),
    label: () => undefined,
  },
  nested: {
    write: (results) =>
      JSON.stringify({
        results: results.map(({ id, score }) => ({ metadata: { relevance_score: score }, page_content: textOf(id) })),
      }),
    label: () => undefined,
  },
  spaced: {
    write: (results) =>
      JSON.stringify(
        results.map(({ id, score }, i) => ({
          id: i + 1,
          rank: 7,
          distance: `${score}`,
          content: textOf(id),
          similarity: score,
        })),
        null,
        2,
      ),
    label: (place) => `[${place + 1}]`,
  },
  tags: {
    write: (results) =>
      results
        .map(({ id, score }, i) => `<document index="${i + 1}"  score="${score}">${textOf(id)}</document>`)
        .join('\n'),
    label: (place) => `[${place + 1}]`,
  },
}
const names = Object.keys(forms)

const ask = (form: string, results: readonly Result[], question = 'q'): Message => ({
  role: 'user',
  content: `Documents:\n${forms[form]!.write(results)}\n\nQuestion: ${question}?`,
})
const contentOf = (messages: readonly Message[]): string => messages.at(-1)!.content as string
const count = (text: string, word: string): number => text.split(word).length - 1

let sender: Sender
beforeEach(() => {
  sender = new Sender()
})

const send = (volatileFields: VolatileFields, ...messages: Message[]): Message[] =>
  sender.send(messages, { volatileFields })
const results = (...own: [string, number][]): Result[] => own.map(([id, score]) => ({ id, score }))

describe.each(names)('scores in %s', (form) => {
  const first = ask(form, results(['a', 0.91], ['b', 0.83], ['c', 0.75]))
  const later = ask(form, results(['c', 0.66], ['b', 0.64], ['a', 0.62]), 'other')

  test('are kept by default, and equal documents differ by them', () => {
    send('keep', first)
    expect(send('keep', later)).toEqual([later])
    const decision = sender.decide({ messages: [later] })
    expect(decision.contexts[0]!.found.slots.every(({ ranks }) => ranks!.length > 0)).toBe(true)
  })

  test('are told behind the list when they are moved, and the documents are reused', () => {
    const sent = contentOf(send('move', first))
    const label = forms[form]!.label(0) === undefined ? '' : '\\[\\d\\] '
    expect(sent).toMatch(new RegExp(`: ${label}\\w.*0\\.91.*, ${label}\\w.*0\\.83.*, ${label}\\w.*0\\.75.*\\.`))
    const other = contentOf(send('move', later))
    const list = sent.slice(0, sent.indexOf('\n\nValues'))
    expect(other.startsWith(list)).toBe(true)
    // only labels that are in the prompt are ranked
    if (label === '') expect(other).not.toContain('Please read')
    else expect(other).toContain(' and answer the question. Values of the search: ')
    expect(other).toMatch(new RegExp(`Values of the search: ${label}\\w.*0\\.62.*, ${label}\\w.*0\\.64.*, .*0\\.66`))
  })

  test('are gone when they are dropped', () => {
    const sent = contentOf(send('drop', first))
    expect(sent).not.toMatch(/0\.\d\d|[Vv]alues of/)
    expect(contentOf(send('drop', later))).not.toMatch(/0\.\d\d|[Vv]alues of/)
  })

  test('a turn is sent again as it was sent, whatever is configured by then', () => {
    const sent = send('move', first)
    const history = [first, assistantMessage('It is a.'), later]
    const again = send('keep', ...history)
    expect(again[0]).toEqual(sent[0])
    expect(contentOf(again)).toContain('0.66')
    expect(contentOf(again)).not.toContain('Values of')
    sender = new Sender()
    const kept = send('keep', first)
    expect(send('move', ...history)[0]).toEqual(kept[0])
  })
})

const someResults = fc
  .uniqueArray(fc.record({ id: fc.stringMatching(/^[a-z]{3,8}$/), score: fc.integer({ min: 1_000, max: 999_999 }) }), {
    minLength: 2,
    maxLength: 6,
    selector: ({ id }) => id,
  })
  .filter((own) => new Set(own.map(({ score }) => score)).size === own.length)
  // no score is a prefix of another, so that each can be counted
  .map((own) => own.map(({ id, score }) => ({ id, score: Number(`0.${score}9`) })))
const someForm = fc.constantFrom(...names)

/** Expects a value among those that are told behind a list: by its block's label, or else in its block's place. */
function expectTold(told: string, label: string | undefined, place: number, score: number): void {
  const value = `(.* )?[\\w.]+ ${score}`
  if (label === undefined) {
    expect(told.split(', ')[place]).toMatch(new RegExp(`^${value}`))
    return
  }
  const words = told.split(/, (?=\[)/).find((one) => one.startsWith(`${label} `))
  expect(words).toMatch(new RegExp(`^\\${label} ${value}`))
}

test('moved, each value is in the prompt exactly once, by the label of its block or in its place, and each document too', () => {
  fc.assert(
    fc.property(someForm, fc.array(someResults, { minLength: 1, maxLength: 3 }), (form, requests) => {
      sender = new Sender()
      for (const [turn, own] of requests.entries()) {
        const before = ask(form, own, `${turn}`)
        const sent = contentOf(send('move', before))
        const told = /Values of the search: (.*)\.\n/.exec(sent)![1]!
        const places = own.toSorted((a, b) => sent.indexOf(textOf(a.id)) - sent.indexOf(textOf(b.id)))
        for (const [place, { id, score }] of places.entries()) {
          expect(count(sent, textOf(id))).toBe(1)
          expectTold(told, forms[form]!.label(place), place, score)
          // one form contains each value twice
          expect(count(sent, `${score}`)).toBe(form === 'spaced' ? 2 : 1)
        }
        // the list keeps its format: JSON stays JSON, and tags stay tags
        const list = sent.slice('Documents:\n'.length, sent.search(/\n\n(?:Please|Values)/))
        if (form !== 'tags') expect(() => JSON.parse(list)).not.toThrow()
        else expect(list.match(/<document index="\d"/g)).toHaveLength(own.length)
      }
    }),
    { numRuns: 60 },
  )
})

test('kept, a prompt is sent byte for byte as without the setting', () => {
  fc.assert(
    fc.property(someForm, fc.array(someResults, { minLength: 1, maxLength: 3 }), (form, requests) => {
      const [without, kept] = [new Sender(), new Sender()]
      for (const [turn, own] of requests.entries()) {
        const message = ask(form, own, `${turn}`)
        expect(kept.send([message], { volatileFields: 'keep' })).toEqual(without.send([message]))
      }
    }),
    { numRuns: 30 },
  )
})

describe('a list stays as it is', () => {
  const message = ask('tags', results(['a', 0.91], ['b', 0.83]))
  test('where its values cannot be told', () => {
    const options = { annotate: false } as const
    expect(sender.send([message], { volatileFields: 'move', options })).toEqual([message])
  })
  test('where it is spoken of by place', () => {
    const asked = ask('tags', results(['a', 0.91], ['b', 0.83]), 'What does document 2 say')
    expect(send('move', asked)).toEqual([asked])
    expect(send('drop', asked)).toEqual([asked])
  })
  test('in shadow mode', () => {
    expect(sender.send([message], { volatileFields: 'move', mode: 'shadow' })).toEqual([message])
  })
  test.each([
    ['words say how relevant it is', { relevance: 'it names the town' }],
    ['numbers are no ranks', { url: 'http://a', year: 1990 }],
  ])('where %s', (_, fields) => {
    const found = ['a', 'b'].map((id) => ({ content: textOf(id), ...fields }))
    const content = `Documents:\n${JSON.stringify(found)}\n\nQuestion: why?`
    expect(send('move', { role: 'user', content })).toEqual([{ role: 'user', content }])
  })
})

test('a number that counts the blocks is their label, and no value', () => {
  const write = (...ids: string[]): Message => ({
    role: 'user',
    content: `Documents:\n${JSON.stringify(ids.map((id, i) => ({ rank: i + 1, content: textOf(id) })))}\n\nQuestion: why?`,
  })
  expect(send('move', write('a', 'b'))).toEqual([write('a', 'b')])
})

test('equal names in one object are not told apart, and stay', () => {
  const element = (id: string): string => `{"score":1,"content":"${textOf(id)}","score":2}`
  const content = `Documents:\n[${element('a')},${element('b')}]\n\nQuestion: why?`
  expect(send('move', { role: 'user', content })).toEqual([{ role: 'user', content }])
})

test('a document that comes again with another score is pointed to', () => {
  const again = send(
    'move',
    ask('spaced', results(['a', 0.91], ['b', 0.83])),
    assistantMessage('ok'),
    ask('spaced', results(['a', 0.71], ['b', 0.73])),
  )
  expect(contentOf(again)).toContain('Please refer to')
  expect(contentOf(again)).toContain('[1] rank 7 distance 0.71 similarity 0.71, [2] rank 7')
})

describe('fields stay that are more than a search has said of its results', () => {
  const scored = '[{"text":"What a film.","score":1},{"text":"It is far too long for what it tells.","score":0}]'
  const chunked = (name: string): string => `<document id="one.md" score="0.9">${textOf(name)}</document>`
  const directions =
    '{"results":[{"text":"Turn left at the old mill.","distance":100},{"text":"Go on.","distance":20}]}'

  test.each<[string, VolatileFields, Message[]]>([
    ['the user asks for them', 'drop', [{ role: 'user', content: `Documents:\n${scored}\n\nWho has most points?` }]],
    [
      'a limit is told',
      'move',
      [{ role: 'user', content: `Results:\n${scored}\n\nIgnore what has a score below 0.8.` }],
    ],
    ['they are labels of examples', 'drop', [{ role: 'user', content: `Examples:\n${scored}\n\nRate: 'good'` }]],
    [
      'blocks share a label, so nobody could tell whose they are',
      'move',
      [{ role: 'user', content: `Documents:\n${chunked('a')}\n${chunked('b')}\n\nQuestion: why?` }],
    ],
    [
      'a tool gives the way',
      'drop',
      [
        { role: 'user', content: 'How do I get there?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'get_route', arguments: '{}' } }],
        } as never,
        { role: 'tool', tool_call_id: 'c', content: directions } as never,
      ],
    ],
  ])('%s', (_, fields, messages) => {
    const sent = sender.send(messages, { volatileFields: fields })
    expect(JSON.stringify(sent)).toBe(JSON.stringify(messages))
  })
})
