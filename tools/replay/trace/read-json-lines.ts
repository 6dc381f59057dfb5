import { readFile } from 'node:fs/promises'
import { isObject, tryJson } from '#engine-adapters/json-object.ts'
import { ConfigError } from '#proxy/common/errors.ts'
import { byteLines } from '../../byte-lines.ts'
import { unpackMembers } from './unpack-members.ts'

/** A line of a JSONL file, with its location for messages. */
export interface Line {
  readonly where: string
  /** its number in the file, from 1 */
  readonly number: number
  readonly fields: Readonly<Record<string, unknown>>
}

/** The lines of a file, and how much of it could not be read. */
interface JsonLines {
  readonly lines: readonly Line[]
  /** how many of the file's bytes are left out because they are cut or damaged */
  readonly lost: number
  /** in bytes */
  readonly size: number
}

/**
 * Reads a file with a JSON object per line, gzipped if its name ends in `.gz`. Of a gzipped file, only complete members
 * are read. Skips blank lines.
 */
export async function readJsonLines(file: string): Promise<JsonLines> {
  const packed = await readFile(file).catch((cause: Error) => {
    throw new ConfigError(`cannot read ${file}: ${cause.message}`)
  })
  const { bytes, lost } = file.endsWith('.gz') ? unpackMembers(packed) : { bytes: packed, lost: 0 }
  if (lost > 0 && lost === packed.length) {
    throw new ConfigError(`${file} is no gzip file, or nothing of it can be read`)
  }
  const lines: Line[] = []
  // decoded one by one: all together may be longer than a string can be
  for (const { number, bytes: line } of byteLines(file, [bytes])) {
    // a byte order mark is not content
    const text = line.toString().replace(/^\uFEFF/, '')
    if (text.trim() !== '') lines.push(toLine(file, number, text))
  }
  return { lines, lost, size: packed.length }
}

function toLine(file: string, number: number, text: string): Line {
  const where = `${file}:${number}`
  const fields = tryJson(text)
  if (fields === undefined) throw new ConfigError(`${where}: not a line of JSON`)
  if (!isObject(fields)) throw new ConfigError(`${where}: a JSON object is expected`)
  return { where, number, fields }
}
