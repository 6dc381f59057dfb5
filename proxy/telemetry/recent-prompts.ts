import { LRUCache } from 'lru-cache'
import type { ChunkRefusal } from '../chunks/find-known-lists.ts'
import type { SkippedReason } from '../common/reasons.ts'
import type { PromptMessage, PromptSet } from '../prompt/body/prompt.ts'
import { differingRemedy, differsBeforeRemedy, remedyFor } from '../prompt/judge/reasons.ts'
import type { Decision } from '../reuse/decision.ts'
import { type DeclaredRefusal, templateRemedies } from '../templates/declared-templates.ts'

/** What is known about a prompt after the decision. */
export interface NotedPrompt extends Pick<Decision, 'skipped' | 'refusals' | 'differing'> {
  readonly api: string
  readonly set: Pick<PromptSet, 'texts' | 'prompts'>
  /** known chunks in it, and why adjacent ones are not a list */
  readonly chunks: { readonly matched: number; readonly refused: Readonly<Partial<Record<ChunkRefusal, number>>> }
  /** lists that templates of the configuration seem to have written, and that are left alone */
  readonly templates: readonly DeclaredRefusal[]
  /** otherwise equal blocks differ in fields that only rank them */
  readonly differs: boolean
}

/** A kind of prompt in which nothing was found or reusable, as reported by the control plane. Contains no text. */
interface RecentShape {
  readonly api: string
  /** the role of the text concerned */
  readonly role: string
  /** length of that text, rounded down to a power of two; 0: below 1,024 */
  readonly characters: number
  /** the word of `x-reprise-skipped` */
  readonly skipped: SkippedReason
  /** why something that looks like a list was left alone; null: nothing looks like one */
  readonly reason: string | null
  readonly remedy: string
  readonly count: number
  readonly last_seen_seconds_ago: number
}

type Shape = Omit<RecentShape, 'count' | 'last_seen_seconds_ago'>

/** How many shapes are kept; the least recently seen are dropped first. */
export const mostShapes = 50

// shorter texts hold no documents worth reusing
const shortestProse = 1_024

const chunkRemedies: Readonly<Record<ChunkRefusal, string>> = {
  one_text: 'none: chunks in the order in which they were given are one text until they were seen in another',
  mixed_separators: 'put the same between all documents, or write the template down (docs/blocks.md)',
  overlapping: 'let chunks not overlap, or put each document into <document>…</document>',
  too_many: 'send fewer blocks, or several requests',
  in_data: 'none: JSON stays as it is; put documents that are known chunks into a text',
}

/** The latest prompts in which nothing was found, by shape, and when known chunks were last found. */
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

  /** The shapes, latest first. */
  get shapes(): RecentShape[] {
    return [...this.#shapes.values()].map(({ shape, count, at }) => {
      return { ...shape, count, last_seen_seconds_ago: this.#secondsSince(at) }
    })
  }

  /** Seconds since a prompt last held known chunks; null: never. */
  get secondsSinceChunks(): number | null {
    return this.#lastHit === undefined ? null : this.#secondsSince(this.#lastHit)
  }

  #secondsSince(at: number): number {
    return Math.round((this.#now() - at) / 1000)
  }
}

/** Returns the shape of a prompt in which nothing was found; undefined if something was. */
function toShape(prompt: NotedPrompt): Shape | undefined {
  const { api, set, skipped, refusals, chunks, templates, differs, differing } = prompt
  const [refusal] = refusals
  if (skipped === 'nothing_to_gain' && differs) {
    return { api, ...longestText(set), skipped, reason: 'differs_by_score', remedy: differingRemedy }
  }
  if (skipped === 'differs_before') {
    const { message, areResults = false } = differing ?? {}
    const place = message?.texts.length ? placeOf(set, message.texts[0]!) : longestText(set)
    return { api, ...place, skipped, reason: skipped, remedy: differsBeforeRemedy(areResults) }
  }
  if (skipped !== 'no_blocks' && skipped !== 'unsure_borders') return undefined
  const [declared] = templates
  if (declared !== undefined) {
    const { text, refused } = declared
    return { api, ...placeOf(set, text), skipped, reason: `template_${refused}`, remedy: templateRemedies[refused] }
  }
  if (refusal !== undefined) {
    return { api, ...placeOf(set, refusal.text), skipped, reason: refusal.refused, remedy: remedyFor(refusal.refused) }
  }
  const longest = longestText(set)
  const [refused] = Object.keys(chunks.refused) as ChunkRefusal[]
  if (refused !== undefined) {
    return { api, ...longest, skipped, reason: `known_chunks_${refused}`, remedy: chunkRemedies[refused] }
  }
  if (longest.characters < shortestProse) {
    return { api, ...longest, skipped, reason: null, remedy: 'none: too short to hold documents' }
  }
  const remedy =
    'if it holds documents: mark them (<document>…</document>), or make their borders known (docs/chunks.md)'
  return { api, ...longest, skipped, reason: null, remedy }
}

/** Returns what is told of the longest text that is not the assistant's. */
function longestText(set: NotedPrompt['set']): Pick<Shape, 'role' | 'characters'> {
  const asked = set.prompts.flatMap(({ messages }) => messages.filter(({ role }) => role !== 'assistant'))
  const lengthOf = (text: number): number => set.texts[text]?.text.length ?? -1
  const longest = asked.flatMap(({ texts }) => texts).reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a), -1)
  return longest < 0 ? { role: 'none', characters: 0 } : placeOf(set, longest)
}

/** Returns what is told of the place of a text: nothing that a client wrote. */
function placeOf(set: NotedPrompt['set'], text: number): Pick<Shape, 'role' | 'characters'> {
  const length = set.texts[text]!.text.length
  const messages = set.prompts.flatMap((prompt) => prompt.messages)
  return {
    role: roleOf(messages.find(({ texts }) => texts.includes(text))),
    characters: length < shortestProse ? 0 : 2 ** Math.floor(Math.log2(length)),
  }
}

const roles = new Set(['system', 'developer', 'user', 'tool', 'function', 'documents'])

/** Returns the role of a message. Unknown roles become `other`, since a client may put anything there. */
function roleOf(message: PromptMessage | undefined): string {
  if (message?.isRendered) return 'prompt'
  return message !== undefined && roles.has(message.role) ? message.role : 'other'
}
