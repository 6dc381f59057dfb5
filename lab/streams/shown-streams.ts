import { numberOf, type Random } from './random.ts'
import { anyQuestion, askAbout, type ListRequest, type OrderedStream, stream, type Texts } from './stream.ts'

/* Ordered streams that thresholds were chosen on. */

/** Windows that slide over conversations which go on in turn. */
function windows(random: Random, texts: Texts, size: number, steps: readonly number[] = [1, 2, 3]): () => string[] {
  const at = texts.talks.map(() => 0)
  return () => {
    const talk = random.below(texts.talks.length)
    at[talk]! += random.pick(steps)
    return texts.talks[talk]!.slice(at[talk]!, at[talk]! + size)
  }
}

const chats = [
  stream('chat window, oldest first', (random, texts) => {
    const next = windows(random, texts, 20)
    return (i) => ({ items: next(), question: anyQuestion(texts, i) })
  }),
  stream('chat window, newest first', (random, texts) => {
    const next = windows(random, texts, 20)
    return (i) => ({ items: next().toReversed(), question: anyQuestion(texts, i) })
  }),
  stream('chat window, newest first, questions about the newest', (random, texts) => {
    const next = windows(random, texts, 20)
    return () => {
      const items = next().toReversed()
      return { items, question: askAbout(random, items.slice(0, 2)) }
    }
  }),
  stream('chat window, oldest or newest first as asked', (random, texts) => {
    const next = windows(random, texts, 20)
    return (i) => {
      const items = next()
      return { items: random.next() < 0.5 ? items : items.toReversed(), question: anyQuestion(texts, i) }
    }
  }),
  stream('feed newest first, one user', (_, texts) => {
    const items = [...texts.talks[0]!, ...texts.talks[1]!]
    return (i) => ({ items: items.slice(i * 2, i * 2 + 25).toReversed(), question: anyQuestion(texts, i) })
  }),
  stream('windows of many users with the same canned answers', (random, texts) => {
    const canned = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'].map(
      (word) => `Thank you for your message of kind ${word}, we will come back to you as soon as we can.`,
    )
    const at = texts.talks.map(() => 0)
    return (i) => {
      const talk = random.below(texts.talks.length)
      const from = ++at[talk]!
      const turns = texts.talks[talk]!.slice(from, from + 12)
      return {
        items: turns.flatMap((turn, j) => [turn, canned[numberOf(`${talk} ${j + from}`, 6)]!]),
        question: `Answer ${i}`,
      }
    }
  }),
]

function fronted(moved: number, users: number): OrderedStream {
  return stream(`updated threads move to the top, 1 to ${moved} a request, ${users} user(s)`, (random, texts) => {
    const lists = Array.from({ length: users }, (_, user) => texts.talks[user % texts.talks.length]!.slice(0, 60))
    return (i) => {
      const own = random.pick(lists)
      for (let k = random.between(1, moved); k > 0; k--)
        own.unshift(...own.splice(random.below(Math.min(own.length, 40)), 1))
      return { items: own.slice(0, 20), question: anyQuestion(texts, i) }
    }
  })
}

function sortedByHiddenKey(
  name: string,
  share: number,
  change: number,
  expect?: OrderedStream['expect'],
): OrderedStream {
  return stream(
    `sorted by a hidden key that changes, ${name}`,
    (random, texts) => {
      const keys = new Map(texts.passages.slice(0, 40).map((item) => [item, random.next() * 100]))
      return (i) => {
        for (const [item, key] of keys) if (random.next() < share) keys.set(item, key + random.normal() * change)
        const items = [...keys].toSorted(([, a], [, b]) => b - a).map(([item]) => item)
        return { items: items.slice(0, 20), question: anyQuestion(texts, i) }
      }
    },
    expect,
  )
}

const keyed = [
  sortedByHiddenKey('slow', 0.1, 2),
  sortedByHiddenKey('medium', 0.3, 6),
  sortedByHiddenKey('fast', 1, 30),
  stream('sorted by a price shown with the text', (random, texts) => {
    const keys = new Map(texts.passages.slice(0, 40).map((item) => [item, random.next() * 100]))
    return (i) => {
      for (const [item, key] of keys) if (random.next() < 0.3) keys.set(item, key + random.normal() * 8)
      const best = [...keys].toSorted(([, a], [, b]) => b - a).slice(0, 20)
      return { items: best.map(([item, key]) => `Price: ${key.toFixed(2)}\n${item}`), question: anyQuestion(texts, i) }
    }
  }),
  stream('sorted by the column that was asked for, of three', (random, texts) => (i) => {
    const column = random.pick(['a', 'b', 'c'])
    const items = random.sample(texts.passages.slice(0, 30), 12)
    return {
      items: items.toSorted((a, b) => numberOf(column + a, 1e6) - numberOf(column + b, 1e6)),
      question: anyQuestion(texts, i),
    }
  }),
  stream('leaderboard by a hidden score, ten matches between requests', (random, texts) => {
    const scores = new Map(texts.passages.slice(0, 40).map((item) => [item, 1_000 + random.next()]))
    return (i) => {
      for (let k = 0; k < 10; k++) {
        const [a, b] = random.sample([...scores.keys()], 2) as [string, string]
        const won = 24 / (1 + 10 ** ((scores.get(a)! - scores.get(b)!) / 400))
        scores.set(a, scores.get(a)! + won)
        scores.set(b, scores.get(b)! - won)
      }
      const items = [...scores].toSorted(([, a], [, b]) => b - a).map(([item]) => item)
      return { items: items.slice(0, 20), question: anyQuestion(texts, i) }
    }
  }),
]

