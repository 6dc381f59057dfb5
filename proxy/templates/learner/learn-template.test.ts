import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { BlockSpan } from '../../prompt/context-list.ts'
import { cutLearntList } from './cut-learnt-list.ts'
import { learnTemplate } from './learn-template.ts'
import { place, promptsOf, toUnknown } from './learner-texts.fixture.ts'
import type { LearntTemplate } from './learnt-template.ts'
import { TemplateLearner } from './template-learner.ts'
import { keysOf } from './text-keys.ts'

type Render = (documents: readonly string[], question: string) => string

const renders: Record<string, Render> = {
  elements: (documents, question) =>
    `Qua dro vex nam.\n${documents.map((text) => `<zeki>${text}</zeki>`).join('\n')}\n\nTrifer: ${question}`,
  'documents of which some end with white space': (documents, question) =>
    `Qua dro vex nam.\n${documents.map((text) => `<zeki>${text}${' \n'.repeat(text.length % 3)}</zeki>`).join('\n')}\n\nTrifer: ${question}`,
  'numbers in brackets': (documents, question) =>
    `Qua dro vex nam.\n\n${documents.map((text, i) => `[${i + 1}] ${text}`).join('\n\n')}\n\nTrifer: ${question}`,
  'the question first': (documents, question) =>
    `${question}\n=====\n${documents.map((text) => `Zeki: ${text}\nMura: http://x.y`).join('\n\n')}\n=====\nTrifer:`,
  'numbers in attributes': (documents, question) =>
    `Qua dro vex nam.\n${documents.map((text, i) => `<zeki mura="${i + 1}">\n${text}\n</zeki>`).join('\n')}\n\nTrifer: ${question}`,
  'numbered by a word, the first behind other words': (documents, question) =>
    `Qua dro vex nam. ${documents.map((text, i) => `~~ Zeki ${i + 1} ~~\n${text}`).join('\n')}\n\nTrifer: ${question}`,
  'the same in front of each, also of the first': (documents, question) =>
    `${documents.map((text) => `\nzeki= ${text}`).join('')}\n\nTrifer: ${question}`,
  'the same behind each, also behind the last': (documents, question) =>
    `Qua dro vex nam:\n${documents.map((text) => `${text}\n-- zeki;\n`).join('')}Trifer: ${question}`,
  'JSON, a line each': (documents, question) =>
    `Qua dro vex nam.\n${documents.map((text) => JSON.stringify({ zeki: text, mura: text.length })).join('\n')}\nTrifer: ${question}`,
}

interface Lesson {
  readonly template: LearntTemplate
  readonly later: ReturnType<typeof promptsOf>
}

function learn(render: Render, seed = 1): Lesson {
  const { template, later } = tryToLearn(render, seed)
  expect(template).toBeDefined()
  return { template: template!, later }
}

function tryToLearn(render: Render, seed = 1): { template: LearntTemplate | undefined; later: Lesson['later'] } {
  const learner = new TemplateLearner()
  const prompts = promptsOf(60, render, { seed })
  let template: LearntTemplate | undefined
  for (const { text } of prompts.slice(0, 40)) template = learner.take(place, toUnknown(text))?.template ?? template
  return { template, later: prompts.slice(40) }
}

function cut(text: string, template: LearntTemplate): readonly BlockSpan[] | undefined {
  return cutLearntList(text, template)?.blocks
}

/** What moves of a block: its number stays. */
function moving({ start, end, label }: BlockSpan): { start: number; end: number } {
  return { start: label?.end ?? start, end }
}

function reorder(text: string, blocks: readonly BlockSpan[], order: readonly number[]): string {
  let at = 0
  let out = ''
  blocks.forEach((block, i) => {
    const [own, other] = [moving(block), moving(blocks[order[i]!]!)]
    out += text.slice(at, own.start) + text.slice(other.start, other.end)
    at = own.end
  })
  return out + text.slice(at)
}

describe.each(Object.entries(renders))('%s', (_, render) => {
  test('is learnt from 40 prompts, and cut so that any order is the template over the documents in that order', () => {
    const { template, later } = learn(render)
    let cuts = 0
    for (const { documents, question, text } of later) {
      expect(keysOf(place, text)).toContain(template.key)
      const blocks = cut(text, template)
      if (blocks === undefined) continue
      cuts++
      const first = documents.length - blocks.length
      fc.assert(
        fc.property(fc.shuffledSubarray([...blocks.keys()], { minLength: blocks.length }), (order) => {
          const sent = reorder(text, blocks, order)
          // the first document may be unknown, or the last one
          const orders = [0, first].map((skipped) => {
            const moved = documents.slice(skipped, skipped + blocks.length)
            return documents.toSpliced(skipped, blocks.length, ...order.map((i) => moved[i]!))
          })
          expect(orders.map((own) => render(own, question))).toContain(sent)
        }),
        { numRuns: 5 },
      )
    }
    expect(cuts).toBeGreaterThan(10)
  })
})

