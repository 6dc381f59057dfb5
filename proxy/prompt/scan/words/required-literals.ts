import { type AST, RegExpParser } from '@eslint-community/regexpp'

/** What a part of an expression matches: exactly one of these texts, or texts that hold one of the needed ones. */
type Matched =
  | { readonly exact: readonly string[]; readonly needed?: undefined }
  | { readonly exact?: undefined; readonly needed: readonly string[] | undefined }

/** More texts than this are not told apart. */
const mostExact = 32
const mostNeeded = 600
/** A longer text is hardly rarer. */
const rare = 6

const anything: Matched = { needed: undefined }
const nothing: Matched = { exact: [''] }
const digits = [...'0123456789']
const parser = new RegExpParser({ ecmaVersion: 2024 })

/** Lower case as in {@link requiredBy}: texts that an expression takes for equal without regard to case are equal. */
export function foldCase(text: string): string {
  const lower = text.toLowerCase()
  return lower.replaceAll('ς', 'σ').replaceAll('ſ', 's')
}

/** An expression, and texts in folded case of which every match of it holds at least one. */
export interface Required {
  readonly source: string
  /** undefined if there are none, or too many */
  readonly literals: readonly string[] | undefined
}

/**
 * Returns an expression with the texts that its matches require: those that are rarest by their length. (Cox, "Regular
 * Expression Matching with a Trigram Index", 2012, with texts in place of trigrams.)
 */
export function requiredBy(source: string, flags: string): Required {
  return { source, literals: neededBy(ofAlternatives(parse(source, flags).alternatives)) }
}

/**
 * Like {@link requiredBy}, for each of an expression's alternatives, also those between look-arounds. The expression
 * matches somewhere in a text if one of them does.
 */
export function requiredByEach(source: string, flags: string): Required[] {
  return parse(source, flags).alternatives.flatMap(({ raw, elements }) => {
    const at = elements.findIndex(({ type }) => type !== 'Assertion')
    const group = elements[at]
    if (group?.type !== 'Group' || elements.slice(at + 1).some(({ type }) => type !== 'Assertion')) {
      return [{ source: raw, literals: neededBy(ofSequence(elements)) }]
    }
    const [front, behind] = [elements.slice(0, at), elements.slice(at + 1)].map((all) =>
      all.map((own) => own.raw).join(''),
    )
    return group.alternatives.map((own) => ({
      source: `${front}(?:${own.raw})${behind}`,
      literals: neededBy(ofSequence(own.elements)),
    }))
  })
}

function parse(source: string, flags: string): AST.Pattern {
  return parser.parsePattern(source, 0, source.length, { unicode: flags.includes('u') })
}

function neededBy({ exact, needed }: Matched): readonly string[] | undefined {
  const texts = exact ?? needed
  return texts === undefined || texts.length > mostNeeded || texts.includes('') ? undefined : texts
}

function ofAlternatives(alternatives: readonly AST.Alternative[]): Matched {
  const all = alternatives.map(({ elements }) => ofSequence(elements))
  const exact = all.flatMap((own) => own.exact ?? [])
  if (all.every((own) => own.exact) && exact.length <= mostExact) return { exact }
  const needed = all.map(neededBy)
  return needed.includes(undefined) ? anything : { needed: [...new Set(needed.flatMap((own) => own ?? []))] }
}

function ofSequence(elements: readonly AST.Element[]): Matched {
  let best: readonly string[] | undefined
  const offer = (texts: readonly string[] | undefined): void => {
    if (texts !== undefined && (best === undefined || isRarer(texts, best))) best = texts
  }
  /** what the elements since the last that is not exact match */
  let run: readonly string[] = ['']
  let isExact = true
  for (const element of elements) {
    const { exact, needed } = ofElement(element)
    if (exact && exact.length * run.length <= mostExact) {
      run = run.flatMap((front) => exact.map((text) => front + text))
      continue
    }
    isExact = false
    offer(neededBy({ exact: run }))
    offer(neededBy(exact ? { exact } : { needed }))
    run = exact && exact.length <= mostExact ? exact : ['']
  }
  if (isExact) return { exact: run }
  offer(neededBy({ exact: run }))
  return { needed: best }
}

function isRarer(texts: readonly string[], others: readonly string[]): boolean {
  const [rarity, otherRarity] = [texts, others].map((all) => Math.min(rare, ...all.map(({ length }) => length)))
  return rarity! > otherRarity! || (rarity === otherRarity && texts.length < others.length)
}

function ofElement(element: AST.Element): Matched {
  switch (element.type) {
    case 'Assertion':
      return nothing
    case 'Character':
      return { exact: [foldCase(String.fromCodePoint(element.value))] }
    case 'CharacterSet':
      return element.kind === 'digit' && !element.negate ? { exact: digits } : anything
    case 'CharacterClass':
      return ofClass(element)
    case 'Group':
    case 'CapturingGroup':
      return ofAlternatives(element.alternatives)
    case 'Quantifier':
      return ofQuantifier(element)
    default:
      return anything
  }
}

function ofClass({ negate, elements }: AST.CharacterClass): Matched {
  const texts = negate ? [undefined] : elements.map(ofMember)
  if (texts.includes(undefined)) return anything
  const exact = [...new Set(texts.flatMap((own) => own ?? []))]
  return exact.length > 0 && exact.length <= mostExact ? { exact } : anything
}

function ofMember(member: AST.CharacterClass['elements'][number]): readonly string[] | undefined {
  if (member.type === 'Character' || member.type === 'CharacterSet') return ofElement(member).exact
  if (member.type !== 'CharacterClassRange' || member.max.value - member.min.value >= mostExact) return undefined
  const codes = Array.from({ length: member.max.value - member.min.value + 1 }, (_, i) => member.min.value + i)
  return codes.map((code) => foldCase(String.fromCodePoint(code)))
}

function ofQuantifier({ min, max, element }: AST.Quantifier): Matched {
  const own = ofElement(element)
  if (min === 1 && max === 1) return own
  if (min === 0) return max === 1 && own.exact ? { exact: [...own.exact, ''] } : anything
  return { needed: neededBy(own) }
}
