import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { digestOf, toBlockId } from '#index/context-block.ts'
import type { Mode } from '../common/request-options.ts'
import type { ListPlace } from '../prompt/body/template-use.ts'
import { describeTemplates } from './describe-template.ts'
import type { LearntTemplate } from './learner/learnt-template.ts'
import { type SeenList, Template } from './template.ts'
import { TemplateBook } from './template-book.ts'
import { readTemplate, writeTemplate } from './template-record.ts'
import { createDraw, drawDocuments, retrieve } from './traffic/sightings.fixture.ts'

const place: ListPlace = {
  ...{ api: 'chat_completions', model: 'm', role: 'user', tool: '', system: 'Answer.' },
  ...{ lead: 'Use these:', gap: '\n[#] ', tail: 'Question:' },
}

function createBook(keepsWords = false): TemplateBook {
  let now = 0
  return new TemplateBook({ now: () => now++, wallClock: () => now, keepsWords: () => keepsWords })
}

function listOf(...texts: string[]): SeenList {
  const blocks = texts.map(toBlockId)
  return {
    front: digestOf('in front'),
    ...{ blocks, contents: blocks, sizes: texts.map(({ length }) => length), text: (i) => texts[i]! },
    ...{ question: 'why?', foundBy: 'rules', moved: 0 },
  }
}

const unasked = { contents: [], question: '', positional: false }
const use = (book: TemplateBook, mode: Mode, tenant = 'a', own: ListPlace = place) =>
  book.use(tenant, mode, own, unasked)

describe('permission', () => {
  test.each<[Mode, boolean, boolean, boolean]>([
    ['auto', false, true, false],
    ['ask', false, true, false],
    ['on', true, true, false],
    ['shadow', true, true, false],
  ])('in mode %s: %s without a word, %s after on, %s after off', (mode, unsaid, on, off) => {
    const book = createBook()
    const { id } = use(book, mode)
    book.note('a', use(book, mode), listOf('one', 'two'))
    expect(use(book, mode).mayMove).toBe(unsaid)
    expect(book.say(id, 'on')).toBe(true)
    expect(use(book, mode)).toMatchObject({ id, mayMove: on })
    expect(book.say(id, 'off')).toBe(true)
    expect(use(book, mode).mayMove).toBe(off)
  })

  test('naming a template learns nothing, and nobody can speak of one that is not known', () => {
    const book = createBook()
    const { id } = use(book, 'ask')
    expect(book.all).toEqual([])
    expect(book.say(id, 'on')).toBe(false)
    expect(book.forget(id)).toBe(false)
  })

  test('tenants and models never share a template', () => {
    const book = createBook()
    book.note('a', use(book, 'ask', 'a'), listOf('one', 'two'))
    book.say(use(book, 'ask', 'a').id, 'on')
    expect(use(book, 'ask', 'a').mayMove).toBe(true)
    expect(use(book, 'ask', 'b').mayMove).toBe(false)
    expect(use(book, 'ask', 'a', { ...place, model: 'n' }).mayMove).toBe(false)
  })

  test('a numbered list stays once conversations of its template go on: people speak of its numbers', () => {
    const book = createBook()
    const { id } = use(book, 'on')
    for (let i = 0; i < 4; i++) {
      book.note('a', use(book, 'on'), listOf('one', 'two'))
      book.noteFollowed(id)
    }
    book.say(id, 'on')
    expect(book.use('a', 'auto', place, { ...unasked, positional: true }).mayMove).toBe(false)
    expect(book.use('a', 'auto', place, unasked).mayMove).toBe(true)
    expect(book.use('a', 'on', place, { ...unasked, positional: true }).mayMove).toBe(true)
  })
})

test('what was learnt is moved in mode on once traffic permits it, or a person does: no mark says that it is a set', () => {
  const book = createBook()
  const { id } = use(book, 'on')
  const learnt = { by: 'learnt', chunks: [], spans: [], labels: [] } as const
  const mayMove = (): boolean => book.use('a', 'on', place, { ...unasked, certain: learnt }).mayMove
  book.note('a', use(book, 'on'), { ...listOf('one', 'two'), foundBy: 'learnt' })
  expect(mayMove()).toBe(false)
  expect(describeTemplates(book, 'on', 0)).toEqual([])
  book.say(id, 'on')
  expect(mayMove()).toBe(true)
  expect(describeTemplates(book, 'on', 0)).toMatchObject([{ found_by: 'learnt', moves: true }])
})

/**
 * Sends ranked lists of which the model answers each sample at once, and loses `lossOf` nats by another order. Returns
 * for each request where its template stood, whether it was a sample and whether it might move.
 */
function send(count: number, lossOf: (request: number) => number) {
  const book = createBook()
  const draw = createDraw(3)
  const documents = drawDocuments(60, draw)
  const sent = Array.from({ length: 12 }, () => -1)
  return Array.from({ length: count }, (_, i) => {
    const { items, question } = retrieve(documents, 12, draw)
    const list = { ...listOf(...items), question }
    const used = book.use('a', 'auto', place, { ...unasked, contents: list.contents, question })
    const state = book.stateOf(used.id)
    const rewritten = sent.with(2, -1 - lossOf(i))
    if (used.isSample) book.noteProof(used.id, { sent, rewritten, harmless: sent })
    book.note('a', used, list)
    return { ...used, state }
  })
}

