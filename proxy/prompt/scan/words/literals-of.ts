import { type AST, RegExpParser } from '@eslint-community/regexpp'

/** What is known of the texts that part of a pattern matches. */
interface Known {
  /** all of them, if they are few */
  readonly whole?: readonly string[]
  /** each contains one of these */
  readonly within?: readonly string[]
}

const MOST_TEXTS = 64
const WIDEST_CLASS = 12
const UNKNOWN: Known = {}
/** assertions match no characters */
const EMPTY: Known = { whole: [''] }

/**
 * Returns literals of which every match of a pattern contains at least one, both folded; undefined if there are none.
 * The prefilter of RE2's FilteredRE2, as one disjunction.
 */
export function literalsOf({ source, flags }: RegExp): readonly string[] | undefined {
  const parser = new RegExpParser()
  const { alternatives } = parser.parsePattern(source, 0, source.length, { unicode: flags.includes('u') })
  return literalsIn(ofAny(alternatives))
}

function foldedOf(code: number): string {
  return fold(String.fromCodePoint(code))
}

/** Folds case so that whatever a pattern takes for the same is the same. Joined texts are folded like their parts. */
export function fold(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ')
}

function literalsIn({ whole, within }: Known): readonly string[] | undefined {
  const candidates = [within, whole].filter((texts) => texts?.every((text) => text !== ''))
  return candidates.reduce((best, texts) => (isRarer(texts!, best) ? texts : best), undefined)
}

/** The longer the shortest literal, the fewer texts contain one by chance. */
function isRarer(texts: readonly string[], than: readonly string[] | undefined): boolean {
  if (than === undefined) return true
  const [shortest, other] = [shortestOf(texts), shortestOf(than)]
  return shortest > other || (shortest === other && texts.length < than.length)
}

function shortestOf(texts: readonly string[]): number {
  return texts.reduce((shortest, { length }) => Math.min(shortest, length), 4)
}

function ofAny(alternatives: readonly AST.Alternative[]): Known {
  const all = alternatives.map(ofSequence)
  const whole = all.flatMap((known) => known.whole ?? [])
  if (all.every((known) => known.whole) && whole.length <= MOST_TEXTS * 8) return { whole: [...new Set(whole)] }
  const within = all.map(literalsIn)
  return within.every((literals) => literals !== undefined) ? { within: [...new Set(within.flat())] } : UNKNOWN
}

function ofSequence({ elements }: AST.Alternative): Known {
  let within: readonly string[] | undefined
  let run: readonly string[] = ['']
  let isWhole = true
  const keep = (literals: readonly string[] | undefined): void => {
    if (literals && isRarer(literals, within)) within = literals
  }
  for (const known of elements.map(ofElement)) {
    const { whole } = known
    if (whole && run.length * whole.length <= MOST_TEXTS) {
      run = run.flatMap((front) => whole.map((text) => front + text))
      continue
    }
    isWhole = false
    keep(literalsIn({ whole: run }))
    keep(literalsIn(known))
    run = whole ?? ['']
  }
  if (isWhole) return { whole: [...new Set(run)] }
  keep(literalsIn({ whole: run }))
  return within ? { within } : UNKNOWN
}

function ofElement(element: AST.Element): Known {
  switch (element.type) {
    case 'Assertion':
      return EMPTY
    case 'Character':
      return { whole: [foldedOf(element.value)] }
    case 'CharacterSet':
      return element.kind === 'digit' && !element.negate ? { whole: [...'0123456789'] } : UNKNOWN
    case 'CharacterClass':
      return ofClass(element)
    case 'Group':
    case 'CapturingGroup':
      return ofAny(element.alternatives)
    case 'Quantifier':
      return ofRepeated(element)
    default:
      return UNKNOWN
  }
}

function ofClass({ negate, elements }: AST.CharacterClass): Known {
  const codes = elements.flatMap((element) => {
    if (element.type === 'Character') return [element.value]
    if (element.type !== 'CharacterClassRange') return Number.NaN
    const { min, max } = element
    return max.value - min.value < WIDEST_CLASS
      ? Array.from({ length: max.value - min.value + 1 }, (_, i) => min.value + i)
      : Number.NaN
  })
  if (negate || codes.length > WIDEST_CLASS || codes.some(Number.isNaN)) return UNKNOWN
  return { whole: [...new Set(codes.map(foldedOf))] }
}

function ofRepeated({ element, min, max }: AST.Quantifier): Known {
  const known = ofElement(element as AST.Element)
  if (min === 1 && max === 1) return known
  if (min === 0) return max === 1 && known.whole ? { whole: [...new Set(['', ...known.whole])] } : UNKNOWN
  const within = literalsIn(known)
  return within ? { within } : UNKNOWN
}
