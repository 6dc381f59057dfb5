import { tryJson } from '#engine-adapters/json-object.ts'
import { ProxyError } from '../../common/errors.ts'
import type { Span } from '../../common/json/json-spans.ts'
import type { HeavyTurns } from '../bounds/event-loop.ts'
import { scanBody } from '../bounds/scan-body.ts'
import { spliceBytes } from '../bounds/whole-body.ts'

interface ModelName {
  readonly name: string
  /** Returns the body with another model named; everything else is as received. */
  rename(name: string): Buffer
}

const wanted: ReadonlySet<string> = new Set(['model'])
/** In bytes, as they are written. */
const longestName = 4_096
/** Engines refuse a form of more parts: Starlette takes 1,000 fields and as many files. */
const mostParts = 2_000
const headEnd = '\r\n\r\n'
const quote = 0x22

/**
 * Finds the model that a body names: JSON, or a form (RFC 7578). Undefined: it names none that can be read. Throws
 * `invalid_body` for a name that is too long.
 */
export async function readModelName(
  body: Buffer,
  contentType: string | undefined,
  turns: Pick<HeavyTurns, 'take'>,
): Promise<ModelName | undefined> {
  return contentType?.trimStart().toLowerCase().startsWith('multipart/form-data')
    ? readForm(body, contentType)
    : readJson(body, (await scanBody(body, wanted, turns)).members.get('model'))
}

function readJson(body: Buffer, spans: readonly Span[] | undefined): ModelName | undefined {
  const last = spans?.at(-1)
  if (!spans || !last || body[last.start] !== quote) return undefined
  checkLength(last)
  // a name that is not JSON is left for the engine to refuse
  const name = tryJson(body.toString('utf8', last.start, last.end))
  return typeof name === 'string' ? { name, rename: (to) => replace(body, spans, JSON.stringify(to)) } : undefined
}

function readForm(body: Buffer, contentType: string): ModelName | undefined {
  const boundary = parameterOf(contentType, 'boundary')
  if (!boundary) return undefined
  const delimiter = `\r\n--${boundary}`
  const spans: Span[] = []
  // only the first delimiter may have no line before it
  let end = body.indexOf(delimiter.slice(2)) === 0 ? -2 : findDelimiter(body, delimiter, 0)
  for (let parts = 0; end !== undefined && parts < mostParts; parts++) {
    const begin = Math.max(0, end)
    end = findDelimiter(body, delimiter, end + delimiter.length)
    const part = body.subarray(begin, end)
    const head = part.indexOf(headEnd) + headEnd.length
    if (end === undefined || head < headEnd.length || !isModelField(part.toString('latin1', 0, head))) continue
    spans.push({ start: begin + head, end })
  }
  const last = spans.at(-1)
  if (!last) return undefined
  checkLength(last)
  return { name: body.toString('utf8', last.start, last.end), rename: (to) => replace(body, spans, to) }
}

/** Returns where the next delimiter begins; a longer line is none. */
function findDelimiter(body: Buffer, delimiter: string, from: number): number | undefined {
  let at = body.indexOf(delimiter, from)
  for (let tries = 0; at >= 0 && tries < mostParts; tries++) {
    const after = at + delimiter.length
    if (/^(--|[ \t]*\r\n)/.test(body.toString('latin1', after, after + 64))) return at
    at = body.indexOf(delimiter, at + 1)
  }
  return undefined
}

function isModelField(head: string): boolean {
  const [, disposition = ''] = /\r\ncontent-disposition:([^\r]*)/i.exec(head) ?? []
  return parameterOf(disposition, 'name') === 'model' && parameterOf(disposition, 'filename') === undefined
}

/** Returns a parameter of a header (RFC 9110 §5.6.6). */
function parameterOf(header: string, name: string): string | undefined {
  for (const [, key, quoted, token] of header.matchAll(/;\s*([^\s=;]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))/g))
    if (key!.toLowerCase() === name) return quoted ?? token
  return undefined
}

function checkLength({ start, end }: Span): void {
  if (end - start <= longestName) return
  throw tooLongName()
}

export function tooLongName(): ProxyError {
  return new ProxyError('invalid_body', `The model's name is longer than ${longestName} bytes: send a shorter one.`)
}

function replace(body: Buffer, spans: readonly Span[], text: string): Buffer {
  return Buffer.concat(
    spliceBytes(
      body,
      spans.map((span) => ({ ...span, text })),
    ),
  )
}
