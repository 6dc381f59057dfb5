import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ask, createDraw, drawDocuments, noteAll, retrieve, shuffle, toSighting } from './sightings.fixture.ts'
import { TrafficEvidence } from './traffic-evidence.ts'

function noteRanked(evidence: TrafficEvidence, seed: number, requests: number): void {
  const draw = createDraw(seed)
  const all = drawDocuments(60, draw)
  noteAll(
    evidence,
    Array.from({ length: requests }, () => retrieve(all, 12, draw)),
  )
}

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

test('a record restores what it was made of', () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat({ max: 120 }), (seed, requests) => {
      const evidence = new TrafficEvidence()
      noteRanked(evidence, seed, requests)
      const restored = TrafficEvidence.fromRecord(asJson(evidence.toRecord()))
      expect(restored?.figures).toEqual(evidence.figures)
      expect(restored?.verdict).toBe(evidence.verdict)
      expect(restored?.toRecord()).toEqual(evidence.toRecord())
    }),
    { numRuns: 20 },
  )
})

test('restored evidence recognises lists, orders and documents as before', () => {
  const evidence = new TrafficEvidence()
  noteRanked(evidence, 1, 60)
  const restored = TrafficEvidence.fromRecord(asJson(evidence.toRecord()))!
  noteRanked(evidence, 1, 80)
  noteRanked(restored, 1, 80)
  const { recurringPairs, flips, shareOfFlips, lists, repeatedLists, movedLists, mixedLists, shareOfStuck } =
    evidence.figures
  expect(restored.figures).toMatchObject({ recurringPairs, flips, shareOfFlips, lists, repeatedLists })
  expect(restored.figures).toMatchObject({ movedLists, mixedLists, shareOfStuck })
  expect(restored.verdict).toBe(evidence.verdict)
})

test('a record is at most 64 KB, has no words, and stays that size', () => {
  const draw = createDraw(2)
  const documents = drawDocuments(2_000, draw)
  const evidence = new TrafficEvidence()
  for (const requests of [300, 300]) {
    for (let i = 0; i < requests; i++) {
      const items = shuffle(documents.slice(draw(1_900)).slice(0, 60), draw).slice(0, 24)
      evidence.note(toSighting({ items, question: ask(items, draw) }))
    }
    const record = JSON.stringify(evidence.toRecord())
    expect(record.length).toBeLessThan(64_000)
    expect(record).not.toMatch(/Document \d|word\w{1,3}x|filler\d/)
  }
})

test('what is no record is refused, and never throws', () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.jsonValue()), (value) => {
      expect(TrafficEvidence.fromRecord(value)).toBeUndefined()
    }),
  )
})

test('a record of which anything was changed is refused, or works', () => {
  const evidence = new TrafficEvidence()
  noteRanked(evidence, 4, 40)
  const record = asJson(evidence.toRecord()) as Record<string, Record<string, unknown>>
  const paths = ['version', 'isSet', 'numbers', 'columns'].flatMap((part) => {
    const inner = record[part]
    return typeof inner === 'object' ? [[part], ...Object.keys(inner).map((name) => [part, name])] : [[part]]
  })
  const draw = createDraw(5)
  const documents = drawDocuments(60, draw)
  const requests = Array.from({ length: 30 }, () => retrieve(documents, 12, draw))
  fc.assert(
    fc.property(
      fc.constantFrom(...paths),
      fc.oneof(
        fc.anything(),
        fc.integer(),
        fc.uint8Array({ maxLength: 4_000 }).map((bytes) => Buffer.from(bytes).toString('base64')),
      ),
      ([part, name], value) => {
        const changed = asJson(record) as Record<string, Record<string, unknown>>
        if (name === undefined) changed[part!] = value as never
        else changed[part!]![name] = value
        const restored = TrafficEvidence.fromRecord(changed)
        if (restored === undefined) return
        for (const request of requests) restored.note(toSighting(request))
        expect(['unknown', 'set', 'sequence', 'torn']).toContain(restored.verdict)
        expect(JSON.stringify(restored.toRecord()).length).toBeLessThan(64_000)
      },
    ),
    { numRuns: 200 },
  )
})
