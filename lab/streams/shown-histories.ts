import { numberOf } from './random.ts'
import { anyQuestion, askAbout, type OrderedStream, stream } from './stream.ts'

/* More ordered streams that thresholds were chosen on: histories, examples, queues, and texts of ordered kinds. */

const histories = [
  stream('purchases of many customers, oldest first, one task', (random, texts) => (i) => ({
    items: random.popular(texts.passages.slice(0, 150), random.between(6, 14)),
    question: `Recommend the next product for customer ${i}.`,
  })),
  stream('purchases of many customers, questions of all kinds', (random, texts) => (i) => ({
    items: random.popular(texts.passages.slice(0, 150), random.between(6, 14)),
    question: anyQuestion(texts, i),
  })),
  stream('purchases, newest first, questions about the newest', (random, texts) => () => {
    const items = random.popular(texts.passages.slice(0, 150), random.between(6, 14))
    return { items, question: askAbout(random, items.slice(0, 1)) }
  }),
  stream('purchases, newest first, questions about the two newest', (random, texts) => () => {
    const items = random.popular(texts.passages.slice(0, 150), random.between(6, 14))
    return { items, question: askAbout(random, items.slice(0, 2)) }
  }),
  stream('purchases, newest first, questions about one of the newest three', (random, texts) => () => {
    const items = random.popular(texts.passages.slice(0, 150), random.between(6, 14))
    return { items, question: askAbout(random, [random.pick(items.slice(0, 3))], 8) }
  }),
  stream('paths through a site', (random, texts) => {
    const next = Array.from({ length: 40 }, () => Array.from({ length: 4 }, () => random.below(40)))
    return (i) => {
      const path = new Set<number>()
      for (
        let at = random.below(40);
        path.size < 10;
        at = random.next() < 0.8 ? random.pick(next[at]!) : random.below(40)
      )
        path.add(at)
      return { items: [...path].map((page) => texts.passages[page]!), question: `Where did visitor ${i} get lost?` }
    }
  }),
  stream('playlists', (random, texts) => (i) => ({
    items: random.popular([...texts.talks[0]!.slice(0, 80), ...texts.talks[1]!.slice(0, 80)], 15),
    question: `What should follow? Listener ${i}`,
  })),
  stream('playlists, questions about the first songs', (random, texts) => () => {
    const items = random.popular([...texts.talks[0]!.slice(0, 80), ...texts.talks[1]!.slice(0, 80)], 15)
    return { items, question: askAbout(random, items.slice(0, 3)) }
  }),
  stream('timelines of recurring events', (random, texts) => (i) => ({
    items: random.sample(texts.talks[4]!.slice(0, 40), 10),
    question: `What was the cause of incident ${i}?`,
  })),
]

const queues = [
  stream('agenda: next dates first, passed ones leave, some are put off', (random, texts) => {
    const own = texts.passages.slice(0, 400)
    return (i) => {
      if (random.next() < 0.4) {
        const at = random.between(1, 5)
        const [put] = own.splice(at, 1)
        own.splice(at + random.between(2, 10), 0, put!)
      }
      if (random.next() < 0.33) own.shift()
      return { items: own.slice(0, 18), question: anyQuestion(texts, i) }
    }
  }),
  stream('queue: tasks done leave, one in three goes to the end', (random, texts) => {
    const own = texts.passages.slice(0, 30)
    return (i) => {
      const first = own.shift()!
      own.push(random.next() < 0.33 ? first : texts.passages[(30 + i) % texts.passages.length]!)
      return { items: own.slice(0, 20), question: anyQuestion(texts, i) }
    }
  }),
  stream('tools in fixed order, subsets by user', (random, texts) => (i) => ({
    items: texts.code.slice(0, 25).filter(() => random.next() < 0.6),
    question: anyQuestion(texts, i),
  })),
  stream('table rows by primary key, filtered', (random, texts) => (i) => ({
    items: texts.passages.slice(0, 50).filter(() => random.next() < 0.3),
    question: `How many? ${i}`,
  })),
  stream('two canonical orders behind one template', (random, texts) => (i) => {
    const salt = random.pick(['a', 'b'])
    const items = random.sample(texts.passages.slice(0, 40), 15)
    return {
      items: items.toSorted((a, b) => numberOf(salt + a, 1e6) - numberOf(salt + b, 1e6)),
      question: anyQuestion(texts, i),
    }
  }),
  stream('ballots: the same options, drawn anew for each voter', (random, texts) => (i) => ({
    items: random.shuffled(texts.talks[2]!.slice(0, 8)),
    question: `Voter ${i}. Which letter?`,
  })),
]