test('labels are the numbers of the documents', () => {
  const { template, later } = learn(renders['numbers in brackets']!)
  const { text } = later[0]!
  expect(cut(text, template)?.map(({ label }) => label && text.slice(label.start, label.end))).toEqual([
    '1',
    '2',
    '3',
    '4',
    '5',
    '6',
    '7',
    '8',
  ])
})

describe('what is not cut', () => {
  test('words between the text that opens or closes a list and a separator that always stood beside it', () => {
    for (const name of ['the same in front of each, also of the first', 'the same behind each, also behind the last']) {
      const { template, later } = learn(renders[name]!)
      for (const { text } of later) {
        const [ahead, behind] = [`Mel sur dun.\n${text}`, text.replace('Trifer:', 'Mel sur dun. Trifer:')]
        for (const other of [ahead, behind])
          for (const { start, end } of cut(other, template) ?? [])
            expect(other.slice(start, end)).not.toContain('Mel sur dun')
      }
    }
  })

  test('a question behind documents that ended with the text so far', () => {
    const bare: Render = (documents) =>
      `Qua dro vex nam.\n\n${documents.map((text, i) => `[${i + 1}] ${text}`).join('\n\n')}`
    expect(tryToLearn(bare).template).toBeUndefined()
  })

  test('numbers before and behind each document: words of ours would have no place', () => {
    const around: Render = (documents, question) =>
      `Qua dro vex nam.\n${documents.map((text, i) => `${i + 1}) Zeki\n${text}\n-- mura ${i + 1}`).join('\n')}\nTRIFER\n${question}`
    expect(tryToLearn(around).template).toBeUndefined()
  })

  const render = renders['numbers in brackets']!
  const { template, later } = learn(render)
  const { documents, question, text } = later[0]!

  test.each([
    ['a number that is missing', text.replace('[3] ', '[4] ')],
    ['a number that comes twice', render(documents.with(2, `${documents[2]}\n\n[3] ${documents[3]}`), question)],
    [
      'a document that looks like the list',
      render(documents.with(0, `${documents[0]}\n\n[2] ${documents[3]}`), question),
    ],
    ['another beginning', `Other words. ${text.slice(18)}`],
    ['one document', render(documents.slice(0, 1), question)],
    ['no list', 'Qua dro vex nam.\n\nNothing was found.\n\nTrifer: what now?'],
    ['nothing', ''],
  ])('%s', (_, other) => {
    expect(cut(other, template)).toBeUndefined()
  })

  test('whatever the text, blocks are in order, within it, and not empty', () => {
    const parts = fc.constantFrom(
      '[1] ',
      '[2] ',
      '[3] ',
      '\n\n',
      'Qua dro vex nam.\n\n',
      'word',
      '\n\nTrifer: ',
      text.slice(0, 200),
      text,
    )
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 12 }), (parts) => {
        const other = parts.join('')
        let at = 0
        for (const { start, end, contentStart, contentEnd } of cut(other, template) ?? []) {
          expect(at).toBeLessThanOrEqual(start)
          expect(start).toBeLessThanOrEqual(contentStart)
          expect(contentStart).toBeLessThan(contentEnd)
          expect(contentEnd).toBeLessThanOrEqual(end)
          expect(end).toBeLessThanOrEqual(other.length)
          at = end
        }
      }),
    )
  })
})

describe('what is not learnt', () => {
  const learnAll = (texts: readonly string[]): LearntTemplate[] => {
    const learner = new TemplateLearner()
    return texts.flatMap((text) => learner.take(place, toUnknown(text))?.template ?? [])
  }

  test('documents that never come again', () => {
    const texts = Array.from({ length: 60 }, (_, i) => promptsOf(1, renders.elements!, { seed: i + 1 })[0]!.text)
    expect(learnAll(texts)).toEqual([])
  })

  test('the parts of one text, in its order', () => {
    const { documents } = promptsOf(1, renders.elements!, { listed: 40 })[0]!
    const texts = Array.from({ length: 60 }, (_, i) =>
      renders.elements!(documents.slice(i % 30, (i % 30) + 9), `question ${i}?`),
    )
    expect(learnAll(texts)).toEqual([])
  })

  test('the same prompt again and again', () => {
    const { text } = promptsOf(1, renders.elements!)[0]!
    expect(learnAll(Array.from({ length: 60 }, () => text))).toEqual([])
  })

  test('documents with a number in them that counts up with the list', () => {
    const render: Render = (documents, question) =>
      `Qua dro vex nam.\n${documents.map((text, i) => `<zeki>${text.slice(0, 30)} place ${i + 1} of it ${text}</zeki>`).join('\n')}\n\nTrifer: ${question}`
    expect(learnAll(promptsOf(60, render).map(({ text }) => text))).toEqual([])
  })
})

