import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BlockId, toBlockId } from '#index/context-block.ts'
import {
  ask,
  createDraw,
  type Draw,
  drawDocuments,
  noteAll,
  retrieve,
  shuffle,
  toSighting,
} from './sightings.fixture.ts'
import { TrafficEvidence } from './traffic-evidence.ts'

interface Request {
  readonly items: readonly string[]
  readonly question: string
}

function ranked(seed: number, count: number): Request[] {
  const draw = createDraw(seed)
  const documents = drawDocuments(60, draw)
  return Array.from({ length: count }, () => retrieve(documents, 12, draw))
}

function judge(requests: Iterable<Request>): TrafficEvidence {
  const evidence = new TrafficEvidence()
  noteAll(evidence, requests)
  return evidence
}

test('lists ranked by relevance become a set within 60 requests, whatever the documents', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      expect(judge(ranked(seed, 60)).verdict).toBe('set')
    }),
    { numRuns: 20 },
  )
})

/** Streams of one application, in an order that has a meaning. */
const ordered: Record<string, (draw: Draw, documents: readonly string[]) => (i: number) => Request> = {
  'the newest first': (draw, documents) => (i) => {
    const items = documents.slice(i % 40, (i % 40) + 12).toReversed()
    return { items, question: `${ask(items.slice(0, 2), draw)} ${i}` }
  },
  'a window that slides': (draw, documents) => (i) => {
    const from = (2 * i) % 80
    return { items: documents.slice(from, from + 12), question: ask(documents.slice(from, from + 1), draw) }
  },
  'found, by date': (draw, documents) => () => {
    const { items, question } = retrieve(documents, 12, draw)
    return { items: documents.filter((text) => items.includes(text)), question }
  },
  'found, by one of two names': (draw, documents) => () => {
    const { items, question } = retrieve(documents, 12, draw)
    const sorted = items.toSorted((a, b) => toBlockId(a).localeCompare(toBlockId(b)))
    return { items: draw(2) ? sorted : documents.filter((text) => items.includes(text)), question }
  },
  'found, in turns of one question': (draw, documents) => {
    let found = retrieve(documents, 12, draw)
    return (i) => {
      if (i % 3 === 0) found = retrieve(documents, 12, draw)
      return { items: shuffle(found.items, draw), question: found.question }
    }
  },
  'found, with a score that is shown': (draw, documents) => () => {
    const { items, question } = retrieve(documents, 12, draw)
    return { items: items.map((text, i) => `score ${1 - i / 20 - draw(1_000) / 50_000}\n${text}`), question }
  },
  'found, worst first': (draw, documents) => () => {
    const { items, question } = retrieve(documents, 12, draw)
    return { items: items.toReversed(), question }
  },
  playlists: (draw, documents) => (i) => ({
    items: shuffle(documents.slice(0, 40), draw).slice(0, 12),
    question: `listener ${i}`,
  }),
  'histories, the newest first and asked about': (draw, documents) => () => {
    const items = shuffle(documents.slice(0, 40), draw).slice(0, 12)
    return { items, question: ask(items.slice(0, 1), draw) }
  },
  'histories, a third of them asked about': (draw, documents) => () => {
    const items = shuffle(documents.slice(0, 40), draw).slice(0, 12)
    return { items, question: ask(items.slice(0, 4), draw) }
  },
  'last used first, of eight users': (draw, documents) => {
    const lists = Array.from({ length: 8 }, () => shuffle(documents.slice(0, 25), draw))
    return () => {
      const own = lists[draw(8)]!
      for (let uses = 0; uses < 3; uses++) own.unshift(...own.splice(draw(own.length), 1))
      return { items: own.slice(0, 12), question: ask(own.slice(0, 2), draw) }
    }
  },
}

describe.each(Object.entries(ordered))('%s', (_, make) => {
  test('is never a set, in 300 requests', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const draw = createDraw(seed)
        const next = make(draw, drawDocuments(100, draw))
        const evidence = new TrafficEvidence()
        for (let i = 0; i < 300; i++) {
          evidence.note(toSighting(next(i)))
          expect(evidence.verdict).not.toBe('set')
        }
      }),
      { numRuns: 5 },
    )
  })
})

test('documents that keep their order are a sequence', () => {
  const draw = createDraw(1)
  const documents = drawDocuments(30, draw)
  const requests = Array.from({ length: 40 }, (_, i) => ({
    items: documents.filter(() => draw(3) === 0),
    question: `request ${i}`,
  }))
  expect(judge(requests).verdict).toBe('sequence')
})

test('parts of documents that never part are torn, though the documents change their order', () => {
  const requests = ranked(5, 120).map(({ items, question }) => ({
    items: items.flatMap((text) => [text.slice(0, 80), text.slice(80)]),
    question,
  }))
  expect(judge(requests).verdict).toBe('torn')
})

test('a set is taken back when the lists no longer answer their questions', () => {
  const draw = createDraw(3)
  const documents = drawDocuments(60, draw)
  const evidence = judge(ranked(3, 80))
  expect(evidence.verdict).toBe('set')
  let requests = 0
  while (evidence.verdict === 'set' && requests < 2_000) {
    evidence.note(
      toSighting({ items: shuffle(documents, draw).slice(0, 12), question: ask([documents[draw(60)]!], draw) }),
    )
    requests++
  }
  expect(requests).toBeLessThan(150)
})

