import { expect, test } from 'vitest'
import { cutLinks } from './cut-links.ts'

const isPacked = (path: string): boolean => path === 'docs/other.md'

test.each([
  ['[other](other.md#part)', '[other](other.md#part)'],
  ['[the `kernels`](../kernels/README.md)', 'the `kernels` (`kernels/README.md`)'],
  ['[out](https://example.com), [up](#up)', '[out](https://example.com), [up](#up)'],
  ['![a picture](plots/picture.svg)', '![a picture](plots/picture.svg)'],
  ['[![a badge](badge.svg)](https://example.com)', '[![a badge](badge.svg)](https://example.com)'],
  ['write `[title](path.md)` so', 'write `[title](path.md)` so'],
  ['```md\n[title](path.md)\n```\n\n[cut](path.md)', '```md\n[title](path.md)\n```\n\ncut (`docs/path.md`)'],
])('links in %j', (text, cut) => {
  expect(cutLinks(text, 'docs/page.md', isPacked)).toBe(cut)
})
