import { type CertainFinder, type CertainList, type SearchedText, toLabels, toSpans } from '../prompt/certain-list.ts'
import { overlap } from '../prompt/context-list.ts'
import {
  type DeclaredLists,
  type DeclaredRefusal,
  type DeclaredTemplate,
  findDeclaredLists,
} from '../templates/declared-templates.ts'
import type { LearntFinder, LearntList } from '../templates/learner/learnt-templates.ts'
import type { ChunkRefusal, KnownLists } from './find-known-lists.ts'

/** What is reported about the known chunks in a request. */
interface KnownChunkCounts {
  /** chunks that were found */
  readonly matched: number
  readonly lists: number
  /** by reason: how often adjacent chunks were left alone */
  readonly refused: Readonly<Partial<Record<ChunkRefusal, number>>>
}

/** What is reported about the configured templates in a request. */
interface TemplateCounts {
  readonly lists: number
  readonly refused: readonly DeclaredRefusal[]
}

interface FoundLists {
  readonly whole: string
  readonly lists: CertainList[]
  readonly known: KnownLists
  readonly declared: DeclaredLists
}

/**
 * The lists with certain borders in one request: written by a template of the configuration, of known chunks,
 * or, where nothing else is found, written by a template that was learnt.
 */
export class CertainLists {
  readonly #findKnown: ((text: string) => KnownLists) | undefined
  readonly #templates: readonly DeclaredTemplate[]
  readonly #findLearnt: LearntFinder | undefined
  #kept: { readonly chunks: KnownChunkCounts; readonly templates: TemplateCounts } | undefined
  /** by the texts of a message, since a request is laid out more than once */
  readonly #found = new Map<string, FoundLists>()

  constructor(
    findKnown: ((text: string) => KnownLists) | undefined,
    templates: readonly DeclaredTemplate[] = [],
    findLearnt?: LearntFinder,
  ) {
    this.#findKnown = findKnown
    this.#templates = templates
    this.#findLearnt = findLearnt
  }

  /** Finds the lists in a text. */
  get finder(): CertainFinder {
    return (text) => this.#find(text)
  }

  get counts(): KnownChunkCounts {
    if (this.#kept) return this.#kept.chunks
    let matched = 0
    let lists = 0
    const refused: Partial<Record<ChunkRefusal, number>> = {}
    for (const { known } of this.#found.values()) {
      matched += known.matched
      lists += known.lists.length
      for (const reason of known.refused) refused[reason] = (refused[reason] ?? 0) + 1
    }
    return { matched, lists, refused }
  }

  get templateCounts(): TemplateCounts {
    if (this.#kept) return this.#kept.templates
    const declared = [...this.#found.values()].map((found) => found.declared)
    const lists = declared.reduce((sum, own) => sum + own.lists.length, 0)
    return { lists, refused: declared.flatMap(({ refused }) => refused) }
  }

  /** Releases all texts; the counts stay. */
  release(): void {
    this.#kept = { chunks: this.counts, templates: this.templateCounts }
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
      if (learnt) lists.push(toCertain(learnt))
    }
    this.#found.set(name, { whole: text.whole, lists, known, declared })
    return lists
  }
}

function toCertain({ list, key }: LearntList): CertainList {
  const [spans, labels] = [toSpans(list), toLabels(list.blocks)]
  return { ...list, certain: { by: 'learnt', learntKey: key, chunks: [], spans, labels } }
}