const retrieved = [
  stream('retrieved, then sorted by name', (_, texts) => (i) => {
    const { question, items } = texts.byTrace.code[i % texts.byTrace.code.length]!
    return { items: items.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ text }) => text), question }
  }),
  stream('retrieved, then sorted by date, newest first', (_, texts) => (i) => {
    const { question, items } = texts.byTrace.docs[i % texts.byTrace.docs.length]!
    const dated = items.toSorted((a, b) => numberOf(`date ${a.id}`, 1e6) - numberOf(`date ${b.id}`, 1e6))
    return { items: dated.map(({ text }) => text), question }
  }),
  stream('retrieved, then sorted by name or by date as asked', (random, texts) => (i) => {
    const { question, items } = texts.byTrace.docs[i % texts.byTrace.docs.length]!
    const salt = random.pick(['name', 'date'])
    const sorted = items.toSorted((a, b) => numberOf(salt + a.id, 1e6) - numberOf(salt + b.id, 1e6))
    return { items: sorted.map(({ text }) => text), question }
  }),
  stream('retrieved, then sorted by place in the conversation', (_, texts) => (i) => {
    const { question, items } = texts.byTrace.hotpot[i % texts.byTrace.hotpot.length]!
    return { items: items.map(({ text }) => text).toSorted(), question }
  }),
  stream(
    'best first and last, worst in the middle',
    (_, texts) => (i) => {
      const { question, items } = texts.byTrace.code[i % texts.byTrace.code.length]!
      const best = items.filter((_, place) => place % 2 === 0)
      const rest = items.filter((_, place) => place % 2 === 1).toReversed()
      return { items: [...best, ...rest].map(({ text }) => text), question }
    },
    'residual',
  ),
  {
    name: 'listwise rerank in sliding windows, answer by number',
    expect: 'ordered',
    *make(_, count, { byTrace }) {
      for (let i = 0; i < count; i++) {
        const { question, items } = byTrace.code[Math.floor(i / 3) % byTrace.code.length]!
        const turned = 3 * (i % 3)
        yield { items: [...items.slice(turned), ...items.slice(0, turned)].map(({ text }) => text), question }
      }
    },
  } satisfies OrderedStream,
]

const files = [
  stream('files of a project in the order of their paths', (random, texts) => (i) => {
    const names = texts.code.slice(0, 60).map((_, n) => n)
    const own = random.sample(names, random.between(4, 12)).toSorted((a, b) => a - b)
    return { items: own.map((n) => texts.code[n]!), question: anyQuestion(texts, i) }
  }),
  stream('files as a task names them', (random, texts) => (i) => ({
    items: random.sample(texts.code.slice(0, 20), random.between(3, 8)),
    question: `Do task ${i}`,
  })),
  stream('functions of one file in their order, some collapsed', (random, texts) => (i) => {
    const from = (Math.floor(i / 10) * 12) % 120
    const own = texts.code.slice(from, from + 12)
    return {
      items: own.map((text) => (random.next() < 0.6 ? text : `${text.split('\n')[0]} …`)),
      question: `Explain ${i}`,
    }
  }),
]

function lastUsedFirst(
  name: string,
  {
    users,
    uses,
    ask,
    pool = 25,
  }: { users: number; uses: number; pool?: number; ask?: (random: Random, own: readonly string[]) => string },
): OrderedStream {
  return stream(`last used first, ${users} users, ${uses} uses between requests, ${name}`, (random, texts) => {
    const pools = Array.from({ length: users }, () => random.shuffled(texts.passages.slice(0, pool)))
    return (i): ListRequest => {
      const own = random.pick(pools)
      for (let k = 0; k < uses; k++) own.unshift(...own.splice(random.below(own.length), 1))
      return { items: own.slice(0, 12), question: ask?.(random, own) ?? `Task ${i}` }
    }
  })
}

const used = [
  lastUsedFirst('a task', { users: 2, uses: 1, pool: 15 }),
  lastUsedFirst('a task', { users: 1, uses: 5, pool: 15 }),
  lastUsedFirst('a task', { users: 1, uses: 10, pool: 15 }),
  lastUsedFirst('a task', { users: 20, uses: 2 }),
  lastUsedFirst('questions about the one used last', {
    users: 20,
    uses: 2,
    ask: (random, own) => askAbout(random, own.slice(0, 1)),
  }),
  lastUsedFirst('questions about any open one', {
    users: 20,
    uses: 2,
    ask: (random, own) => askAbout(random, [random.pick(own.slice(0, 12))]),
  }),
  lastUsedFirst('questions about the two used last', {
    users: 200,
    uses: 4,
    ask: (random, own) => askAbout(random, own.slice(0, 2)),
  }),
]

export const shownStreams: readonly OrderedStream[] = [
  ...chats,
  ...[
    [1, 1],
    [3, 1],
    [8, 1],
    [3, 5],
    [8, 5],
    [8, 40],
  ].map(([moved, users]) => fronted(moved!, users!)),
  ...keyed,
  ...retrieved,
  ...files,
  ...used,
]
