import { type AST, RegExpParser } from '@eslint-community/regexpp'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { fold, literalsOf } from './literals-of.ts'
import { WordPattern } from './word-pattern.ts'

const { patterns } = vi.hoisted(() => ({ patterns: [] as RegExp[] }))

vi.mock('./word-pattern.ts', async (original) => {
  const real = await original<typeof import('./word-pattern.ts')>()
  class RecordedPattern extends real.WordPattern {
    constructor(pattern: RegExp | readonly string[], flags?: string) {
      super(pattern, flags)
      patterns.push(pattern instanceof RegExp ? pattern : new RegExp(pattern.join('|'), flags))
    }
  }
  return { ...real, WordPattern: RecordedPattern }
})

type Pick = (below: number) => number

const LETTERS = ['e', 'N', 'ß', 'é', 'ж', 'Σ', 'の', '文']

/** Writes a text that a pattern matches, unless one of its assertions forbids it. */
function write(node: AST.Node, pick: Pick): string {
  switch (node.type) {
    case 'Pattern':
    case 'Group':
    case 'CapturingGroup':
      return write(node.alternatives[pick(node.alternatives.length)]!, pick)
    case 'Alternative':
      return node.elements.map((element) => write(element, pick)).join('')
    case 'Quantifier': {
      const count = node.min + pick(Math.min(node.max - node.min, 2) + 1)
      return Array.from({ length: count }, () => write(node.element, pick)).join('')
    }
    case 'Character':
      return String.fromCodePoint(node.value)
    case 'CharacterSet':
      if (node.kind === 'digit') return String(pick(10))
      return node.kind === 'space' ? ' ' : LETTERS[pick(LETTERS.length)]!
    case 'CharacterClass':
      return node.negate ? LETTERS[pick(LETTERS.length)]! : write(node.elements[pick(node.elements.length)]!, pick)
    case 'CharacterClassRange':
      return String.fromCodePoint(node.min.value + pick(node.max.value - node.min.value + 1))
    default:
      return ''
  }
}

const recased = (text: string, pick: Pick): string =>
  [...text].map((letter) => [letter, letter.toUpperCase(), letter.toLowerCase()][pick(3)]).join('')

test('every text that a pattern of the product matches contains one of its literals', { timeout: 60_000 }, async () => {
  vi.resetModules()
  const { readWords } = await import('../../places/read-words.ts')
  expect(readWords('Which of them?', 'message').isWhich).toBe(false)
  const of = new Map(patterns.map((pattern) => [pattern, literalsOf(pattern)] as const))
  expect(of.size).toBeGreaterThan(40)
  expect([...of].filter(([, literals]) => literals === undefined)).toEqual([])
  for (const [pattern, literals] of of) {
    const ast = new RegExpParser().parsePattern(pattern.source, 0, pattern.source.length, {
      unicode: pattern.flags.includes('u'),
    })
    const match = new RegExp(pattern.source, pattern.flags.replace('g', ''))
    const word = new WordPattern(match)
    let matched = 0
    fc.assert(
      fc.property(fc.gen(), (g) => {
        const pick: Pick = (below) => g(fc.nat, below - 1)
        const written = write(ast, pick)
        const text = pattern.ignoreCase ? recased(written, pick) : written
        if (!match.test(text)) return
        matched += 1
        expect(literals!.some((literal) => fold(text).includes(literal))).toBe(true)
        expect(word.test(text)).toBe(true)
      }),
      { numRuns: 100 },
    )
    expect(matched, pattern.source).toBeGreaterThan(3)
  }
})

test('texts are folded like their parts, and what ignores case is folded to the same', () => {
  const letters = [...'ßẞſsKkÅåΣσςµμϐβİiıIᲀвЖж文é']
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...letters)), fc.array(fc.constantFrom(...letters)), (one, other) => {
      expect(fold([...one, ...other].join(''))).toBe(fold(one.join('')) + fold(other.join('')))
    }),
  )
  for (const one of letters) {
    for (const other of letters) if (new RegExp(`^${one}$`, 'iu').test(other)) expect(fold(one)).toBe(fold(other))
  }
})

test('on a long text every pattern is tried', () => {
  const text = `${'the '.repeat(10_000)}document`
  expect(new WordPattern(/docum(?=ent$)/u).test(text)).toBe(true)
  expect(new WordPattern(/docum(?=ent$)/u).test(text.slice(0, -1))).toBe(false)
})

test('a pattern without literals is always tried', () => {
  expect(new WordPattern(/^\p{Lu}\s/u).test('A house')).toBe(true)
  expect([...new WordPattern(/\p{L}+/gu).matches('two words')].map(String)).toEqual(['two', 'words'])
})
