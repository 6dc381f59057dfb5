import { numberOf, type Random } from './random.ts'
import { anyQuestion, askAbout, type OrderedStream, stream, type Texts } from './stream.ts'

/* Ordered streams written after everything was frozen: no threshold was chosen on them, and none may be. */

type Trace = keyof Texts['byTrace']

/** Texts found for a question, in an order that is not theirs. */
function found(
  name: string,
  trace: Trace,
  keyOf: (item: { readonly id: string; readonly text: string }, i: number, rank: number) => number,
  expect?: OrderedStream['expect'],
): OrderedStream {
  return stream(
    name,
    (_, texts) => (i) => {
      const rows = texts.byTrace[trace]
      const { question, items } = rows[i % rows.length]!
      const keyed = items.map((item, rank) => ({ text: item.text, key: keyOf(item, i, rank) }))
      return { items: keyed.toSorted((a, b) => a.key - b.key).map(({ text }) => text), question }
    },
    expect,
  )
}

const searches = [
  found('found, shortest first or longest first as asked', 'docs', ({ text }, i) =>
    i % 2 ? text.length : -text.length,
  ),
  found(
    'found, longest first, lengths rounded by who asks',
    'code',
    ({ text }, i) => -Math.round(text.length / (100 + 50 * (i % 4))),
  ),
  found('found, by the titles’ names in one of three languages', 'docs', ({ id }, i) =>
    numberOf(`${i % 3} ${id}`, 1e6),
  ),
  found('found, nearest to the user first, twelve users', 'hotpot', ({ id }, i) => numberOf(`${i % 12} ${id}`, 1e6)),
  found(
    'found, by votes that grow',
    'docs',
    ({ id }, i) => -numberOf(id, 100) - (i * numberOf(`growth ${id}`, 10)) / 30,
  ),
  found('found, by category in a fixed order, then by rank', 'code', ({ id }, _, rank) => 100 * numberOf(id, 4) + rank),
  found('found, worst first', 'docs', (_, __, rank) => -rank),
  found('found, in an order drawn for each request', 'docs', ({ id }, i) => numberOf(`${i} ${id}`, 1e6)),
]

/** Lists of users over shared items, in which some items move to the front before each request. */
function fronted(random: Random, items: readonly string[], users: number, uses: number): () => string[] {
  const lists = Array.from({ length: users }, () => random.sample(items, 18))
  return () => {
    const own = random.pick(lists)
    for (let k = 0; k < uses; k++) own.unshift(...own.splice(random.below(own.length), 1))
    return own.slice(0, 12)
  }
}

const users = [
  stream('edits, last one first, eight before each request, questions about the last three', (random, texts) => {
    const next = fronted(random, texts.code.slice(0, 40), 30, 8)
    return () => {
      const items = next()
      return { items, question: askAbout(random, items.slice(0, 3), 5) }
    }
  }),
  stream('findings of patients, newest first, the question quotes the newest four of ten', (random, texts) => () => {
    const items = random.popular(texts.passages.slice(0, 90), 10)
    return { items, question: askAbout(random, items.slice(0, 4), 5) }
  }),
  stream('letters, newest first, the question quotes the newest half', (random, texts) => () => {
    const items = random.popular(texts.passages.slice(0, 90), 10)
    return { items, question: askAbout(random, items.slice(0, 5), 4) }
  }),
  stream('answers in the order given, the question quotes every one', (random, texts) => () => {
    const items = random.popular(texts.passages.slice(0, 90), 10)
    return { items, question: askAbout(random, items, 2) }
  }),
  stream('finalists by place, the question quotes the first two', (random, texts) => () => {
    const items = random.sample(texts.passages.slice(0, 30), 8)
    return { items, question: askAbout(random, items.slice(0, 2), 8) }
  }),
  stream('legs of a journey, the question names the first and the last', (random, texts) => () => {
    const items = random.popular(texts.passages.slice(0, 60), random.between(5, 9))
    return { items, question: askAbout(random, [items[0]!, items.at(-1)!]) }
  }),
  stream('turns of talks, newest first, canned ones between, questions about the newest', (random, texts) => {
    const at = texts.talks.map(() => 0)
    return () => {
      const talk = random.below(texts.talks.length)
      at[talk]! += 2
      const turns = texts.talks[talk]!.slice(at[talk]!, at[talk]! + 9).toReversed()
      const canned = random.sample(texts.talks[0]!.slice(-12), 4)
      return {
        items: turns.flatMap((turn, i) => (i % 2 ? [turn] : [turn, canned[i / 2]!])).filter(Boolean),
        question: askAbout(random, turns.slice(0, 2)),
      }
    }
  }),
  stream('leaders that change fast, the question names the leader', (random, texts) => {
    const scores = new Map(texts.passages.slice(0, 30).map((item) => [item, random.next() * 10]))
    return () => {
      for (const [item, score] of scores) scores.set(item, score + random.normal() * 5)
      const items = [...scores].toSorted(([, a], [, b]) => b - a).map(([item]) => item)
      return { items: items.slice(0, 12), question: askAbout(random, items.slice(0, 1), 8) }
    }
  }),
  stream('shelves: the same books in the order of each visitor', (random, texts) => (i) => {
    const visitor = random.below(25)
    const books = texts.passages.slice(0, 30).filter((book) => numberOf(`${visitor} has ${book}`, 2) === 0)
    return {
      items: books.toSorted((a, b) => numberOf(visitor + a, 1e6) - numberOf(visitor + b, 1e6)),
      question: anyQuestion(texts, i),
    }
  }),
]

export const heldOutStreams: readonly OrderedStream[] = [...searches, ...users]
