import { toBlockId } from '#index/context-block.ts'
import type { Sighting, TrafficEvidence } from './traffic-evidence.ts'

/** Numbers from a seed (mulberry32). */
export function createDraw(seed: number): (end: number) => number {
  let state = seed >>> 0
  return (end) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * end)
  }
}

export type Draw = ReturnType<typeof createDraw>

export function shuffle<T>(items: readonly T[], draw: Draw): T[] {
  const own = [...items]
  for (let i = own.length - 1; i > 0; i--) {
    const j = draw(i + 1)
    ;[own[i], own[j]] = [own[j]!, own[i]!]
  }
  return own
}

/** Words that only some documents have, and what every document is filled with. */
const wordOf = (n: number): string => `word${n.toString(36)}x`
const fillerOf = (n: number): string => `filler${n}`

/** Documents of 24 words, each of which about one in forty documents has. */
export function drawDocuments(count: number, draw: Draw): string[] {
  return Array.from({ length: count }, (_, i) =>
    [
      `Document ${i}`,
      ...Array.from({ length: 24 }, () => wordOf(draw(960))),
      ...Array.from({ length: 8 }, () => fillerOf(draw(20))),
    ].join(' '),
  )
}

const known = new Map<string, string[]>()
function wordsOf(text: string): string[] {
  const words = known.get(text) ?? text.split(' ').filter((word) => word.startsWith('word'))
  known.set(text, words)
  return words
}

/** A question in words of some documents, and the documents that have most of them, best first. */
export function retrieve(
  documents: readonly string[],
  count: number,
  draw: Draw,
): { items: string[]; question: string } {
  const about = shuffle(documents, draw).slice(0, 6)
  const words = [...new Set(about.flatMap((text, i) => shuffle(wordsOf(text), draw).slice(0, 6 - i)))]
  const asked = new Set(words)
  const scored = documents.map((text) => ({
    text,
    score: new Set(wordsOf(text).filter((word) => asked.has(word))).size + draw(100) / 1_000,
  }))
  const items = scored
    .toSorted((a, b) => b.score - a.score)
    .slice(0, count)
    .map(({ text }) => text)
  return { items, question: `What about ${words.join(' ')}?` }
}

/** A question in words of some items. */
export function ask(items: readonly string[], draw: Draw): string {
  return `What about ${items.flatMap((text) => shuffle(wordsOf(text), draw).slice(0, 6)).join(' ')}?`
}

export function toSighting({ items, question }: { items: readonly string[]; question: string }): Sighting {
  return { contents: items.map(toBlockId), text: (place) => items[place]!, question }
}

export function noteAll(
  evidence: TrafficEvidence,
  requests: Iterable<{ items: readonly string[]; question: string }>,
): void {
  for (const request of requests) evidence.note(toSighting(request))
}
