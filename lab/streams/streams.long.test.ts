import { describe, expect, test } from 'vitest'
import { heldOutStreams } from './held-out-streams.ts'
import { judgeStream } from './judge-stream.ts'
import { Random } from './random.ts'
import { rankedStreams } from './ranked-streams.ts'
import { readTexts } from './read-texts.ts'
import { shownHistories, streamsOfKinds } from './shown-histories.ts'
import { shownStreams } from './shown-streams.ts'
import { shownWorks } from './shown-works.ts'
import { hasTraces } from './traces.ts'

/* Needs real traces: those REPRISE_TRACES names, or those next to the checkout. */

const requests = 300

describe.skipIf(!hasTraces)('streams of real texts', () => {
  const texts = hasTraces ? readTexts() : undefined

  test('lists ranked by relevance are a set within 50 requests, where documents recur', () => {
    for (const { name, requests, isDue } of rankedStreams().filter(({ isDue }) => isDue)) {
      const { setAt = Number.POSITIVE_INFINITY, verdict } = judgeStream(requests)
      expect({ name, isDue, verdict, inTime: setAt <= 50 }).toEqual({ name, isDue, verdict: 'set', inTime: true })
    }
  })

  test.each([
    ['shown', () => [...shownStreams, ...shownHistories, ...shownWorks]],
    ['of kinds of texts', () => streamsOfKinds(texts!.ordered.keys())],
    ['held out', () => heldOutStreams],
  ] as const)('no ordered stream is ever a set: %s', (_, streamsOf) => {
    const streams = streamsOf().filter(({ expect }) => expect === 'ordered')
    expect(streams.length).toBeGreaterThan(10)
    const wrong = streams.flatMap(({ name, make }) =>
      [1, 7]
        .filter((seed) => judgeStream(make(new Random(seed), requests, texts!)).asSet > 0)
        .map((seed) => ({ name, seed })),
    )
    expect(wrong).toEqual([])
  })
})
