import { type CertainFinder, type CertainList, type SearchedText, toSpans } from '../prompt/certain-list.ts'
import { overlap } from '../prompt/context-list.ts'
import {
  type DeclaredLists,
  type DeclaredRefusal,
  type DeclaredTemplate,
  findDeclaredLists,
} from '../templates/declared-templates.ts'
import type { LearntFinder } from '../templates/learner/learnt-templates.ts'
import type { ChunkRefusal, KnownLists } from './find-known-lists.ts'

/**
 * The lists with certain borders in one request: written by a template of the configuration, of known chunks,
 * or, where nothing else is found, written by a template that was learnt.
 */
export class CertainLists {
  readonly #findKnown: ((text: string) => KnownLists) | undefined
  readonly #templates: readonly DeclaredTemplate[]
  readonly #findLearnt: LearntFinder | undefined
  /** by the texts of a message, since a request is laid out more than once */
  readonly #found = new Map<string, { readonly whole: string; readonly lists: CertainList[] }>()
  /** of known chunks: how many were found, their lists, and, by reason, how often adjacent ones were left alone */
  readonly counts: { matched: number; lists: number; readonly refused: Partial<Record<ChunkRefusal, number>> } = {
    matched: 0,
    lists: 0,
    refused: {},
  }
  /** of the configured templates */
  readonly templateCounts: { lists: number; readonly refused: DeclaredRefusal[] } = { lists: 0, refused: [] }
  /** Finds the lists in a text. */
  readonly finder: CertainFinder = (text) => this.#find(text)

  constructor(
    findKnown: ((text: string) => KnownLists) | undefined,
    templates: readonly DeclaredTemplate[] = [],
    findLearnt?: LearntFinder,
  ) {
    this.#findKnown = findKnown
    this.#templates = templates
    this.#findLearnt = findLearnt
  }

  /** Releases all texts; the counts stay. */
  release(): void {
    this.#found.clear()
  }

  #find(text: SearchedText): CertainList[] {
    const name = text.parts.map((part) => part.text).join()
    const before = this.#found.get(name)
    if (before?.whole === text.whole) return before.lists
    const known = this.#findKnown?.(text.whole) ?? { lists: [], matched: 0, refused: [] }
    const others = known.lists.map(({ chunks, ...list }): CertainList => {
      return { ...list, certain: { by: 'known_chunks', chunks, spans: toSpans(list), labels: [] } }
    })
    const declared = findDeclaredLists(text, this.#templates)
    const lists = [...declared.lists]
    for (const list of others) if (!lists.some((one) => overlap(one, list))) lists.push(list)
    if (lists.length === 0 && text.marked.length === 0 && text.parts.length === 1) {
      const learnt = this.#findLearnt?.(text, text.whole)
      if (learnt) lists.push(learnt)
    }
    if (before === undefined) this.#count(known, declared)
    this.#found.set(name, { whole: text.whole, lists })
    return lists
  }

  #count(known: KnownLists, declared: DeclaredLists): void {
    const { counts, templateCounts } = this
    counts.matched += known.matched
    counts.lists += known.lists.length
    for (const reason of known.refused) counts.refused[reason] = (counts.refused[reason] ?? 0) + 1
    templateCounts.lists += declared.lists.length
    templateCounts.refused.push(...declared.refused)
  }
}
