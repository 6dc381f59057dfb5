/** Writes a request body of about `bytes` bytes. */
export type StallShape = (bytes: number) => Buffer

/** Bodies that are as demanding for a proxy as their size allows, each in a different way. */
export const stallShapes: Readonly<Record<string, StallShape>> = {
  'tiny messages': (bytes) => chat(repeat('{"role":"user","content":"h"}', bytes)),
  'text parts': (bytes) => userContent(repeat('{"type":"text","text":"h"}', bytes)),
  'documents in one text': (bytes) => user(`${documents(bytes)}\n\nQuestion: which of them?`),
  'known documents, a message each': (bytes) =>
    chat(repeat((i) => JSON.stringify({ role: 'user', content: documents(4_000, i) }), bytes)),
  'a question about two documents in each message': (bytes) =>
    chat(
      repeat((i) => JSON.stringify({ role: 'user', content: `${labelled(i)}\n\nQuestion: why is it ${i}?` }), bytes),
    ),
  'documents, a part each': (bytes) => userContent(repeat((i) => part(documents(300, i)), bytes)),
  'blocks beside the messages': (bytes) =>
    Buffer.from(
      `{"model":"m","messages":[{"role":"user","content":"{{context}} Which?"}],"reprise":{"blocks":[${repeat((i) => `{"text":"${paragraph(i, 250)}"}`, bytes)}]}}`,
    ),
  tools: (bytes) => withMember('tools', `[${repeat((i) => tool(i), bytes)}]`),
  nesting: (bytes) => withMember('metadata', '['.repeat(bytes / 2) + ']'.repeat(bytes / 2)),
  'numbered labels': (bytes) => user(repeat((i) => `[${i + 1}] a fact about things\n\n`, bytes, '')),
  'unclosed tags': (bytes) => user('<document index="1">'.repeat(bytes / 24)),
  'JSON results': (bytes) => user(`[${repeat((i) => `{"content":"text number ${i}","id":${i}}`, bytes)}]`),
  'one long line': (bytes) => user('word '.repeat(bytes / 5)),
  'many short lines': (bytes) => user('word\n'.repeat(bytes / 6)),
  'members of the body': (bytes) => withMember('m', `0,${repeat((i) => `"m${i}":${i}`, bytes)}`),
  'rules between lines': (bytes) => user('---\ntext\n'.repeat(bytes / 11)),
  'records of two fields': (bytes) => user(repeat((i) => `Source: a${i}\nContent: b ${i}\n\n`, bytes, '')),
  'token ids': (bytes) => Buffer.from(`{"model":"m","prompt":[${repeat((i) => String(i % 50_000), bytes)}]}`),
}

/** Returns the path that bodies of this shape are sent to. */
export function pathOf(shape: string): string {
  return shape === 'token ids' ? '/v1/completions' : '/v1/chat/completions'
}

const question = { role: 'user', content: 'Which of them?' }

function chat(messages: string): Buffer {
  return Buffer.from(`{"model":"m","messages":[${messages}]}`)
}

function user(text: string): Buffer {
  return chat(JSON.stringify({ role: 'user', content: text }))
}

function userContent(parts: string): Buffer {
  return chat(`{"role":"user","content":[${parts}]}`)
}

function part(text: string): string {
  return JSON.stringify({ type: 'text', text })
}

function withMember(name: string, json: string): Buffer {
  return Buffer.from(`{"model":"m","messages":[${JSON.stringify(question)}],"${name}":${json}}`)
}

function tool(place: number): string {
  const properties = { city: { type: 'string', description: 'where' } }
  return JSON.stringify({
    type: 'function',
    function: { name: `tool_${place}`, description: 'Does a thing.', parameters: { type: 'object', properties } },
  })
}

/** Returns distinct documents of at most about 14 KB each. */
function documents(bytes: number, seed = 0): string {
  const size = Math.min(14_000, bytes / 2)
  return repeat((i) => `<document index="${i + 1}">\n${paragraph(seed * 1_000 + i, size)}\n</document>`, bytes, '\n')
}

/** Returns two short documents with labels. */
function labelled(seed: number): string {
  return `Use these documents:\n[1] ${paragraph(2 * seed, 60)}\n[2] ${paragraph(2 * seed + 1, 60)}`
}

function paragraph(seed: number, bytes: number): string {
  return repeat(
    (i) => `Fact ${seed}.${i}: the archive holds ${(seed * 7919 + i * 104729) % 99991} letters.`,
    bytes,
    ' ',
  )
}

/** Joins items until the result is about `bytes` long. */
function repeat(item: string | ((place: number) => string), bytes: number, separator = ','): string {
  const items: string[] = []
  for (let [length, i] = [0, 0]; length < bytes; i++) {
    const next = typeof item === 'string' ? item : item(i)
    items.push(next)
    length += next.length + separator.length
  }
  return items.join(separator)
}
