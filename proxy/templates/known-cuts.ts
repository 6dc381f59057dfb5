import { LRUCache } from 'lru-cache'
import { type BlockId, digestOf } from '#index/context-block.ts'
import type { PromptMessage } from '../prompt/body/prompt.ts'
import { areQuoted } from '../prompt/borders/list-interior.ts'
import { isSound, toSpans } from '../prompt/certain-list.ts'
import type { ContextList } from '../prompt/context-list.ts'
import { orderOf } from '../prompt/judge/judge-list.ts'
import { BLANK_LINE } from '../prompt/scan/find-edges.ts'
import { cutByTemplate } from './cut/cut-by-template.ts'
import { deriveTemplate } from './cut/derive-template.ts'
import { any, type Template } from './cut/template.ts'
import { foldDigits } from './find-list-place.ts'

const mostCuts = 1_024
const longestLead = 32
/** A cut counts once it has agreed with the rules on so many texts. */
const fewestAgreed = 3
/** Once in so many texts, the rules read a text of a known template. */
const textsPerCheck = 32
/** After so many texts in a row without a list, the rules read one in `textsPerSample` of those that are long. */
const fewestEmpty = 16
const textsPerSample = 8
const longText = 16_384
/** Cuts that disagreed: what else stands there alike is left to the rules. */
const mostFailed = 3

/** A template, and where in a block's opening its name stands, if it has one. */
interface NamingTemplate {
  readonly template: Template
  readonly form: ContextList['form']
  /** characters of the opening in front of the name and behind it */
  readonly name?: { readonly front: number; readonly back: number; readonly prefix: string } | undefined
}

interface KnownCut {
  template: NamingTemplate | undefined
  agreed: number
  failed: number
  used: number
  /** texts in a row in which nothing was found */
  empty: number
}

/**
 * What the rules have found in texts that begin alike, so that they need not read all of them. Where they found a list, its
 * cut is learnt. It is compared with what they find before it counts, and now and then afterwards; one that differs is
 * dropped. Where they never found anything, few long texts are read.
 */
export class KnownCuts {
  readonly #cuts = new LRUCache<string, KnownCut>({ max: mostCuts })

  /** Returns the list that a known template wrote into a text; undefined if the rules have to read it. */
  cut(scope: string, message: PromptMessage, whole: string): ContextList | undefined {
    // its order is the tool's, which no template tells
    if (message.isSorted) return undefined
    const known = this.#cuts.get(keyOf(scope, message, whole))
    if (known?.template === undefined || known.agreed < fewestAgreed) return undefined
    known.used += 1
    if (known.used % textsPerCheck === 0) return undefined
    const list = cut(whole, known.template)
    return list && isForRules(whole, list, known.template) ? undefined : list
  }

  /** Whether the rules need not read a long text: in those that begin alike, they found nothing that may be moved many times in a row. */
  isSkipped(scope: string, message: PromptMessage, whole: string): boolean {
    if (whole.length < longText) return false
    const known = this.#cuts.get(keyOf(scope, message, whole))
    if (known === undefined || known.empty < fewestEmpty) return false
    known.used += 1
    return known.used % textsPerSample !== 0
  }

  /**
   * Learns from the lists that the rules found in a text. Where they doubt borders and find none, or know more than a
   * template, they do not contradict it.
   */
  learn(
    scope: string,
    message: PromptMessage,
    whole: string,
    lists: readonly ContextList[],
    { isUnsure = false, isEmpty = lists.length === 0 }: { isUnsure?: boolean; isEmpty?: boolean } = {},
  ): void {
    if (message.isSorted) return
    const key = keyOf(scope, message, whole)
    const known = this.#cuts.get(key) ?? { template: undefined, agreed: 0, failed: 0, used: 0, empty: 0 }
    this.#cuts.set(key, known)
    known.empty = isEmpty ? known.empty + 1 : 0
    if (known.failed >= mostFailed || (lists.length === 0 && isUnsure)) return
    if (known.template !== undefined) {
      const own = cut(whole, known.template)
      const hasAgreed = areSame(own, lists)
      if (hasAgreed) known.agreed += 1
      if (hasAgreed || (own && isForRules(whole, own, known.template))) return
      known.failed += 1
    }
    known.agreed = 0
    known.template = derive(whole, lists)
  }
}

/** Returns the template that wrote the one list of a text. */
function derive(whole: string, lists: readonly ContextList[]): NamingTemplate | undefined {
  const [list] = lists
  const template = list && deriveTemplate(whole, list)
  if (!template) return undefined
  const { form, blocks, labelPrefix: prefix } = list
  const [{ start, contentStart, label }] = blocks as [ContextList['blocks'][number]]
  const name = !list.positional && label && { front: label.start - start, back: contentStart - label.end, prefix }
  const naming = { template, form, ...(name && { name }) }
  return areSame(cut(whole, naming), lists) ? naming : undefined
}

function cut(whole: string, { template, form, name }: NamingTemplate): ContextList | undefined {
  const found = cutByTemplate(whole, template)
  const list = found && { ...found, ...(form && { form }) }
  if (!list || !name) return list
  const blocks = list.blocks.map((block) => ({
    ...block,
    label: { start: block.start + name.front, end: block.contentStart - name.back },
  }))
  const isNamed = blocks.every((block) => isSound(block, block.start, true))
  return isNamed ? { ...list, blocks, labelPrefix: name.prefix } : undefined
}

/** Whether the rules have to judge the list that a template cuts. */
function isForRules(whole: string, list: ContextList, template: NamingTemplate): boolean {
  const areMarksAlike = !template.template.gap.parts.includes(any)
  return mayGoOn(whole, list, template) || orderOf(whole, list, areMarksAlike) !== undefined
}

/** Whether a paragraph at the end of the last block may be the prompt's, since nothing closes blocks. */
function mayGoOn(whole: string, { blocks }: ContextList, { template }: NamingTemplate): boolean {
  const { contentStart, contentEnd } = blocks.at(-1)!
  return !template.hasClose && BLANK_LINE.test(whole.slice(contentStart, contentEnd)) && !areQuoted(whole, blocks)
}

function keyOf(scope: string, { role, tool = '', isRendered = false }: PromptMessage, whole: string): string {
  const lead = foldDigits(whole.slice(0, longestLead))
  return JSON.stringify([scope, role, tool, isRendered, lead])
}

function areSame(cut: ContextList | undefined, [list, ...others]: readonly ContextList[]): boolean {
  return others.length === 0 && JSON.stringify(bordersOf(cut)) === JSON.stringify(bordersOf(list))
}

function bordersOf(list: ContextList | undefined): unknown {
  return list && [list.end, list.positional, list.labelPrefix, toSpans(list), list.blocks.map(({ label }) => label)]
}

const mostEnds = 1_024
/** Words behind so many different last blocks are none of theirs. */
const fewestBlocks = 3

/** What stood between lists and questions, and behind which last blocks. */
export class KnownEnds {
  readonly #blocks = new LRUCache<string, ReadonlySet<BlockId>>({ max: mostEnds })

  /** Whether the words stood behind several different blocks, so that they are the prompt's. */
  isConstant(scope: string, words: string): boolean {
    return (this.#blocks.get(digestOf(`${scope}\0${words}`))?.size ?? 0) >= fewestBlocks
  }

  note(scope: string, words: string, last: BlockId): void {
    const key = digestOf(`${scope}\0${words}`)
    const known = this.#blocks.peek(key) ?? new Set()
    if (known.size < fewestBlocks) this.#blocks.set(key, new Set([...known, last]))
  }
}
