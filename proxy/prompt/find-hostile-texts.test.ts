import { describe, expect, it } from 'vitest'
import { findContextLists } from './find-context-lists.ts'

const fill = (part: string) => (size: number) => part.repeat(Math.ceil(size / part.length))
const numbered = (size: number) =>
  Array.from({ length: size / 90 }, (_, i) => `{"id":${i},"content":"${'x'.repeat(60)}"}`)

const families: Record<string, (size: number) => string> = {
  brackets: fill('['),
  'brackets in lines': fill('[\n'),
  'tag openers': fill('<'),
  'unclosed tags in lines': fill('<document>\n'),
  'containers without a rule': fill('<docs>x</docs>\n'),
  'containers with lists and rules': fill('<docs>\n- a\n- b\n---\nx\n---\n</docs>\n'),
  rules: fill('a\n\n---\n\n'),
  'announced rules': (size) => `Documents:\n${fill('a\n\n---\n\n')(size)}Question: x`,
  underlines: fill('a.\n===\n'),
  'opened objects': fill('{"'),
  'opened objects in lines': fill('{"\n'),
  'nested objects': fill('{"a":'),
  'nested objects in lines': fill('{"a":\n'),
  'arrays that break off': fill('[{"a":1},\n'),
  'a string that never closes': (size) => `["${fill('a')(size)}`,
  backslashes: (size) => `["${fill('\\')(size)}`,
  'one array of results': (size) => `[${numbered(size).join(',')}]`,
  'arrays of results': fill('[{"content":"aaaaaaaaaaaaaaaaaaaaaaaa"},{"content":"bbbbbbbbbbbbbbbbbbbbbbbb"}]\n'),
  'announced arrays': fill('context: [\n'),
  bullets: fill('- a\n'),
  memories: (size) => `User Memories:\n${fill('- a\n')(size)}`,
  'memories after memories': fill('Memories:\n- a\n- b\n\n'),
  'memories of Mem0': (size) => `- Relevant Memories/Facts: ${fill('a\n')(size)}`,
  'fields of records': fill('title: a\nsource: b\nurl: c\n'),
  records: fill('Source: x\nContent: y\n\n'),
  'records between fences': (size) => `-----\n${fill('file_path: a\n\nb\n\n')(size)}-----\n`,
  headings: fill('### Document\nx\n\n'),
  'repeated labels': fill('[1] x\n'),
  'a long line': fill('word '),
  'blank lines': fill('\n'),
  'fences over JSON': fill('```\n[{"'),
}

function timeOf(text: string): number {
  const started = performance.now()
  findContextLists(text)
  return performance.now() - started
}

describe('a hostile text', () => {
  // on an idle core each takes less than 0.2 s for 5 MB; the bounds only tell linear from worse on a busy one
  it.each(Object.entries(families))('of %s costs time in proportion to its length', (_, write) => {
    const [half, whole] = [write(2_000_000), write(4_000_000)]
    const shortest = Math.min(timeOf(half), timeOf(half))
    const longest = Math.min(timeOf(whole), timeOf(whole))
    expect(longest).toBeLessThan(3 * shortest + 250)
    expect(longest).toBeLessThan(2_000)
  })
})
