import { plainFacts } from '#proxy/chunks/chunk-texts.fixture.ts'
import { findKnownLists } from '#proxy/chunks/find-known-lists.ts'
import { bytesPerChunk, ChunkTable } from '#proxy/chunks/table/chunk-table.ts'
import { FoldedText } from '#proxy/chunks/table/folded-text.ts'

/** What known chunks cost in time and memory. */
export interface ChunkFigures {
  readonly known: number
  readonly text: string
  /** number of chunks found in the text */
  readonly matched: number
  /** look-up times in milliseconds: the median and the minimum */
  readonly p50: number
  readonly fastest: number
  /** size of all columns and tables */
  readonly bytes: number
  /** microseconds to add one chunk whose text is already in memory */
  readonly adding: number
}

const characters = 240_000
const runs = 300
const words = 'the of system river capital engine cache prefix token model value network paper result country'.split(
  ' ',
)
const scopes = ['*', '=default']

/** Measures look-ups in 240 KB of unknown text, and in 240 KB made only of known chunks of about 1,200 characters. */
export function* benchChunks(counts: readonly number[]): Generator<ChunkFigures> {
  for (const known of counts) {
    const table = new ChunkTable(known)
    const folded = new FoldedText()
    const random = createRandom()
    const kept: string[] = []
    let spent = 0
    for (let n = 0; n < known; n++) {
      const text = `Chunk ${n}: ${sentence(random, n % (known / 400) === 0 ? 190 : 12)}`
      if (text.length > 1_000) kept.push(text)
      const started = performance.now()
      folded.read(text)
      table.add('*', folded, { ...plainFacts, order: 2 * n })
      spent += performance.now() - started
    }
    const common = { known, bytes: known * bytesPerChunk, adding: (1_000 * spent) / known }
    const unknown = Array.from({ length: 10 }, () => fill(() => sentence(random, 60)))
    const full = Array.from({ length: 10 }, () => fill(() => kept[Math.floor(random() * kept.length)]!))
    for (const [text, texts] of [
      ['unknown text', unknown],
      ['known chunks', full],
    ] as const) {
      yield { text, ...common, ...measure(table, folded, texts) }
    }
  }
}

function measure(
  table: ChunkTable,
  folded: FoldedText,
  texts: readonly string[],
): { matched: number; p50: number; fastest: number } {
  let matched = 0
  const times = Array.from({ length: runs }, (_, run) => {
    const text = texts[run % texts.length]!
    const started = performance.now()
    matched = findKnownLists(text, table, scopes, folded).matched
    return performance.now() - started
  }).slice(runs / 3)
  times.sort((a, b) => a - b)
  return { matched, p50: times[times.length >> 1]!, fastest: times[0]! }
}

function fill(next: () => string): string {
  let text = next()
  while (text.length < characters) text += `\n\n${next()}`
  // makes a flat string, like one parsed from JSON
  return Buffer.from(text).toString()
}

function sentence(random: () => number, length: number): string {
  const picked = Array.from({ length }, () => {
    const word = words[Math.floor(random() * words.length)]!
    return random() < 0.3 ? `${word}${Math.floor(random() * 10_000)}` : word
  })
  return `${picked.join(' ')}.`
}

function createRandom(): () => number {
  let state = 7
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return (state >>> 8) / 2 ** 24
  }
}
