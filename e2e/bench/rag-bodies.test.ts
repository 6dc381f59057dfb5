import { expect, test } from 'vitest'
import { createBodies } from './rag-bodies.ts'

interface Chat {
  readonly messages: readonly { readonly content: string }[]
}

function blocksOf(body: Buffer): string[] {
  const { messages } = JSON.parse(body.toString()) as Chat
  return [...messages[1]!.content.matchAll(/<document index="\d+">\n([^<]*)\n<\/document>/g)].map(([, text]) => text!)
}

test.each([
  { bytes: 1_000, blocks: 0 },
  { bytes: 1_000, blocks: 3 },
  { bytes: 24_000, blocks: 15 },
  { bytes: 240_000, blocks: 15 },
])('bodies are as large as asked, have as many blocks, and no two are alike: %o', ({ bytes, blocks }) => {
  const next = createBodies({ bytes, blocks })
  const bodies = Array.from({ length: 50 }, next)
  for (const body of bodies) {
    expect(Math.abs(body.length - bytes) / bytes).toBeLessThan(0.15)
    expect(new Set(blocksOf(body)).size).toBe(blocks)
  }
  expect(new Set(bodies.map(String)).size).toBe(bodies.length)
})

test('bodies overlap as retrievals do: most blocks have been seen, many never in this place', () => {
  const next = createBodies({ bytes: 24_000, blocks: 15 })
  const placesOf = new Map<string, Set<number>>()
  const known: Set<number>[] = []
  const repeats = Array.from({ length: 200 }, () =>
    blocksOf(next()).map((block, place) => {
      const places = placesOf.get(block) ?? new Set()
      known.push(new Set(places))
      placesOf.set(block, places.add(place))
      return places.size > 1 && !known.at(-1)!.has(place)
    }),
  ).slice(100)
  const later = repeats.flat()
  expect(known.slice(-later.length).filter(({ size }) => size > 0).length / later.length).toBeGreaterThan(0.7)
  expect(later.filter(Boolean).length / later.length).toBeGreaterThan(0.2)
})
