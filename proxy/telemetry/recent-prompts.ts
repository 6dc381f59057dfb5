import { LRUCache } from 'lru-cache'
import type { ChunkRefusal } from '../chunks/find-known-lists.ts'
import type { PlacedRefusal } from '../prompt/find-contexts.ts'
import { differingRemedy, remedyFor } from '../prompt/judge/explain-refusal.ts'
import { findUnknownForm } from '../prompt/judge/find-unknown-form.ts'
import type { PromptSet } from '../prompt/prompt-body.ts'

/** What is known of a prompt when it was decided upon. */
export interface NotedPrompt {
  readonly api: string
  readonly set: Pick<PromptSet, 'texts' | 'prompts'>
  readonly skipped: string | undefined
  readonly refusals: readonly PlacedRefusal[]
  /** known chunks in it, and why those side by side are no list */
  readonly chunks: { readonly matched: number; readonly refused: Readonly<Partial<Record<ChunkRefusal, number>>> }
  /** equal blocks of it differ by fields that only rank them */
  readonly differs: boolean
}

/** A kind of prompt in which nothing was found, or nothing could be reused, as the control plane tells it: no text. */
export interface RecentShape {
  readonly api: string
  /** whose text it is about */
  readonly role: string
  /** of that text: the power of two that it reaches; 0: fewer than 1,024 */
  readonly characters: number
  /** the word of `x-reprise-skipped` */
  readonly skipped: string
  /** why what looks like a list was left alone; null: nothing looks like one */
  readonly reason: string | null
  readonly remedy: string
  readonly count: number
  readonly last_seen_seconds_ago: number
}

type Shape = Omit<RecentShape, 'count' | 'last_seen_seconds_ago'>

/** So many shapes are kept; those seen the longest time ago go first. */
export const mostShapes = 50

// shorter texts hold no documents that would be worth it
const shortestProse = 1_024

// marks of documents show in the beginning of a text; a prompt is waited for, and no more of it is read
const mostOfMarks = 8_192

const chunkRemedies: Readonly<Record<ChunkRefusal, string>> = {
  one_text: 'none: chunks in the order in which they were given are one text until they were seen in another',
  mixed_separators: 'put the same between all documents, or the separator of docs/chunks.md',
  overlapping: 'let chunks not overlap, or put the separator of docs/chunks.md between documents',
  too_many: 'send fewer blocks, or several requests',
  in_data: 'none: JSON stays as it is; put documents that are known chunks into a text',
}

/** The latest prompts in which nothing was found, by their shape, and when known chunks were found last. */
export class RecentPrompts {
  readonly #now: () => number
  readonly #shapes = new LRUCache<string, { readonly shape: Shape; count: number; at: number }>({ max: mostShapes })
  #lastHit: number | undefined

  /** `now` is in milliseconds, monotonic. */
  constructor(now: () => number) {
    this.#now = now
  }

  note(prompt: NotedPrompt): void {
    const at = this.#now()
    if (prompt.chunks.matched > 0) this.#lastHit = at
    const shape = toShape(prompt)
    if (shape === undefined) return
    const name = JSON.stringify(Object.values(shape))
    const known = this.#shapes.get(name)
    if (known) Object.assign(known, { count: known.count + 1, at })
    else this.#shapes.set(name, { shape, count: 1, at })
  }

  /** Latest first. */
  get shapes(): RecentShape[] {
    return [...this.#shapes.values()].map(({ shape, count, at }) => {
      return { ...shape, count, last_seen_seconds_ago: this.#secondsSince(at) }
    })
  }

  /** How long ago a prompt held known chunks; null: none did. */
  get secondsSinceChunks(): number | null {
    return this.#lastHit === undefined ? null : this.#secondsSince(this.#lastHit)
  }

  #secondsSince(at: number): number {
    return Math.round((this.#now() - at) / 1000)
  }
}

/** The shape of a prompt in which nothing was found; undefined where something was. */
function toShape({ api, set, skipped, refusals, chunks, differs }: NotedPrompt): Shape | undefined {
  const [refusal] = refusals
  if (skipped === 'nothing_to_gain' && differs) {
    return { api, ...longestText(set), skipped, reason: 'differs_by_score', remedy: differingRemedy }
  }
  if (skipped !== 'no_blocks' && skipped !== 'unsure_borders') return undefined
  if (refusal !== undefined) {
    const place = { role: roleOf(set, refusal.text), characters: powerOfTwo(set.texts[refusal.text]!.text.length) }
    return { api, ...place, skipped, reason: refusal.refused, remedy: remedyFor(refusal.refused) }
  }
  const longest = longestText(set)
  const [refused] = Object.keys(chunks.refused) as ChunkRefusal[]
  if (refused !== undefined) {
    return { api, ...longest, skipped, reason: `known_chunks_${refused}`, remedy: chunkRemedies[refused] }
  }
  if (longest.characters < shortestProse) {
    return { api, ...longest, skipped, reason: null, remedy: 'none: too short to hold documents' }
  }
  if (findUnknownForm([set.texts[longestOf(set)]!.text.slice(0, mostOfMarks)]) !== undefined) {
    return { api, ...longest, skipped, reason: 'unknown_form', remedy: remedyFor('unknown_form') }
  }
  const remedy =
    'if it holds documents: mark them (<document>…</document>), or make their borders known (docs/chunks.md)'
  return { api, ...longest, skipped, reason: null, remedy }
}

function longestText(set: NotedPrompt['set']): Pick<Shape, 'role' | 'characters'> {
  const longest = longestOf(set)
  if (longest < 0) return { role: 'none', characters: 0 }
  return { role: roleOf(set, longest), characters: powerOfTwo(set.texts[longest]!.text.length) }
}

/** The longest text but what the assistant said; -1: there is none. */
function longestOf(set: NotedPrompt['set']): number {
  let longest = -1
  for (const { messages } of set.prompts) {
    for (const { role, texts } of messages) {
      if (role === 'assistant') continue
      for (const text of texts) {
        if (longest < 0 || set.texts[text]!.text.length > set.texts[longest]!.text.length) longest = text
      }
    }
  }
  return longest
}

const roles = new Set(['system', 'developer', 'user', 'tool', 'function', 'documents'])

/** A role that a client has made up may say anything. */
function roleOf({ prompts }: NotedPrompt['set'], text: number): string {
  const message = prompts.flatMap(({ messages }) => messages).find(({ texts }) => texts.includes(text))
  if (message?.isRendered) return 'prompt'
  return message !== undefined && roles.has(message.role) ? message.role : 'other'
}

function powerOfTwo(length: number): number {
  return length < shortestProse ? 0 : 2 ** Math.floor(Math.log2(length))
}
