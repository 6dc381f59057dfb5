import { foldNumbers } from './learnt-template.ts'

/** Characters at the begin of a text that may tell applications apart, most first. */
const leads = [24, 8] as const

/** What an application may be known by: where a text stands and how it begins. The most exact first, the place last. */
export function keysOf(place: string, text: string): readonly string[] {
  return [
    ...leads.map((length) => JSON.stringify([place, foldNumbers(text.slice(0, length))])),
    JSON.stringify([place]),
  ]
}

const mostKeys = 4_096
/** Texts that begin alike, on average of those that begin so, that make it the begin of an application. */
const oftenAlike = 5

/** Chooses the key of an application: applications begin alike each time, questions and documents do not. */
export class KeyChooser {
  /** Texts with a key, and different longer keys below it; least recently seen first. */
  readonly #counts = new Map<string, { texts: number; longer: number }>()

  /** Returns the key of an application, and the next wider one: recurring documents may look like begins of applications. */
  choose(place: string, text: string): readonly string[] {
    const keys = keysOf(place, text)
    const counts = keys.map((key) => this.#count(key))
    keys.forEach((_, i) => {
      const above = counts[i + 1]
      if (counts[i]!.texts === 1 && above !== undefined) above.longer++
    })
    for (let i = 0; i + 1 < keys.length; i++) {
      const [own, above] = [counts[i]!.texts, counts[i + 1]!]
      if (own >= 2 && (above.texts >= oftenAlike * above.longer || 2 * own >= above.texts)) return keys.slice(i, i + 2)
    }
    return keys.slice(-1)
  }

  #count(key: string): { texts: number; longer: number } {
    const count = this.#counts.get(key) ?? { texts: 0, longer: 0 }
    this.#counts.delete(key)
    this.#counts.set(key, count)
    if (this.#counts.size > mostKeys) this.#counts.delete(this.#counts.keys().next().value!)
    count.texts++
    return count
  }
}
