import { expect, test } from 'vitest'
import { isMappedForm } from './mapped-forms.ts'

const mapped = [
  ...[
    '[1]',
    '[X]',
    '[n]',
    '[1, 3]',
    '[1][2]',
    '[1, 2, ...]',
    '[{index}]',
    '[number]',
    '[id]',
    '【1】',
    '【1†source】',
    '[^1]',
  ],
  ...['[^index^]', '[citation:X]', '[[citation:1]]', '[Sources: 1, 3]', '[Source 1]', '(Source 1)', 'Sources: 1, 3'],
  ...[
    '[Document X]',
    'Document 1',
    '(Doc n)',
    '[doc_1]',
    '[doc_id]',
    '[ID:i]',
    'Source ID: 3',
    '<cite>1</cite>',
    '[n](url)',
  ],
  ...['[1-3]', '[source: X]', '[ref 1]', '**[1]**', '<co: 1>rain</co: 1>', '\\[1\\]', '[Data: Sources (1, 2)]'],
]

test.each(mapped)('%j is mapped', (specimen) => {
  expect(isMappedForm(specimen, { prefix: '' })).toBe(true)
})

const unmapped = [
  ...[
    '{X}',
    '<<1>>',
    '##X$$',
    '(A)',
    'as a list',
    '(1)',
    '1.',
    'X',
    '^1^',
    '{"sources": [1]}',
    '`[1]`',
    '[A1]',
    'Result: 1',
  ],
  ...['¹', '[1.2]', '[D1]', '4'],
]

test.each(unmapped)('%j is not mapped', (specimen) => {
  expect(isMappedForm(specimen, { prefix: '' })).toBe(false)
})

test.each([
  ['(1)', { prefix: '', isInParentheses: true }],
  ['[D1]', { prefix: 'D' }],
  ['Exhibit 3', { prefix: 'Exhibit ' }],
  ['Result: 3', { prefix: '', tag: 'result' }],
])('%j is mapped for lists whose labels are written so', (specimen, form) => {
  expect(isMappedForm(specimen, form)).toBe(true)
})
