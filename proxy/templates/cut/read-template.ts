import { compileTemplate, isTelling, literalOf, merge } from './compile-template.ts'
import type { Template, TemplatePart, TemplateParts } from './template.ts'

/** A template as an application's developer writes it down. */
export interface TemplateText {
  /** for people, in reports */
  readonly name?: string
  /** one block: literals around `{block}`; `{any}` is anything within one line, `{n}` the number of its place */
  readonly block: string
  /** between two blocks */
  readonly join?: string
  /** directly in front of the first block; `{start}`: the text begins with it */
  readonly before?: string
  /** directly behind the last block; `{end}`: the text ends with it */
  readonly after?: string
}

/** What is wrong with a template, and with which of its texts. */
interface TemplateFault {
  readonly key: 'block' | 'join' | 'before' | 'after'
  readonly reason: string
}

const PLACEHOLDER = /\{([A-Za-z_]\w*)\}/g
const BLOCK = '{block}'

/** Prepares a template for searching; a list of faults if it could not be searched for, or would tear documents. */
export function readTemplate(text: TemplateText): Template | readonly TemplateFault[] {
  const unknown = findUnknownPlaceholders(text)
  if (unknown.length > 0) return unknown
  const [open, close] = text.block.split(BLOCK).map(toParts) as [TemplatePart[], TemplatePart[]]
  const parts: TemplateParts = {
    open,
    close,
    join: text.join ?? '',
    before: text.before === '{start}' ? 'start' : text.before === undefined ? undefined : toParts(text.before),
    after: text.after === '{end}' ? 'end' : text.after === undefined ? undefined : toParts(text.after),
  }
  const faults = findFaults(parts)
  return faults.length > 0 ? faults : compileTemplate(parts)
}

function findUnknownPlaceholders({ block, join, before, after }: TemplateText): TemplateFault[] {
  const faults: TemplateFault[] = []
  const allow = (key: TemplateFault['key'], text: string | undefined, known: readonly string[]): void => {
    for (const [whole, name] of text?.matchAll(PLACEHOLDER) ?? []) {
      if (known.includes(name!)) continue
      const reason = `${whole} cannot be there: write ${known.map((one) => `{${one}}`).join(', ') || 'words'}`
      faults.push({ key, reason })
    }
  }
  allow('block', block, ['block', 'any', 'n'])
  allow('join', join, [])
  allow('before', before, before === '{start}' ? ['start'] : ['any'])
  allow('after', after, after === '{end}' ? ['end'] : ['any'])
  if (block.split(BLOCK).length !== 2) faults.push({ key: 'block', reason: 'has to contain {block} once' })
  return faults
}

function findFaults(parts: TemplateParts): TemplateFault[] {
  return [...findBlockFaults(parts), ...findEdgeFaults(parts)]
}

function findBlockFaults({ before, open, close, join, after }: TemplateParts): TemplateFault[] {
  const numbers = open.filter((part) => part === 'number').length
  const between = merge([...close, ...toParts(join), ...open])
  const block = [...open, BLOCK, ...close] as const
  const whole = [...listOf(before), ...block, ...toParts(join), ...block, ...listOf(after)]
  const checks: [boolean, string][] = [
    [close.includes('number') || numbers > 1, 'may contain {n} once, in front of {block}'],
    [
      numbers === 0 && !between.some((part) => isTelling(literalOf(part))),
      'has no border that documents do not contain, too: give it {n}, or at least three characters that are no white space and no #',
    ],
    [
      whole.some((part, i) => i > 0 && isVariable(part) && isVariable(whole[i - 1]!)),
      'needs words between two of {block}, {any} and {n}',
    ],
    [
      between.some((part, i) => part === 'number' && between[i - 2] === 'any' && !holdsLineEnd(between[i - 1])),
      'has to contain {n} in front of {any}',
    ],
  ]
  return checks.flatMap(([isWrong, reason]) => (isWrong ? [{ key: 'block', reason }] : []))
}

function findEdgeFaults({ before, open, close, after }: TemplateParts): TemplateFault[] {
  const faults: TemplateFault[] = []
  const add = (key: TemplateFault['key'], reason: string): unknown => faults.push({ key, reason })
  const [begins] = Array.isArray(before) ? before : open
  if (open.length === 0 && before === undefined)
    add('before', 'is needed, since nothing begins a block: write what is in front of the first one, or {start}')
  else if (begins !== undefined && isVariable(begins))
    add('before', 'is needed and has to begin with words, since a block begins with {n} or {any}')
  if (after === undefined && !isTelling(literalOf(close.at(-1))))
    add('after', 'is needed, since nothing ends the last block: write what is behind it, or {end}')
  if (Array.isArray(after) && !/\S/.test(after.map(literalOf).join('')))
    add('after', 'may not be white space alone, which documents contain, too')
  return faults
}

function toParts(text: string): TemplatePart[] {
  return text
    .split(/(\{any\}|\{n\})/)
    .filter((piece) => piece !== '')
    .map((piece): TemplatePart => (piece === '{any}' ? 'any' : piece === '{n}' ? 'number' : { literal: piece }))
}

function listOf(parts: TemplateParts['before' | 'after']): readonly TemplatePart[] {
  return Array.isArray(parts) ? parts : []
}

function isVariable(part: TemplatePart | typeof BLOCK): boolean {
  return typeof part !== 'object'
}

function holdsLineEnd(part: TemplatePart | undefined): boolean {
  return literalOf(part).includes('\n')
}
