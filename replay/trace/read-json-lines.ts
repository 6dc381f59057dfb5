import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { ReplayError } from '../replay-error.ts'

/** A line of a JSONL file, with its location for messages. */
export interface Line {
  readonly where: string
  /** its number in the file, from 1 */
  readonly number: number
  readonly fields: Readonly<Record<string, unknown>>
}

/** Reads a file with a JSON object per line, gzipped if its name ends in `.gz`. Skips blank lines. */
export async function readJsonLines(file: string): Promise<Line[]> {
  const text = await readText(file)
  const lines: Line[] = []
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() !== '') lines.push(toLine(file, at + 1, line))
  }
  return lines
}

async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch((cause: Error) => {
    throw new ReplayError(`cannot read ${file}: ${cause.message}`)
  })
  // it also drops a byte order mark
  const decoder = new TextDecoder()
  if (!file.endsWith('.gz')) return decoder.decode(bytes)
  const unpacked = await promisify(gunzip)(bytes).catch((cause: Error) => {
    throw new ReplayError(`${file} is no gzip file: ${cause.message}`)
  })
  return decoder.decode(unpacked)
}

function toLine(file: string, number: number, text: string): Line {
  const where = `${file}:${number}`
  let fields: unknown
  try {
    fields = JSON.parse(text)
  } catch {
    throw new ReplayError(`${where}: not a line of JSON`)
  }
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) {
    throw new ReplayError(`${where}: a JSON object is expected`)
  }
  return { where, number, fields: fields as Record<string, unknown> }
}
