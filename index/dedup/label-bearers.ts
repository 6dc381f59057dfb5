import type { BlockId } from '../context-block.ts'
import { addTo } from '../group-by.ts'
import { headOf } from './hint-words.ts'

/** Something in a prompt that a reference by label may be understood to mean. */
export class LabelBearer {
  /** undefined for text that is not a block */
  readonly id: BlockId | undefined
  /** how pointers refer to it, such as `[3]` */
  readonly label: string
  /** whether that label is in the prompt; otherwise it is only the block's position */
  readonly isLabelled: boolean
  #content: string
  #head: string | undefined

  constructor(id: BlockId | undefined, label: string, isLabelled: boolean, content: string) {
    this.id = id
    this.label = label
    this.isLabelled = isLabelled
    this.#content = content
  }

  /** The text under the label. */
  get content(): string {
    return this.#content
  }

  /** Replaces the text. */
  replace(content: string): void {
    this.#content = content
    this.#head = undefined
  }

  /** Returns whether it begins with these words, which must not be longer than a pointer can quote. */
  beginsWith(words: string): boolean {
    this.#head ??= headOf(this.#content)
    return this.#head.startsWith(words)
  }
}

/** Labels at the start of a line, such as `[3]` or `Document 3:`, including in quotations, lists and bold type. */
const LABEL_IN_TEXT = /^[ \t>*-]{0,8}(?:\[([^[\]\r\n]{1,60})\]|([\p{L}_]{1,20} \d{1,6})[:.)])/gmu

/** The bearers of each label in the prompt so far: blocks, and lines of other text that look like labelled blocks. */
export class LabelBearers {
  readonly #labelled = new Map<string, LabelBearer[]>()
  /** not yet among these, because they are rarely asked for */
  #added: LabelBearer[] = []
  /** all blocks without a label in the prompt */
  readonly unlabelled: LabelBearer[] = []
  /** texts not yet searched for labels, because that is rarely needed */
  #unread: string[] = []
  /** labels inside blocks, such as those of notes or of lists that were not detected */
  readonly #inside = new Set<string>()
  #unreadBlocks: string[] = []

  add(bearer: LabelBearer): void {
    if (bearer.id !== undefined) this.#unreadBlocks.push(bearer.content)
    const bearers = bearer.isLabelled ? this.#added : this.unlabelled
    bearers.push(bearer)
  }

  /** Adds text that is not in a block: between blocks, or in other messages. */
  addText(text: string): void {
    if (text.length > 0) this.#unread.push(text)
  }

  /** Returns all bearers of a label. */
  of(label: string): readonly LabelBearer[] {
    for (const bearer of this.#added) addTo(this.#labelled, bearer.label, bearer)
    this.#added = []
    for (const text of this.#unread) this.#read(text)
    this.#unread = []
    return this.#labelled.get(label) ?? []
  }

  /** Returns whether a label is at the start of a line inside a block. */
  standsInside(label: string): boolean {
    for (const content of this.#unreadBlocks) {
      for (const match of content.matchAll(LABEL_IN_TEXT)) this.#inside.add(labelOf(match))
    }
    this.#unreadBlocks = []
    return this.#inside.has(label)
  }

  #read(text: string): void {
    let last: LabelBearer | undefined
    let from = 0
    for (const match of text.matchAll(LABEL_IN_TEXT)) {
      last?.replace(text.slice(from, match.index))
      from = match.index + match[0].length
      last = new LabelBearer(undefined, labelOf(match), true, text.slice(from))
      addTo(this.#labelled, last.label, last)
    }
  }
}

function labelOf([, bracketed, worded]: RegExpMatchArray): string {
  return `[${bracketed ?? worded}]`
}
