import type { BlockId } from '../context-block.ts'
import { headOf } from './hint-words.ts'

/** Something in a prompt that words about a label may be taken to speak of. */
export class LabelBearer {
  /** undefined for text that is no block */
  readonly id: BlockId | undefined
  /** how it is spoken of, as `[3]` */
  readonly label: string
  /** whether that label stands in the prompt; else it is only its place */
  readonly isLabelled: boolean
  #content: string
  #head: string | undefined

  constructor(id: BlockId | undefined, label: string, isLabelled: boolean, content: string) {
    this.id = id
    this.label = label
    this.isLabelled = isLabelled
    this.#content = content
  }

  /** What stands there. */
  get content(): string {
    return this.#content
  }

  /** Notes that something else stands there. */
  replace(content: string): void {
    this.#content = content
    this.#head = undefined
  }

  /** Whether it begins with these words, of which no more are given than a pointer quotes. */
  beginsWith(words: string): boolean {
    this.#head ??= headOf(this.#content)
    return this.#head.startsWith(words)
  }
}

/** Labels where a line begins: `[3]`, `Document 3:`, in quotations, lists and bold type too. */
const LABEL_IN_TEXT = /^[ \t>*-]{0,8}(?:\[([^[\]\r\n]{1,60})\]|([\p{L}_]{1,20} \d{1,6})[:.)])/gmu

/** Who bears which label in a prompt, as far as it is written: blocks, and lines of other text that look like some. */
export class LabelBearers {
  readonly #labelled = new Map<string, LabelBearer[]>()
  readonly #unlabelled: LabelBearer[] = []
  /** hardly ever asked for, so not searched before */
  #unread: string[] = []
  /** labels of notes in documents, and of lists in them that were not found */
  readonly #inside = new Set<string>()
  #unreadBlocks: string[] = []

  add(bearer: LabelBearer): void {
    if (bearer.id !== undefined) this.#unreadBlocks.push(bearer.content)
    if (!bearer.isLabelled) this.#unlabelled.push(bearer)
    else if (!this.#labelled.get(bearer.label)?.push(bearer)) this.#labelled.set(bearer.label, [bearer])
  }

  /** Takes in what stands between the blocks, and what others say. */
  addText(text: string): void {
    if (text.length > 0) this.#unread.push(text)
  }

  /** All that bear a label. */
  of(label: string): readonly LabelBearer[] {
    for (const text of this.#unread) this.#read(text)
    this.#unread = []
    return this.#labelled.get(label) ?? []
  }

  /** Whether a label stands at the beginning of a line inside of a block. */
  standsInside(label: string): boolean {
    for (const content of this.#unreadBlocks) {
      for (const match of content.matchAll(LABEL_IN_TEXT)) this.#inside.add(labelOf(match))
    }
    this.#unreadBlocks = []
    return this.#inside.has(label)
  }

  /** All blocks that stand under no label. */
  get unlabelled(): readonly LabelBearer[] {
    return this.#unlabelled
  }

  #read(text: string): void {
    let last: LabelBearer | undefined
    let from = 0
    for (const match of text.matchAll(LABEL_IN_TEXT)) {
      last?.replace(text.slice(from, match.index))
      from = match.index + match[0].length
      last = new LabelBearer(undefined, labelOf(match), true, text.slice(from))
      this.add(last)
    }
  }
}

function labelOf([, bracketed, worded]: RegExpMatchArray): string {
  return `[${bracketed ?? worded}]`
}
