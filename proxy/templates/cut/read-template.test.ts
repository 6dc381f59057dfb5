import { expect, test } from 'vitest'
import { readTemplate, type TemplateText } from './read-template.ts'

function faultsOf(text: TemplateText): string[] {
  const read = readTemplate(text)
  return 'head' in read ? [] : read.map(({ key, reason }) => `${key} ${reason}`)
}

test.each<[TemplateText, string[]]>([
  [{ block: '[{n}] {block}', join: '\n\n', after: 'Question:' }, []],
  [{ block: '<doc>{block}</doc>' }, []],
  [{ block: '{"id": {n}, "text": "{block}"}', join: ', ', before: '[', after: ']' }, []],
  [{ block: '{block}', join: '\n---\n', before: '{start}', after: '{end}' }, []],
  [{ block: '#### {any}\n{block}\n\n', after: 'Question:' }, ['block has no border']],
  [{ block: '# {any}\n{block}' }, ['block has no border', 'after is needed, since nothing ends the last block']],
  [{ block: '{block}', join: '\n\n', before: 'Context:', after: 'Question:' }, ['block has no border']],
  [{ block: '{block}', join: '\n---\n', after: '{end}' }, ['before is needed, since nothing begins a block']],
  [{ block: '{block}', before: '{start}', after: '{end}' }, ['block has no border']],
  [{ block: '{n}. {block}', join: '\n', after: '{end}' }, ['before is needed and has to begin with words']],
  [{ block: '{n}. {block}', join: '\n', before: '{any}:', after: '{end}' }, ['before is needed and has to begin']],
  [{ block: '[{n}] {block} [{n}]', after: '{end}' }, ['block may contain {n} once']],
  [{ block: '{block} [{n}]', before: 'Use ', after: '{end}' }, ['block may contain {n} once', 'block has no border']],
  [{ block: 'Text {any}{block}', after: '{end}' }, ['block needs words between']],
  [{ block: '{block}<hr>', before: 'Name {any}', after: '{end}' }, ['block needs words between']],
  [{ block: '## {any} ({n})\n{block}', after: '{end}' }, ['block has to contain {n} in front of {any}']],
  [{ block: '[{n}] {block}', after: '\n\n' }, ['after may not be white space alone']],
  [{ block: '[{i}] {text}' }, ['block {i} cannot be there', 'block {text} cannot be there', 'block has to contain']],
  [
    { block: '{block}{block}', before: '{n}', after: '{start}', join: '{any}' },
    [
      'join {any} cannot be there: write words',
      'before {n} cannot be there: write {any}',
      'after {start} cannot be there: write {any}',
      'block has to contain {block} once',
    ],
  ],
])('a template is read, or it is said what is wrong with it: %o', (text, expected) => {
  const faults = faultsOf(text)
  expect(faults).toHaveLength(expected.length)
  for (const [i, beginning] of expected.entries()) expect(faults[i]).toContain(beginning)
})
