import { LRUCache } from 'lru-cache'
import { digestOf } from '#index/context-block.ts'
import { learnTemplate } from './learn-template.ts'
import { type LearntTemplate, number } from './learnt-template.ts'
import { lengthOf, type SeenLists, seeLists, type UnknownText } from './seen-lists.ts'
import { canTeach, KeyChooser } from './text-keys.ts'

/** A template that was learnt, and what it shows of the texts that it was learnt from. */
export interface Learnt {
  readonly template: LearntTemplate
  readonly seen: readonly SeenLists[]
}

interface Application {
  readonly texts: UnknownText[]
  /** Texts taken, and how many of them before it is tried again. */
  taken: number
  next: number
}

/** Bounds of what is kept; characters are UTF-16 units. */
const most = { applications: 64, texts: 48, characters: 1_000_000, recent: 1_024 } as const
/** An application is tried after so many texts, and then each time there are a third more. */
const firstTry = 6
const growth = 1.34
/** A template that cuts fewer of the texts it was learnt from is none. */
const fewestCut = 3

/** Learns templates from texts in which nothing was found. Deterministic; keeps 2 MB of texts at most. */
export class TemplateLearner {
  readonly #keys = new KeyChooser()
  /** Least recently fed first. */
  readonly #applications = new Map<string, Application>()
  readonly #recent = new LRUCache<string, true>({ max: most.recent })
  #characters = 0

  /**
   * Takes a text: the content of a message, for example. `place` says where it stands (`toPlace`). Returns a template
   * when one was learnt. A text that was taken before is no evidence.
   */
  take(place: string, unknown: UnknownText): Learnt | undefined {
    const { text } = unknown
    if (!canTeach(text) || this.#isRepeated(place, text)) return undefined
    // the most exact one counts
    return this.#keys
      .choose(place, text)
      .map((key) => this.#add(key, unknown))
      .find((learnt) => learnt !== undefined)
  }

  #add(key: string, unknown: UnknownText): Learnt | undefined {
    const application = this.#applications.get(key) ?? { texts: [], taken: 0, next: firstTry }
    this.#applications.delete(key)
    this.#applications.set(key, application)
    application.texts.push(unknown)
    application.taken++
    this.#characters += lengthOf(unknown)
    if (application.texts.length > most.texts) this.#dropOldest(application.texts)
    this.#shrink()
    if (application.taken < application.next) return undefined
    application.next = Math.max(application.taken + 1, Math.ceil(application.taken * growth))
    const template = learnTemplate(
      key,
      application.texts.map(({ text }) => text),
    )
    const seen = template ? seeLists(template, application.texts) : []
    return template && seen.reduce((sum, { lists }) => sum + lists, 0) >= fewestCut ? { template, seen } : undefined
  }

  /** UTF-16 units of the texts kept. */
  get characters(): number {
    return this.#characters
  }

  #isRepeated(place: string, text: string): boolean {
    const name = digestOf(place + number + text)
    if (this.#recent.has(name)) return true
    this.#recent.set(name, true)
    return false
  }

  #dropOldest(texts: UnknownText[]): void {
    this.#characters -= lengthOf(texts.shift()!)
  }

  /** Texts of the application that was fed longest ago go first. */
  #shrink(): void {
    for (const [key, { texts }] of this.#applications) {
      while (texts.length > 0 && this.#isFull) this.#dropOldest(texts)
      if (texts.length > 0) return
      this.#applications.delete(key)
    }
  }

  get #isFull(): boolean {
    return this.#characters > most.characters || this.#applications.size > most.applications
  }
}
