import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { foldCase, requiredBy, requiredByEach } from './required-literals.ts'
import { WordPattern } from './word-pattern.ts'

describe('texts that every match holds', () => {
  test.each([
    [
      '(?<!\\p{L})the (?:first|second) documents?(?!\\p{L})',
      'u',
      ['the first document', 'the first documents', 'the second document', 'the second documents'],
    ],
    ['cit(?:e|ing)\\b.*end', 'i', ['cite', 'citing']],
    ['\\p{L}+ in order', 'u', [' in order']],
    ['a[bc]d', '', ['abd', 'acd']],
    [
      '№ ?\\d',
      'u',
      [
        '№ 0',
        '№ 1',
        '№ 2',
        '№ 3',
        '№ 4',
        '№ 5',
        '№ 6',
        '№ 7',
        '№ 8',
        '№ 9',
        '№0',
        '№1',
        '№2',
        '№3',
        '№4',
        '№5',
        '№6',
        '№7',
        '№8',
        '№9',
      ],
    ],
    ['(?:first ){2}', 'u', ['first ']],
    ['JSON|Σίσυφος', 'iu', ['json', 'σίσυφοσ']],
    ['(?:x)?', 'u', undefined],
    ['\\p{L}{3}', 'u', undefined],
    ['[^a]|b', 'u', undefined],
  ] as const)('of /%s/%s', (source, flags, literals) => {
    const { literals: found } = requiredBy(source, flags)
    expect(found && [...found].sort()).toEqual(literals && [...literals].sort())
  })
})

test('alternatives are those of the outermost level and those between look-arounds', () => {
  const sourcesOf = (source: string): string[] => requiredByEach(source, 'u').map((own) => own.source)
  expect(sourcesOf('a(?:b|c)|d[|]|e\\|')).toEqual(['a(?:b|c)', 'd[|]', 'e\\|'])
  expect(sourcesOf('(?<!x)(?:a|b c)(?!y)$')).toEqual(['(?<!x)(?:a)(?!y)$', '(?<!x)(?:b c)(?!y)$'])
})

test('texts are folded as expressions compare them', () => {
  expect(foldCase('ΤΈΛΟΣ Straße ſo')).toBe('τέλοσ straße so')
})

const expressions = [
  /(?<!\p{L})(?:the|our) (?:first|last) (?:document|source)s?(?!\p{L})|\bin order\b|第[一二]/iu,
  /\[ ?(\d{1,4}) ?\]/gu,
  /(?<!\p{L})(?:compare|contrast) (\d{1,2}) (?:and|or) \d|#(\d)(?!\w)/giu,
  /(?:später|älter)e[nrsm]? (?:\p{L}+ ){0,2}gilt|reihenfolge/iu,
  /x?y*|never here/u,
  /our last|in order/iu,
  /(?<!\p{L})(?:last|1 and|ſ)(?= )/iu,
  /the first source|in order(?!ed)/u,
]
const word = fc.constantFrom(
  ...[
    'the',
    'our',
    'first',
    'last',
    'LAST',
    'document',
    'sources',
    'in order',
    'in ordered',
    '第一',
    '第三',
    '[1]',
    '[ 22 ]',
  ],
  ...[
    'compare 1 and 2',
    'Contrast 3 or 4',
    '#5',
    '#5a',
    'spätere',
    'ältere',
    'Regel gilt',
    'REIHENFOLGE',
    'never here',
    'ſ',
  ],
)

test('a pattern finds what its expression finds, in texts that come in any order', () => {
  const patterns = expressions.map((expression) => [new WordPattern(expression), expression] as const)
  fc.assert(
    fc.property(fc.array(fc.array(word, { maxLength: 6 }), { maxLength: 4 }), (texts) => {
      for (const text of texts.map((words) => words.join(' '))) {
        for (const [pattern, expression] of patterns) {
          const all = [...text.matchAll(new RegExp(expression, expression.flags.replace('g', '').concat('g')))]
          expect(pattern.test(text)).toBe(all.length > 0)
          expect([...pattern.matches(text)]).toEqual(all)
          expect(pattern.replace(text, (match) => '_'.repeat(match.length))).toBe(
            all.reduceRight(
              (rest, { 0: match, index }) =>
                rest.slice(0, index) + '_'.repeat(match.length) + rest.slice(index + match.length),
              text,
            ),
          )
        }
      }
    }),
    { numRuns: 500 },
  )
})
