import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { DemoError } from './demo-error.ts'
import type { ContextBlock, Turn, Workload } from './workload.ts'

const REQUEST_FILES = ['queries.jsonl', 'turns.jsonl', 'questions.jsonl']
const NO_QUESTION = 'What do these documents say? Give a summary.'

interface Line {
  readonly where: string
  readonly fields: Readonly<Record<string, unknown>>
}

/** Reads a trace folder: its requests in the order of arrival, each with the texts of its blocks. */
export async function readTrace(folder: string): Promise<Workload> {
  if (!existsSync(folder)) throw new DemoError(`the trace folder ${folder} does not exist`, 2)
  const blocks = new Map<string, ContextBlock>()
  for (const line of await readLines(findFile(folder, ['blocks.jsonl']))) addBlock(blocks, line)
  const lines = await readLines(findFile(folder, REQUEST_FILES))
  const arrivals = lines.map((line, at) => ({ turn: readTurn(line, blocks), arrival: readArrival(line) ?? at }))
  arrivals.sort((a, b) => a.arrival - b.arrival)
  return { name: basename(resolve(folder)), turns: arrivals.map(({ turn }) => turn) }
}

function findFile(folder: string, names: readonly string[]): string {
  const found = names.flatMap((name) => [name, `${name}.gz`]).find((name) => existsSync(join(folder, name)))
  if (found === undefined) {
    throw new DemoError(`the trace folder ${folder} has no ${names.join(' or ')} (with or without .gz)`, 2)
  }
  return join(folder, found)
}

async function readLines(file: string): Promise<Line[]> {
  const bytes = await readFile(file)
  const text = (file.endsWith('.gz') ? await unpack(file, bytes) : bytes).toString('utf8')
  const lines: Line[] = []
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() !== '') lines.push(toLine(`${file}:${at + 1}`, line))
  }
  if (lines.length === 0) throw new DemoError(`${file} is empty`)
  return lines
}

async function unpack(file: string, bytes: Buffer): Promise<Buffer> {
  return promisify(gunzip)(bytes).catch((cause: Error) => {
    throw new DemoError(`${file} is no gzip file: ${cause.message}`)
  })
}

function toLine(where: string, text: string): Line {
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch {
    throw new DemoError(`${where}: not a line of JSON`)
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw new DemoError(`${where}: a JSON object is expected`)
  }
  return { where, fields: fields as Record<string, unknown> }
}

function addBlock(blocks: Map<string, ContextBlock>, { where, fields }: Line): void {
  const { id, text, tokens } = fields
  if (typeof id !== 'string') throw new DemoError(`${where}: a block needs an "id", a string`)
  if (typeof text !== 'string') {
    const why = tokens === undefined ? 'has no "text"' : 'has "tokens" only; the demo sends texts'
    throw new DemoError(`${where}: block ${id} ${why}`)
  }
  blocks.set(id, { id, text })
}

function readTurn({ where, fields }: Line, blocks: ReadonlyMap<string, ContextBlock>): Turn {
  const ids = fields.blocks
  if (!Array.isArray(ids)) throw new DemoError(`${where}: "blocks", a list of block ids, is missing`)
  const found = ids.map((id: unknown) => {
    const block = typeof id === 'string' ? blocks.get(id) : undefined
    if (!block) throw new DemoError(`${where}: block ${JSON.stringify(id)} is not in the trace's blocks file`)
    return block
  })
  return {
    id: readText(where, fields, 'query_id') ?? where,
    conversation: readText(where, fields, 'conversation'),
    tenant: readText(where, fields, 'tenant'),
    question: readText(where, fields, 'query') ?? readText(where, fields, 'question') ?? NO_QUESTION,
    blocks: found,
  }
}

function readArrival({ where, fields }: Line): number | undefined {
  const { arrival } = fields
  if (arrival === undefined || typeof arrival === 'number') return arrival
  throw new DemoError(`${where}: "arrival" is not a number`)
}

function readText(where: string, fields: Line['fields'], name: string): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null || typeof value === 'string') return value ?? undefined
  throw new DemoError(`${where}: "${name}" is not a string`)
}