describe('samples', () => {
  test('are taken while traffic is still judged, so that a proof takes fewer requests', () => {
    const sent = send(60, () => 0)
    const provedAt = sent.findIndex(({ state }) => state === 'proved')
    const ahead = sent.slice(0, provedAt).filter(({ isSample }) => isSample)
    expect(ahead.length).toBeGreaterThan(11)
    expect(ahead.filter(({ state }) => state === 'learning').length).toBeGreaterThan(9)
  })

  test('are moved like others, and fewer once many have told, whatever the rhythm of its requests', () => {
    const proved = send(1_200, () => 0).filter(({ state }) => state === 'proved')
    expect(proved.every(({ mayMove }) => mayMove)).toBe(true)
    const taken = proved.flatMap(({ isSample }, i) => (isSample && i >= 200 ? [i] : []))
    expect(taken.length).toBeGreaterThan(10)
    expect(taken.length).toBeLessThan(200)
    expect(new Set(taken.map((i) => i % 8)).size).toBeGreaterThan(3)
  })

  test('take a proof back once some answers are those of the order', () => {
    const states = send(1_500, (i) => (i > 200 && i % 3 === 0 ? 8 : 0)).map(({ state }) => state)
    expect(states[200]).toBe('proved')
    expect(states.at(-1)).not.toBe('proved')
  })

  test('nobody takes any where a person has decided', () => {
    const book = createBook()
    book.note('a', use(book, 'auto'), listOf('one', 'two'))
    book.say(use(book, 'auto').id, 'on')
    expect(use(book, 'auto')).toMatchObject({ isSample: false, mayMove: true })
  })
})

describe('forgetting', () => {
  test('drops evidence and what was said', () => {
    const book = createBook()
    const { id } = use(book, 'ask')
    book.note('a', use(book, 'ask'), listOf('one', 'two'))
    book.say(id, 'on')
    expect(book.forget(id)).toBe(true)
    expect(book.all).toEqual([])
    expect(use(book, 'ask').mayMove).toBe(false)
    expect(book.takeForgotten()).toEqual([id])
    expect(book.takeForgotten()).toEqual([])
  })

  test('a tenant with many templates takes none of those of others', () => {
    const book = createBook()
    book.note('a', use(book, 'ask', 'a'), listOf('one', 'two'))
    for (let i = 0; i < 600; i++) {
      const own = { ...place, lead: `${i.toString(36)}:` }
      book.note('b', use(book, 'ask', 'b', own), listOf('one', 'two'))
    }
    expect(book.all.filter(({ tenant }) => tenant === 'a')).toHaveLength(1)
    expect(book.all.filter(({ tenant }) => tenant === 'b')).toHaveLength(128)
  })
})

describe('what is shown', () => {
  const seen = (keepsWords: boolean, requests: number): object[] => {
    const book = createBook(keepsWords)
    for (let i = 0; i < requests; i++) book.note('a', use(book, 'ask'), listOf(`one ${i}`, 'two'))
    return describeTemplates(book, 'ask', 1_000)
  }

  test('words only once eight requests had them in common, unless they may be kept', () => {
    expect(seen(false, 2)).toEqual([])
    expect(seen(false, 7)).toMatchObject([{ state: 'learning', moves: false, requests: 7, skeleton: null }])
    expect(seen(false, 8)).toMatchObject([{ skeleton: place }])
    expect(seen(true, 3)).toMatchObject([{ skeleton: place }])
  })

  test('what moving would gain: blocks that came before in another order', () => {
    const book = createBook()
    book.note('a', use(book, 'ask'), listOf('one '.repeat(9), 'two '.repeat(9)))
    book.note('a', use(book, 'ask'), listOf('two '.repeat(9), 'one '.repeat(9)))
    expect(book.all[0]!.gain.shares).toEqual({ as_received: 0, as_ordered: 0.5 })
  })

  test('nothing, of lists behind a question, which is another one each time', () => {
    const book = createBook()
    for (const question of ['when?', 'who?']) {
      const list = listOf('one '.repeat(9), 'two '.repeat(9))
      book.note('a', use(book, 'ask'), { ...list, front: digestOf(question) })
    }
    expect(book.all[0]!.gain.shares).toEqual({ as_received: 0, as_ordered: 0 })
  })
})