test.each([80, 600])(
  'a set of %i requests is taken back soon when the order no longer changes, and stays so',
  (before) => {
    const draw = createDraw(3)
    const documents = drawDocuments(60, draw)
    const evidence = judge(ranked(3, before))
    const verdicts = Array.from({ length: 200 }, () => {
      const { items, question } = retrieve(documents, 12, draw)
      evidence.note(toSighting({ items: documents.filter((text) => items.includes(text)), question }))
      return evidence.verdict
    })
    expect(verdicts[0]).toBe('set')
    expect(verdicts.lastIndexOf('set')).toBeLessThan(48)
  },
)

test('a set of which traffic has told enough, so that lists are sampled, is taken back about as soon', () => {
  const draw = createDraw(3)
  const documents = drawDocuments(60, draw)
  const changed: Record<string, [most: number, next: () => Request]> = {
    unanswered: [
      100,
      () => ({ items: shuffle(documents, draw).slice(0, 12), question: ask([documents[draw(60)]!], draw) }),
    ],
    torn: [
      50,
      () => {
        const { items, question } = retrieve(documents, 12, draw)
        return { items: items.flatMap((text) => [text.slice(0, 80), text.slice(80)]), question }
      },
    ],
  }
  for (const [kind, [most, next]] of Object.entries(changed)) {
    const evidence = judge(ranked(3, 600))
    expect(evidence.figures.lists).toBeLessThan(400)
    let requests = 0
    while (evidence.verdict === 'set' && requests < 2_000) {
      evidence.note(toSighting(next()))
      requests++
    }
    expect({ kind, inTime: requests < most }).toEqual({ kind, inTime: true })
  }
})

describe('what is no evidence', () => {
  test('the same list again, with whatever question', () => {
    const requests = ranked(1, 20)
    const evidence = judge(requests)
    const { recurringPairs, flips, lists, judgedLists } = evidence.figures
    for (let i = 0; i < 200; i++) {
      evidence.note(toSighting(requests[i % 20]!))
      evidence.note(toSighting({ ...requests[i % 20]!, question: `another one ${i}` }))
    }
    expect(evidence.figures).toMatchObject({ recurringPairs, flips, lists, judgedLists, requests: 420 })
  })

  test('one request, whatever lists it shows', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const draw = createDraw(seed)
        const documents = drawDocuments(30, draw)
        const question = ask(documents.slice(0, 5), draw)
        const lists = Array.from({ length: 60 }, () => shuffle(documents, draw).slice(0, 12))
        const { verdict, figures } = judge(lists.map((items) => ({ items, question })))
        expect(verdict).not.toBe('set')
        expect(figures.flips).toBe(0)
      }),
      { numRuns: 20 },
    )
  })

  test('a text that stands twice in a list, and lists of two', () => {
    const evidence = new TrafficEvidence()
    for (let i = 0; i < 50; i++)
      noteAll(evidence, [
        { items: ['a', 'a', 'b', 'b', 'c', `${i}`], question: `${i}` },
        { items: i % 2 ? ['a', 'b'] : ['b', 'a'], question: `${i}` },
      ])
    expect(evidence.figures).toMatchObject({ requests: 100, recurringPairs: 0 })
  })
})

test('fewer than a dozen requests prove nothing, whatever they show', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const draw = createDraw(seed)
      const documents = drawDocuments(14, draw)
      expect(judge(Array.from({ length: 11 }, () => retrieve(documents, 12, draw))).verdict).not.toBe('set')
    }),
  )
})

test('identities say nothing: others for the same contents give the same figures', () => {
  const requests = ranked(9, 60)
  const [own, renamed] = [new TrafficEvidence(), new TrafficEvidence()]
  for (const request of requests) {
    const sighting = toSighting(request)
    own.note(sighting)
    renamed.note({ ...sighting, contents: sighting.contents.map((id) => `other ${id}` as BlockId) })
  }
  expect(renamed.figures).toEqual(own.figures)
})

test('the same sightings give the same evidence', () => {
  expect(judge(ranked(4, 50)).toRecord()).toEqual(judge(ranked(4, 50)).toRecord())
})

test('texts are read seldom once it is settled', () => {
  const draw = createDraw(2)
  const documents = drawDocuments(60, draw)
  const evidence = new TrafficEvidence()
  let reads = 0
  const countReads = (requests: number): number => {
    reads = 0
    for (let i = 0; i < requests; i++) {
      const request = retrieve(documents, 12, draw)
      evidence.note({
        ...toSighting(request),
        text: (place) => {
          reads++
          return request.items[place]!
        },
      })
    }
    return reads / 12 / requests
  }
  expect(countReads(15)).toBe(1)
  countReads(60)
  expect(evidence.verdict).toBe('set')
  expect(countReads(400)).toBeLessThan(0.2)
  expect(evidence.verdict).toBe('set')
})
