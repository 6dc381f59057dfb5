import { LRUCache } from 'lru-cache'
import { tryJson } from '#engine-adapters/json-object.ts'
import { getOrMake } from '#index/get-or-make.ts'
import { foldNumbers, number } from './learnt-template.ts'

const [shortestText, longestText] = [200, 400_000]

/** Whether a text may become a template: others are neither offered nor taken. */
export function canTeach(text: string): boolean {
  return text.length >= shortestText && text.length <= longestText && !text.includes(number)
}

/** Where a text stands: who sends it, to which API, and who speaks in it. */
interface TextPlace {
  readonly tenant: string
  readonly api: string
  readonly role: string
  readonly tool: string
}

/** Writes a place. Prompts that the client rendered are apart. */
export function toPlace({ tenant, api, role, tool }: TextPlace, isRendered: boolean): string {
  return JSON.stringify([tenant, api, role, tool, isRendered])
}

/** Reads the place of the texts that a key is of; undefined if there is none, since others may have written it. */
export function readPlace(key: string): TextPlace | undefined {
  const place = tryJson(String((tryJson(key) as unknown[] | undefined)?.[0]))
  if (!Array.isArray(place) || !place.slice(0, 4).every((part) => typeof part === 'string')) return undefined
  const [tenant, api, role, tool] = place
  return { tenant, api, role, tool }
}

/** Lengths of a text's beginning that may tell applications apart, longest first. */
const leads = [24, 8] as const

/** What an application may be known by: where a text stands and how it begins. The most exact first, the place last. */
export function keysOf(place: string, text: string): readonly string[] {
  return [
    ...leads.map((length) => JSON.stringify([place, foldNumbers(text.slice(0, length))])),
    JSON.stringify([place]),
  ]
}

const mostKeys = 4_096
/** Texts with a beginning, for each longer one that goes on from it, that make it the beginning of an application. */
const oftenAlike = 5

/** Chooses the key of an application: applications begin alike each time, questions and documents do not. */
export class KeyChooser {
  /** Texts with a key, and different longer keys below it. */
  readonly #counts = new LRUCache<string, { texts: number; longer: number }>({ max: mostKeys })

  /**
   * Returns the key of an application, and the next wider one: recurring documents may look like the
   * beginning of one.
   */
  choose(place: string, text: string): readonly string[] {
    const keys = keysOf(place, text)
    const counts = keys.map((key) => getOrMake(this.#counts, key, () => ({ texts: 0, longer: 0 })))
    counts.forEach((count, i) => {
      count.texts++
      if (count.texts === 1 && i + 1 < counts.length) counts[i + 1]!.longer++
    })
    for (let i = 0; i + 1 < keys.length; i++) {
      const [own, above] = [counts[i]!.texts, counts[i + 1]!]
      if (own >= 2 && (above.texts >= oftenAlike * above.longer || 2 * own >= above.texts)) return keys.slice(i, i + 2)
    }
    return keys.slice(-1)
  }
}
