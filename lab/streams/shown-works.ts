import { numberOf, type Random } from './random.ts'
import { anyQuestion, askAbout, type OrderedStream, stream, type Texts } from './stream.ts'

/* Ordered streams that were held out once: one of them was taken for a set, and the rule was changed. */

/** Lists of users that grow at their head by items which other users have, too. */
function growing(random: Random, items: readonly string[], users: number): () => string[] {
  const lists = Array.from({ length: users }, () => random.popular(items, 5))
  return () => {
    const own = random.pick(lists)
    const next = random.popular(items, 1)[0]!
    if (own.includes(next)) own.splice(own.indexOf(next), 1)
    own.unshift(next)
    return own.slice(0, 14)
  }
}

const persons = [
  stream('tickets of a customer, newest first, the question quotes the newest two', (random, texts) => {
    const next = growing(random, texts.passages.slice(0, 120), 30)
    return () => {
      const items = next()
      return { items, question: askAbout(random, items.slice(0, 2), 9) }
    }
  }),
  stream('basket in the order of adding, the question is about the last three', (random, texts) => () => {
    const items = random.popular(texts.passages.slice(0, 100), random.between(5, 12))
    return { items, question: askAbout(random, items.slice(-3)) }
  }),
  stream('incident reports, oldest event first, the question is about the first third', (random, texts) => () => {
    const items = random.popular(texts.passages.slice(0, 80), 12)
    return { items, question: askAbout(random, items.slice(0, 4), 4) }
  }),
  stream('frequently used first, 20 users, questions about the top', (random, texts) => {
    const counts = Array.from(
      { length: 20 },
      () => new Map(texts.passages.slice(0, 40).map((item) => [item, random.next() * 4])),
    )
    return () => {
      const own = random.pick(counts)
      for (const item of random.popular([...own.keys()], 3)) own.set(item, own.get(item)! + 1)
      const items = [...own].toSorted(([, a], [, b]) => b - a).map(([item]) => item)
      return { items: items.slice(0, 12), question: askAbout(random, items.slice(0, 1)) }
    }
  }),
  stream('ballots in the order of preference, the question names the favourite', (random, texts) => () => {
    const items = random.shuffled(texts.passages.slice(0, 10))
    return { items, question: askAbout(random, items.slice(0, 1), 8) }
  }),
  stream('breadcrumbs: last page first, the question is about the last page', (random, texts) => () => {
    const start = random.below(60)
    const items = Array.from({ length: 8 }, (_, step) => texts.passages[(start + step * (1 + (start % 3))) % 80]!)
    return { items: random.next() < 0.5 ? items : items.toReversed(), question: askAbout(random, items.slice(0, 1)) }
  }),
]

/** An order that obeys "before" relations, drawn at random among all that do. */
function drawOrder(random: Random, count: number): number[] {
  const order: number[] = []
  const left = Array.from({ length: count }, (_, i) => i)
  while (left.length > 0) {
    // i needs i - 4 and i - 9, if they are there
    const ready = left.filter((i) => !left.includes(i - 4) && !left.includes(i - 9))
    const next = random.pick(ready)
    left.splice(left.indexOf(next), 1)
    order.push(next)
  }
  return order
}