const examples = [
  stream('examples in fixed order', (_, texts) => (i) => ({
    items: texts.passages.slice(0, 8),
    question: anyQuestion(texts, i),
  })),
  stream('examples, subsets in fixed order', (random, texts) => (i) => ({
    items: texts.passages.slice(0, 16).filter(() => random.next() < 0.5),
    question: anyQuestion(texts, i),
  })),
  stream('examples shuffled at random', (random, texts) => (i) => ({
    items: random.sample(texts.passages.slice(0, 16), 8),
    question: anyQuestion(texts, i),
  })),
  stream('examples most like the question, best last', (_, texts) => (i) => {
    const { question, items } = texts.byTrace.hotpot[i % texts.byTrace.hotpot.length]!
    return {
      items: items
        .slice(0, 8)
        .map(({ text }) => text)
        .toReversed(),
      question,
    }
  }),
  stream('rules that stay, then ranked facts', (_, texts) => (i) => {
    const { question, items } = texts.byTrace.code[i % texts.byTrace.code.length]!
    return { items: [...texts.talks[3]!.slice(0, 6), ...items.slice(0, 12).map(({ text }) => text)], question }
  }),
  withTurns('ranked facts, then turns of a chat', (facts, turns) => [...facts, ...turns]),
  withTurns('turns of a chat, then ranked facts', (facts, turns) => [...turns, ...facts]),
]

/** Ranked facts together with the next turns of a chat. */
function withTurns(name: string, join: (facts: string[], turns: string[]) => string[]): OrderedStream {
  return stream(name, (random, texts) => {
    const at = texts.talks.map(() => 0)
    return (i) => {
      const talk = random.below(texts.talks.length)
      at[talk]! += 2
      const { question, items } = texts.byTrace.code[i % texts.byTrace.code.length]!
      const turns = texts.talks[talk]!.slice(at[talk]!, at[talk]! + 6)
      return {
        items: join(
          items.slice(0, 12).map(({ text }) => text),
          turns,
        ),
        question,
      }
    }
  })
}

/** Excerpts and subsets of texts of one kind, which stand in the order of the text. */
export function streamsOfKinds(kinds: Iterable<string>): OrderedStream[] {
  return [...kinds].flatMap((kind) => [
    stream(`${kind}: excerpts`, (random, texts) => (i) => {
      const paragraphs = random.pick(texts.ordered.get(kind)!)
      const from = random.below(Math.max(1, paragraphs.length - 4))
      return { items: paragraphs.slice(from, from + random.between(4, 24)), question: anyQuestion(texts, i) }
    }),
    stream(`${kind}: parts in order, some left out`, (random, texts) => (i) => {
      const paragraphs = random.pick(texts.ordered.get(kind)!.slice(0, 6)).slice(0, 60)
      return { items: paragraphs.filter(() => random.next() < 0.4), question: anyQuestion(texts, i) }
    }),
    stream(`${kind}: three excerpts of different texts in random order`, (random, texts) => (i) => {
      const parts = random.sample(texts.ordered.get(kind)!, 3).flatMap((paragraphs) => {
        const from = random.below(Math.max(1, paragraphs.length - 4))
        return paragraphs.slice(from, from + random.between(2, 8))
      })
      return { items: parts, question: anyQuestion(texts, i) }
    }),
  ])
}

export const shownHistories: readonly OrderedStream[] = [...histories, ...queues, ...examples]