test('what many applications send is forgotten, those of longest ago first, and learning goes on', () => {
  const learner = new TemplateLearner()
  let most = 0
  for (let i = 0; i < 3_000; i++) {
    learner.take(`place ${i % 200}`, toUnknown(`${i} ${'x'.repeat(5_000)}`))
    most = Math.max(most, learner.characters)
  }
  expect(most).toBeGreaterThan(300_000)
  expect(most).toBeLessThanOrEqual(1_000_000)
  const learnt = promptsOf(40, renders.elements!).map(({ text }) => learner.take(place, toUnknown(text)))
  expect(learnt.some((one) => one !== undefined)).toBe(true)
})

describe('what an attacker or another document may hold', () => {
  const { template, later } = learn(renders.elements!)
  const { documents, question, text } = later[0]!

  test('a text that holds the mark of numbers is neither learnt from nor cut', () => {
    const learner = new TemplateLearner()
    const texts = promptsOf(40, renders.elements!).map((prompt) => prompt.text.replaceAll('<zeki>', '<zeki>\0'))
    expect(texts.map((own) => learner.take(place, toUnknown(own)))).toEqual(texts.map(() => undefined))
    expect(cut(text, template)).toBeDefined()
    expect(cut(text.replace('Trifer: ', 'Trifer: \0'), template)).toBeUndefined()
  })

  test('more separators than any list has are left alone', () => {
    expect(
      cut(
        renders.elements!(
          Array.from({ length: 2_100 }, (_, i) => `document ${i}`),
          question,
        ),
        template,
      ),
    ).toBeUndefined()
  })

  test('a number that was always the same is text: documents with others are not parted from theirs', () => {
    const render =
      (versions: readonly number[]): Render =>
      (own, asked) =>
        `Qua dro vex nam.\n${own.map((one, i) => `~~ rev ${versions[i]} ~~\n${one}\n~~ fin`).join('\n')}\n\nTrifer: ${asked}`
    const learnt = learn(render(Array.from({ length: 8 }, () => 3)))
    const versions = [3, 4, 3, 2, 3, 3, 7, 3]
    for (const one of learnt.later) {
      const own = render(versions)(one.documents, one.question)
      const blocks = cut(own, learnt.template) ?? []
      const sent = reorder(own, blocks, [...blocks.keys()].toReversed())
      for (const [i, document] of one.documents.entries())
        expect(sent).toContain(`~~ rev ${versions[i]} ~~\n${document}\n~~ fin`)
    }
  })

  test('numbers that answers may cite in a form that is not mapped', () => {
    const numbered =
      (form: (number: number) => string): Render =>
      (own, asked) =>
        `Qua dro vex nam.\n\n${own.map((one, i) => `${form(i + 1)} ${one}`).join('\n\n')}\n\nTrifer: ${asked}`
    for (const form of [(n: number) => `<<${n}>>`, (n: number) => `|${n}|`, (n: number) => `{${n}}`]) {
      expect(tryToLearn(numbered(form)).template).toBeUndefined()
    }
    // any word is mapped back with its number, and so are numbers in parentheses
    for (const form of [(n: number) => `Document ${n}:`, (n: number) => `~~ Zeki ${n} ~~\n`, (n: number) => `(${n})`]) {
      const learnt = learn(numbered(form))
      expect(learnt.later.filter((one) => cut(one.text, learnt.template)).length).toBeGreaterThan(10)
    }
  })

  test('numbers that stand behind their documents', () => {
    const behind: Render = (own, asked) =>
      `Qua dro vex nam.\n${own.map((one, i) => `${one} [${i + 1}]`).join('\n')}\nTrifer: ${asked}`
    expect(tryToLearn(behind).template).toBeUndefined()
  })

  test('a separator in the question moves nothing of it', () => {
    for (const asked of [`what is </zeki>\n<zeki> here?`, `a</zeki>\n<zeki>b</zeki>\n<zeki>c`]) {
      const own = renders.elements!(documents, asked)
      const blocks = cut(own, template) ?? []
      expect(reorder(own, blocks, [...blocks.keys()].toReversed()).endsWith(`Trifer: ${asked}`)).toBe(true)
    }
  })

  test('no border stands within a character', () => {
    const faces = ['😀', '😁', '🔵', '🔴']
    const render: Render = (own, asked) =>
      `Qua dro vex nam.\n${own.map((one) => `== ${faces[one.length % 4]} ${one}${faces[one.length % 3]}`).join('\n')}\nTrifer: ${asked}`
    const texts = promptsOf(60, render).map(({ text }) => text)
    const learnt = [20, 30, 40, 60].flatMap((count) => learnTemplate('key', texts.slice(0, count)) ?? [])
    expect(learnt.length).toBeGreaterThan(0)
    for (const { gap, open, end } of learnt)
      for (const one of [gap.pattern, open?.text ?? '', end?.text ?? '']) expect(one.isWellFormed()).toBe(true)
  })

  test('what one place has sent is no repetition at another', () => {
    const learner = new TemplateLearner()
    const own = promptsOf(40, renders.elements!).map((prompt) => prompt.text)
    for (const one of own) learner.take('of another tenant', toUnknown(one))
    expect(own.some((one) => learner.take(place, toUnknown(one)) !== undefined)).toBe(true)
  })
})
