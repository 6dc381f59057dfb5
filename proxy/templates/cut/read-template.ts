import {
  any,
  compileTemplate,
  isTelling,
  literalOf,
  merge,
  placeNumber,
  type Template,
  type TemplatePart,
  type TemplateParts,
} from './template.ts'

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
/** Stands for a block's content. */
const content = Symbol('block')

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

function findUnknownPlaceholders({ block, join = '', before = '', after = '' }: TemplateText): TemplateFault[] {
  const allowed = [
    ['block', block, ['{block}', '{any}', '{n}']],
    ['join', join, []],
    ['before', before, before === '{start}' ? ['{start}'] : ['{any}']],
    ['after', after, after === '{end}' ? ['{end}'] : ['{any}']],
  ] as const
  const faults = allowed.flatMap(([key, text, known]): TemplateFault[] =>
    (text.match(PLACEHOLDER) ?? [])
      .filter((placeholder) => !known.some((one) => one === placeholder))
      .map((placeholder) => ({ key, reason: `${placeholder} cannot be there: write ${known.join(', ') || 'words'}` })),
  )
  if (block.split(BLOCK).length !== 2) faults.push({ key: 'block', reason: 'has to contain {block} once' })
  return faults
}

function findFaults({ before, open, close, join, after }: TemplateParts): TemplateFault[] {
  const [front, behind] = [before, after].map((parts) => (Array.isArray(parts) ? (parts as TemplatePart[]) : []))
  const numbers = open.filter((part) => part === placeNumber).length
  const between = merge([...close, join, ...open])
  const block = [...open, content, ...close]
  const next = between.length > 0 ? [...(join === '' ? [] : [join]), ...block] : []
  const whole = [...front!, ...block, ...next, ...behind!]
  const begins = Array.isArray(before) ? front![0] : open[0]
  const isOpenFirst = open.length === 0 && before === undefined
  const checks: [boolean, TemplateFault['key'], string][] = [
    [close.includes(placeNumber) || numbers > 1, 'block', 'may contain {n} once, in front of {block}'],
    [
      numbers === 0 && !between.some((part) => isTelling(literalOf(part))),
      'block',
      'has no border that documents do not contain, too: give it {n}, or at least three characters that are no white space and no #',
    ],
    [
      whole.some((part, i) => i > 0 && typeof part === 'symbol' && typeof whole[i - 1] === 'symbol'),
      'block',
      'needs words between two of {block}, {any} and {n}',
    ],
    [
      between.some(
        (part, i) => part === placeNumber && between[i - 2] === any && !literalOf(between[i - 1]).includes('\n'),
      ),
      'block',
      'has to contain {n} in front of {any}',
    ],
    [
      isOpenFirst,
      'before',
      'is needed, since nothing begins a block: write what is in front of the first one, or {start}',
    ],
    [
      !isOpenFirst && typeof begins === 'symbol',
      'before',
      'is needed and has to begin with words, since a block begins with {n} or {any}',
    ],
    [
      after === undefined && !isTelling(literalOf(close.at(-1))),
      'after',
      'is needed, since nothing ends the last block: write what is behind it, or {end}',
    ],
    [
      Array.isArray(after) && behind!.map(literalOf).join('').trim() === '',
      'after',
      'may not be white space alone, which documents contain, too',
    ],
  ]
  return checks.flatMap(([isWrong, key, reason]) => (isWrong ? [{ key, reason }] : []))
}

function toParts(text: string): TemplatePart[] {
  return text
    .split(/(\{any\}|\{n\})/)
    .filter((piece) => piece !== '')
    .map((piece): TemplatePart => (piece === '{any}' ? any : piece === '{n}' ? placeNumber : piece))
}
