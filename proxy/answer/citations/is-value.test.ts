import { expect, test } from 'vitest'
import { CitationLabels } from './citation-labels.ts'
import { PieceMapper } from './piece-mapper.fixture.ts'

const labels = new CitationLabels([
  {
    prefix: '',
    labels: new Map([
      ['1', '2'],
      ['2', '3'],
      ['3', '4'],
      ['4', '1'],
    ]),
  },
])

function mapAll(pieces: readonly string[]): string {
  const mapper = new PieceMapper(labels)
  return pieces.map((piece) => mapper.push(piece)).join('') + mapper.flush()
}

function mapped(text: string): string {
  return text.replace(/[1-4](?=[^[]*\])/g, (label) => String((Number(label) % 4) + 1))
}

test.each([
  'The vector [1, 2] has length 2.24.',
  'The vector v [1, 2] has length 2.24.',
  'The array [1, 2, 3] sums to 6.',
  'The array [1] has one element.',
  'It is in the range [1, 4].',
  'range [1, 4]',
  'The interval is [1, 4], closed.',
  'The scores are [1, 2].',
  '**Scores:** [1, 2]',
  'The shape is now: [3, 2]',
  'A list of [1, 2], [3, 4] and more',
  'It returns [1].',
  'the point [1, 2] lies on it',
  'with k between [1, 4]',
  'we get [1, 2] back',
  'ids: [1, 2]\nscores: [3]',
  '- ids: [1, 2]',
  'x = [1]\ny = [2]\n',
  'x=[1]; y += [2]',
  'x => [1]',
  'def f():\n    return [1]\n',
  'for x in [1, 2]: print(x)',
  'sum([1, 2]) and f(x, [1])',
  '{a: [1, 2], b: [3]}',
  'Use items[1] to get it.',
  'Use items[1].',
  'rows[0][1] is the cell',
  '[1, 2] + [3, 4] = [4, 1]',
  'Add [1] + [2].',
  'x ∈ [1, 2] and $y \\in [1, 2]$',
  '$\\mathbf{x}[1]$ and {x}[2]',
  '[1]^T',
  'benzo[1]thiophene',
  'The matrix is [[1,2],[3,4]].',
])('data stays: %j', (text) => {
  expect(mapAll([text])).toBe(text)
  expect(mapAll(text.split(''))).toBe(text)
})

test.each([
  'Rain falls in Paris [1].',
  'Rain falls [1, 2].',
  'Rain [1][3] and snow [2] fall.',
  'so it rains[1].',
  'It rains[1], and snows[2]; so it is (GDP)[3].',
  'According to [2], it rains.',
  '[3] says so. [1] and [2] do too.',
  '[1, 2] say so.',
  'It rains [1, 2] while it does not snow [3, 4].',
  'As reported in [1, 2] it rains.',
  'note: [1] has it',
  'Several studies [1, 2] show it.',
  'As [1, 2] show, and as the sources [3, 4] say',
  'Sources: [1, 2]',
  '**Sources:** [1], [2]',
  'sources: [1, 2]',
  '- [1] A title\n- [2] Another',
  '* [1] A title',
  '[1] - A title\n[2] – Another',
  '[1]: A title',
  '[4] > [1] > [2]',
  'a wide range of rain [1, 2]',
  'the list of the rains [1].',
  'It rains **[1]** and "snows" [2]',
  'It costs $5 [1] or $6 [2].',
  "[1]'s rain, as (see [2]) and [3]–[4]",
  'rain [[1]].',
  '_It rains [1]_ and __snows [2]__.',
  'In C++ [1] it rains.',
  'Paris[1] is rainy[2] in 2019[3] too',
  'The rain falls. [1]\nThe snow [2]\n\nThe hail [3]',
  '雨[1]，雪 [2]。',
])('citations are mapped: %j', (text) => {
  expect(mapAll([text])).toBe(mapped(text))
  expect(mapAll(text.split(''))).toBe(mapped(text))
})
