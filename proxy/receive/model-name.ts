import { scanBody } from '../bounds/scan-body.ts'
import type { Span } from '../json/json-spans.ts'

/** The model that a body names. */
interface ModelName {
  readonly name: string
  /** Returns the body with another model named; everything else is as received. */
  rename(name: string): Buffer
}

const wanted: ReadonlySet<string> = new Set(['model'])
/** A longer value is no name. */
const longestName = 4_096
const headEnd = '\r\n\r\n'

/** Finds the model that a body names: JSON, or a form with a file. Undefined: it names none that can be read. */
export async function readModelName(
  body: Buffer,
  contentType: string | undefined,
  turn: () => Promise<void>,
): Promise<ModelName | undefined> {
  return contentType?.trimStart().toLowerCase().startsWith('multipart/form-data')
    ? readForm(body)
    : readJson(body, (await scanBody(body, wanted, turn)).members.get('model'))
}

function readJson(body: Buffer, spans: readonly Span[] | undefined): ModelName | undefined {
  const last = spans?.at(-1)
  if (!spans || !last || last.end - last.start > longestName) return undefined
  try {
    const name: unknown = JSON.parse(body.toString('utf8', last.start, last.end))
    if (typeof name !== 'string') return undefined
    return { name, rename: (to) => replace(body, spans, JSON.stringify(to)) }
  } catch {
    // left for the engine to refuse
    return undefined
  }
}

function readForm(body: Buffer): ModelName | undefined {
  const field = body.indexOf('name="model"')
  const head = field < 0 ? -1 : body.indexOf(headEnd, field)
  if (head < 0) return undefined
  const start = head + headEnd.length
  const end = body.indexOf('\r\n', start)
  if (end < 0 || end - start > longestName) return undefined
  return { name: body.toString('utf8', start, end), rename: (to) => replace(body, [{ start, end }], to) }
}

function replace(body: Buffer, spans: readonly Span[], text: string): Buffer {
  const parts: Buffer[] = []
  let at = 0
  for (const { start, end } of spans) {
    parts.push(body.subarray(at, start), Buffer.from(text))
    at = end
  }
  return Buffer.concat([...parts, body.subarray(at)])
}
