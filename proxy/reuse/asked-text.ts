import type { Decision } from './decision.ts'

/** Returns what a request asks, which is in its last text, without the blocks in that text. */
export function askedText({ contexts, worlds }: Pick<Decision, 'contexts' | 'worlds'>): string {
  const texts = worlds?.texts ?? []
  const last = texts.length - 1
  const slots = contexts.flatMap(({ found }) => found.slots.filter(({ text }) => text === last))
  let at = 0
  const pieces = slots
    .toSorted((a, b) => a.start - b.start)
    .map(({ start, end }) => {
      const piece = texts[last]!.slice(at, start)
      at = Math.max(at, end)
      return piece
    })
  return [...pieces, texts[last]?.slice(at) ?? ''].join('')
}
