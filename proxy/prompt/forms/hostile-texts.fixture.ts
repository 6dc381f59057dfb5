const fill = (part: string) => (size: number) => part.repeat(Math.ceil(size / part.length))
const numbered = (size: number) =>
  Array.from({ length: size / 90 }, (_, i) => `{"id":${i},"content":"${'x'.repeat(60)}"}`)

const members = (size: number): string => Array.from({ length: size / 11 }, (_, i) => `"k${i}":1`).join(',')

/** Texts that are all marks and no list, or lists without end, of about `size` characters. */
export const hostileTexts: Readonly<Record<string, (size: number) => string>> = {
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
  'one object of many members': (size) => `[{${members(size)}}]`,
  'results of many members': (size) => `[${`{${members(1_000)}},`.repeat(Math.ceil(size / 800))}{"a":1}]`,
  'elements of our kin': fill('<document>aaaaaaaaaaaaaaaaaaaaaaa</document>\n'),
  'records of lines': fill('file_path: a.md\n\nb\nc\n\nd\n\n'),
  'quoted lists': fill('"""\n[1] a\n[2] b\n"""\n\nQuestion: x\n\n'),
  'lists with paragraphs behind': fill('[1] a\n[2] b\n\nc\n\nd\n\nQuestion: x\n\n'),
  'headings in front of lists': (size) =>
    fill('# a\n\n')(size / 2) + fill('[1] a\n\n[2] b\n\nQuestion: x\n\n')(Math.min(size / 2, 60_000)),
  'closing lines': (size) => `[1] a\n[2] b\n${fill('[/CODE]\n')(size)}`,
  'blocks closed by other numbers': fill('[1]\na\n[END 1]\n[2]\nb\n[END 1]\n'),
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