describe('records', () => {
  test('restore what was known', () => {
    const book = createBook()
    for (let i = 0; i < 12; i++) book.note('a', use(book, 'ask'), listOf(`${i % 3} x`, `${i % 4} y`, `${i % 5} z`))
    const [template] = book.all
    const written = writeTemplate({ template: template!, borders: undefined })
    const read = readTemplate(written)!
    expect(writeTemplate(read)).toBe(written)
    const other = createBook()
    other.adopt(read.template)
    // seen by others alone
    const told = { id: template!.id, requests: 12, skeleton: place, last_seen_seconds_ago: null }
    expect(describeTemplates(other, 'ask', 60_000)).toMatchObject([told])
  })

  test('restore borders that were learnt, once their place is known to be constant', () => {
    const book = createBook()
    const [end, gap] = [
      { kind: 'whole', text: 'Trifer: ' },
      { pattern: '~~ zeki \0', numbers: ['up'], first: [1], checks: [{ pattern: 'zeki', more: 1 }], kept: 'all' },
    ] as const
    const borders: LearntTemplate = {
      key: JSON.stringify([JSON.stringify(['a', 'chat'])]),
      gap,
      open: { kind: 'nearest', text: 'vex.' },
      end,
    }
    const recordOf = (given: unknown): string =>
      writeTemplate({ template: book.all[0]!, borders: given as LearntTemplate })
    book.note('a', use(book, 'ask'), listOf('one', 'two'))
    expect(readTemplate(recordOf(borders))).toMatchObject({ borders: undefined })
    for (let i = 0; i < 12; i++) book.note('a', use(book, 'ask'), listOf(`${i % 3} x`, `${i % 4} y`))
    expect(readTemplate(recordOf(borders))).toMatchObject({ borders, template: { learntKey: borders.key } })
    for (const wrong of [
      { ...borders, key: 1 },
      { ...borders, key: JSON.stringify([JSON.stringify(['b', 'chat'])]) },
      { ...borders, gap: { ...gap, pattern: `x${'\0'.repeat(2)}`, numbers: ['up', 'up'], first: [1, 1] } },
      { ...borders, end: { kind: 'whole', text: 'x'.repeat(1 << 20) } },
      { ...borders, end: { kind: 'some', text: 'x' } },
      // in another text, a question may stand behind the last document
      { ...borders, end: { kind: 'whole', text: '' } },
      { ...borders, gap: { ...gap, pattern: '' } },
      { ...borders, gap: { ...gap, pattern: 'without a number' } },
      { ...borders, gap: { ...gap, numbers: ['down'] } },
      { ...borders, gap: { ...gap, kept: 'before' } },
      { ...borders, gap: { ...gap, checks: [{ pattern: 'zeki' }] } },
    ])
      expect(readTemplate(recordOf(wrong))).toBeUndefined()
  })

  test('anything else in their place is no template', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(readTemplate(JSON.stringify(value) ?? '')).toBeUndefined()
      }),
    )
    expect(readTemplate('{')).toBeUndefined()
  })

  test('what was seen before a template was known takes the place of nothing that only its requests can tell', () => {
    const book = createBook()
    const { id } = use(book, 'auto')
    const seen = Object.assign(new Template('a', id), { requests: 30 })
    for (let i = 0; i < 4; i++) book.note('a', use(book, 'auto'), listOf('one', 'two'))
    const sample = { sent: Array(8).fill(-0.1), rewritten: Array(8).fill(-5), harmless: Array(8).fill(-0.1) }
    for (let i = 0; i < 8; i++) book.noteProof(id, sample)
    expect(book.get(id)!.proof.verdict).toBe('refuted')
    book.adoptSeen(seen)
    expect(book.get(id)!.proof.verdict).toBe('refuted')

    const followed = createBook()
    for (let i = 0; i < 4; i++) followed.note('a', use(followed, 'auto'), listOf('one', 'two'))
    followed.noteFollowed(id)
    followed.adoptSeen(seen)
    expect(followed.get(id)!.followed).toBe(1)

    const others = createBook()
    others.adoptSeen(seen)
    expect(others.get(id)!.requests).toBe(30)
  })

  test('requests that were seen before a template was known tell of no conversations, also after a restart', () => {
    const book = createBook()
    const { id } = use(book, 'auto')
    book.adoptSeen(Object.assign(new Template('a', id), { requests: 48, seenAhead: 48 }))
    for (let i = 0; i < 8; i++) {
      book.note('a', use(book, 'auto'), listOf('one', 'two'))
      book.noteFollowed(id)
    }
    expect(book.get(id)!.goesOn).toBe(true)
    expect(readTemplate(writeTemplate({ template: book.get(id)!, borders: undefined }))!.template.goesOn).toBe(true)
  })

  test('evidence from fewer requests than known is not adopted', () => {
    const [few, many] = [createBook(), createBook()]
    few.note('a', use(few, 'ask'), listOf('one', 'two'))
    for (let i = 0; i < 3; i++) many.note('a', use(many, 'ask'), listOf(`${i}`, 'two'))
    many.adopt(readTemplate(writeTemplate({ template: few.all[0]!, borders: undefined }))!.template)
    expect(many.all[0]!.requests).toBe(3)
  })

  test('what was said last counts, whoever heard it', () => {
    const [one, other] = [createBook(), createBook()]
    const { id } = use(one, 'ask')
    one.note('a', use(one, 'ask'), listOf('one', 'two'))
    one.say(id, 'on')
    for (const [told, said] of Object.entries(one.allSaid)) other.adoptSaid(told, said)
    expect(use(other, 'ask').mayMove).toBe(true)
    other.adoptSaid(id, ['off', 0])
    expect(use(other, 'ask').mayMove).toBe(true)
  })
})
