import { findCitations } from '../../answer/citations/hold-citations.ts'
import { placeLabels } from '../body/prompt-context.ts'
import { labelFormOf } from '../citation-map.ts'
import { readRemarks } from '../places/read-remarks.ts'
import { toAsciiDigits } from '../scan/words/digits.ts'
import type { ListItem, TextItem, TurnItems } from './turn-items.ts'

interface NumberAt {
  readonly number: string
  readonly at: number
}

/** What users say about the blocks of earlier turns. */
interface Said {
  readonly words: string
  /** they speak of blocks, or of anything else, by place: `the second document`, `the last` */
  readonly isCounted: boolean
  readonly numbers: readonly NumberAt[]
}

/** Says of moved lists whether what later turns say about them can be written in other labels. */
export class References {
  readonly #items: TurnItems
  readonly #texts: readonly string[]
  readonly #read = new Map<TextItem, Said>()

  constructor(items: TurnItems, texts: readonly string[]) {
    this.#items = items
    this.#texts = texts
  }

  /**
   * Returns whether users count no blocks in later turns, and every number that may be a label of the list is a citation
   * of only this list. Turns with lists of their own speak of these. Answers can always be translated.
   */
  areTranslatable(list: ListItem): boolean {
    const { context, moved } = list
    const own = placeLabels(context, this.#texts)
    const toSent = (number: string): string => own[moved!.order.indexOf(own.indexOf(number))]!
    const form = labelFormOf(this.#texts, context)
    return this.#items.textsAfter(list).every((text) => {
      if (!this.#isAsking(text)) return true
      const { words, isCounted, numbers } = this.#readText(text)
      if (isCounted) return false
      const named = numbers.filter(({ number }) => own.includes(number))
      if (named.length === 0) return true
      if (!form || text.speaker === 'unknown') return false
      const others = new Set(
        this.#items
          .listsBefore(text)
          .flatMap((other) => (other === list ? [] : placeLabels(other.context, this.#texts))),
      )
      // neither the number nor the label that it is sent as may mean another list
      if (named.some(({ number }) => others.has(number) || others.has(toSent(number)))) return false
      const cited = findCitations(words, form, own)
      return named.every(({ at }) => cited.some(({ start, end }) => start <= at && at < end))
    })
  }

  #isAsking(text: TextItem): boolean {
    return text.speaker === 'unknown' || (text.speaker === 'user' && !this.#items.isListed(text))
  }

  #readText(item: TextItem): Said {
    const known = this.#read.get(item)
    if (known) return known
    const words = this.#texts[item.text]!.slice(item.start, item.end)
    const isCounted = [...readRemarks(words)].some((remark) => remark.endsWith(' nth'))
    const numbers = [...toAsciiDigits(words).matchAll(/\d+/g)].map(({ 0: number, index }) => ({ number, at: index }))
    const said = { words, isCounted, numbers }
    this.#read.set(item, said)
    return said
  }
}
