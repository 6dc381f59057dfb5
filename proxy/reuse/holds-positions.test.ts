import { describe, expect, it } from 'vitest'
import { type Message, Sender } from '../request/sender.fixture.ts'
import { holdsPositions } from './holds-positions.ts'

const prose = Array.from({ length: 30 }, (_, i) => `In year ${i} the harbour of the town was rebuilt, and ships came.`)
const code = Array.from({ length: 30 }, (_, i) => `  const harbour${i} = rebuild(town, { year: ${i}, ships: [] })`)
const settings = Array.from({ length: 30 }, (_, i) => `harbour_${i}: of the town, rebuilt in the year ${i}`)

const isCounted = (text: string): boolean =>
  holdsPositions(text, { text: 0, start: 0, end: text.length, content: { start: 0, end: text.length } })

describe('lines are counted', () => {
  it.each([
    ['code', code.join('\n')],
    ['Python', 'import os\n\ndef main():\n    for a in b:\n        print(a)\n    return a'],
    ['a listing', prose.map((line, i) => `${String(i + 1).padStart(4)} | ${line}`).join('\n')],
    ['a patch', `@@ -1,3 +1,3 @@\n${prose.join('\n')}`],
    ['a file below its path', `src/town.yaml\n${settings.join('\n')}`],
    ['a file in a tag', `<file path="Dockerfile">${settings.join('\n')}</file>`],
  ])('in %s', (_, text) => expect(isCounted(text)).toBe(true))

  it.each([
    ['prose', prose.join('\n')],
    ['Markdown', `# Town\n\n* The harbour\n* Ships\n\n${prose.join('\n\n')}`],
    ['prose from a page', `Source: https://a.example/town.pdf\n${prose.join('\n')}`],
    ['prose that names a file', `${prose.join('\n')}\nSee src/town.ts for more.`],
  ])('but not in %s', (_, text) => expect(isCounted(text)).toBe(false))
})

describe('equal lines of two texts', () => {
  const tool = (id: string, name: string): Message =>
    ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
    }) as never
  const said = (id: string, content: string): Message => ({ role: 'tool', tool_call_id: id, content }) as never
  const send = (name: string, lines: readonly string[]): string => {
    const other = `${lines.join('\n')}\nand one more line of its own`
    const messages = [
      { role: 'user', content: 'Go on.' },
      tool('a', name),
      said('a', `${lines.join('\n')}\nand this is the end of it`),
      tool('b', name),
      said('b', other),
    ]
    return JSON.stringify(new Sender().send(messages as Message[], { options: { overlaps: true } })[4])
  }

  it('are told once where they are prose that was searched for', () => {
    expect(send('search_docs', prose)).toContain('Please refer to')
  })
  it.each([
    ['code', 'search_code', code],
    ['a file that was read', 'read_file', prose],
    ['what a command printed', 'run_command', prose],
  ])('stand twice in %s', (_, name, lines) => expect(send(name, lines)).not.toContain('Please refer to'))
})