const works = [
  stream('lessons in an order that respects what needs what', (random, texts) => (i) => ({
    items: drawOrder(random, 24)
      .slice(0, 14)
      .map((lesson) => texts.passages[lesson]!),
    question: anyQuestion(texts, i),
  })),
  stream('steps of recipes that share steps', (random, texts) => (i) => {
    const recipe = i % 15
    const steps = texts.talks[5 % texts.talks.length]!.slice(0, 40)
    return {
      items: steps
        .filter((_, step) => numberOf(`${recipe} ${step}`, 3) === 0)
        .toSorted((a, b) => numberOf(recipe + a, 1e6) - numberOf(recipe + b, 1e6)),
      question: `What do I do while step ${random.between(2, 5)} cooks? ${i}`,
    }
  }),
  stream('stations along lines, both directions, the question is about the first stations', (random, texts) => () => {
    const line = random.below(6)
    const stations = texts.passages.slice(line * 8, line * 8 + 20)
    const items = random.next() < 0.5 ? stations : stations.toReversed()
    return { items, question: askAbout(random, items.slice(0, 3)) }
  }),
  stream('board sorted by priority, which is changed at random each week, questions about the top', (random, texts) => {
    let board = texts.passages.slice(0, 25)
    return (i) => {
      if (i % 5 === 0) board = random.shuffled(board)
      else board = [board[random.below(5)]!, ...board].filter((item, at, all) => all.indexOf(item) === at)
      return { items: board.slice(0, 15), question: askAbout(random, board.slice(0, 2)) }
    }
  }),
  stream('commits of branches that share commits, newest first, questions about the newest', (random, texts) => {
    const branches = Array.from({ length: 6 }, () => random.sample(texts.code.slice(0, 60), 10))
    return () => {
      const own = random.pick(branches)
      own.unshift(
        ...random.sample(texts.code.slice(0, 60), random.between(1, 3)).filter((commit) => !own.includes(commit)),
      )
      return { items: own.slice(0, 12), question: askAbout(random, own.slice(0, 1), 8) }
    }
  }),
  stream('minutes: who spoke when, statements recur', (random, texts) => (i) => ({
    items: Array.from({ length: 14 }, () => random.pick(texts.talks[6 % texts.talks.length]!.slice(0, 30))),
    question: anyQuestion(texts, i),
  })),
]

function sortedBy(
  name: string,
  trace: keyof Texts['byTrace'],
  keyOf: (id: string, i: number) => number,
): OrderedStream {
  return stream(name, (_, texts) => (i) => {
    const rows = texts.byTrace[trace]
    const { question, items } = rows[i % rows.length]!
    return { items: items.toSorted((a, b) => keyOf(a.id, i) - keyOf(b.id, i)).map(({ text }) => text), question }
  })
}

const searches = [
  sortedBy('found offers by price, lowest first', 'docs', (id) => numberOf(`price ${id}`, 1e6)),
  sortedBy(
    'found offers by price, low or high first as asked',
    'hotpot',
    (id, i) => (i % 2 ? 1 : -1) * numberOf(`price ${id}`, 1e6),
  ),
  sortedBy('found offers by a price that changes each week', 'docs', (id, i) =>
    numberOf(`${Math.floor(i / 20)} ${id}`, 1e6),
  ),
  sortedBy('found offers by distance from the one who asks', 'code', (id, i) => numberOf(`${i} ${id}`, 1e6)),
  stream('found memories, then sorted by time of many users', (_, texts) => (i) => {
    const { question, items } = texts.byTrace.docs[i % texts.byTrace.docs.length]!
    const user = i % 9
    return {
      items: items.toSorted((a, b) => numberOf(user + a.id, 1e6) - numberOf(user + b.id, 1e6)).map(({ text }) => text),
      question,
    }
  }),
  stream('pairwise and listwise comparison: each question with its candidates in all turns', (random, texts) => (i) => {
    const { question, items } = texts.byTrace.docs[Math.floor(i / 5) % texts.byTrace.docs.length]!
    return { items: random.sample(items, 6).map(({ text }) => text), question }
  }),
  stream(
    'examples most like the question, best first',
    (_, texts) => (i) => {
      const { question, items } = texts.byTrace.docs[i % texts.byTrace.docs.length]!
      return { items: items.slice(0, 8).map(({ text }) => text), question }
    },
    'residual',
  ),
  stream(
    'relevance and recency weighed: near items of a stream that goes on',
    (_, texts) => (i) => {
      const { question, items } = texts.byTrace.docs[i % texts.byTrace.docs.length]!
      const scored = items.map(({ id, text }, rank) => ({
        text,
        score: rank + ((numberOf(`age ${id}`, 100) + i) % 100) / 6,
      }))
      return { items: scored.toSorted((a, b) => a.score - b.score).map(({ text }) => text), question }
    },
    'residual',
  ),
]

export const shownWorks: readonly OrderedStream[] = [...persons, ...works, ...searches]
